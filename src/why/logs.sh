# Logs of a host for `provision why`, each behind a line with its name, the newest lines of each. Nothing is changed.
# Parameters: how many minutes back.
since=-$1min
minutes=$1
# Bytes of a log.
most=400000
# Prints what command $2... says, as log $1.
log() {
    name=$1
    shift
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '==> %s <==\n' "$name"
    "$@" 2>/dev/null | tail -c "$most"
    printf '\n'
}
if command -v journalctl >/dev/null 2>&1; then
    log 'kernel (journal)' journalctl -k --no-pager -o short-iso --since="$since"
    log 'warnings (journal)' journalctl --no-pager -o short-iso -p warning --since="$since"
    log 'services (journal)' journalctl --no-pager -o short-iso --since="$since" -u slurmd -u slurmctld -u slurmdbd \
        -u munge -u nvidia-fabricmanager -u nvidia-persistenced -u nvidia-imex -u sshd -u ssh -u docker -u containerd
    log 'failed units' systemctl --failed --no-pager --plain
else
    log dmesg dmesg
fi
for file in /var/log/apt/term.log /var/log/apt/history.log /var/log/dpkg.log /var/log/dnf.log /var/log/dnf.rpm.log \
    /var/log/slurm/slurmd.log /var/log/slurm/slurmctld.log /var/log/slurm/slurmdbd.log /var/log/slurm-llnl/slurmd.log \
    /var/log/slurmd.log /var/log/slurmctld.log /var/log/fabricmanager.log /var/log/nvidia-installer.log \
    /var/log/cloud-init-output.log /var/lib/dkms/*/*/build/make.log /var/lib/dkms/*/*/*/*/log/make.log; do
    [ ! -L "$file" ] || continue
    [ -n "$(find "$file" -type f -mmin "-$minutes" 2>/dev/null)" ] || continue
    if held "$file"; then
        printf '==> %s <==\n' "$file"
        tail -c "$most" /proc/self/fd/3 2>/dev/null
        printf '\n'
    fi
    exec 3<&-
done
:
