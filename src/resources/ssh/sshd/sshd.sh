# Writes or removes a drop-in of sshd that sshd accepts; one that it refuses is taken back. What comes
# behind this makes sshd read it. The state is `present` or `absent`, the content is as for `put`.
# Parameters: path state content
umask 022
daemon=$(command -v sshd || printf /usr/sbin/sshd)
[ -d /run/sshd ] || mkdir /run/sshd || exit 1
if ! "$daemon" -t; then
    printf 'sshd refuses its configuration as it is; nothing was changed\n' >&2
    exit 1
fi
reach "$1" '' make && spot_plain || exit 1
before=$spot.provision-before
rm -f "$before" || exit 1
if [ "$spot_kind" = file ]; then
    cp -p "$spot" "$before" || exit 1
fi
take_back() {
    if [ -f "$before" ]; then mv -f "$before" "$spot"; else rm -f "$spot"; fi && return
    printf '%s could not be put back: sshd may refuse to start again\n' "$1" >&2
    exit 1
}
if [ "$2" = absent ]; then
    rm -f "$spot" || exit 1
else
    put "$spot" 0644 '' '' "$3" || exit 1
fi
after "$1" || exit 1
if ! "$daemon" -t; then
    take_back "$1"
    printf 'sshd refuses this; %s is as it was\n' "$1" >&2
    exit 1
fi
rm -f "$before"
