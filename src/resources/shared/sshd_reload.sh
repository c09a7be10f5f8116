# Makes sshd read its configuration again, if that is good; its unit is `ssh` on Debian, `sshd` elsewhere.
# It ends when sshd has read it: sshd is only sent a signal, and until it looks at that it still serves
# logins by the old configuration. One of those would prove nothing.
# Parameters: none
daemon=$(command -v sshd) || {
    printf 'sshd is not here\n' >&2
    exit 1
}
[ -d /run/sshd ] || mkdir /run/sshd || exit 1
"$daemon" -t || exit 1
pid_file=/run/sshd.pid
# sshd takes this file away when it restarts itself, and writes another one when it listens again. The
# link keeps the inode of the old one from being used for the new one.
held=$pid_file.provision
rm -f "$held"
inode() { ls -i "$1" 2>/dev/null; }
ln "$pid_file" "$held" 2>/dev/null && old=$(inode "$pid_file") || old=''
reload() {
    if [ -d /run/systemd/system ]; then
        for unit in ssh.service sshd.service; do
            systemctl -q is-active "$unit"
            case $? in
            0) systemctl reload "$unit" && return ;;
            # It does not run, or there is none.
            3 | 4) continue ;;
            esac
            return 1
        done
    fi
    pid=''
    if { read -r pid <"$pid_file"; } 2>/dev/null && [ -n "$pid" ]; then
        kill -HUP "$pid"
        return
    fi
    # Nothing runs, as with a socket that starts one for each login: the next one reads it.
    old=''
}
reload
ended=$?
tries=0
while [ "$ended" = 0 ] && [ -n "$old" ] && [ "$tries" -lt 100 ]; do
    new=$(inode "$pid_file")
    [ -z "$new" ] || [ "$new" = "$old" ] || break
    sleep 0.1 2>/dev/null || sleep 1
    tries=$((tries + 1))
done
rm -f "$held"
exit "$ended"
