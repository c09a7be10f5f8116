# Writes or removes a drop-in of sshd that sshd accepts; one that it refuses is taken back. What comes
# behind this makes sshd read it. Parameters: path, `present` or `absent`, content as for `put`.
umask 022
daemon=$(command -v sshd || printf /usr/sbin/sshd)
[ -d /run/sshd ] || mkdir /run/sshd || exit 1
if ! "$daemon" -t; then
    printf 'sshd refuses its configuration as it is; nothing was changed\n' >&2
    exit 1
fi
mkdir -p "${1%/*}" || exit 1
before=$1.provision-before
rm -f "$before"
if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
    printf '%s is not a regular file any more\n' "$1" >&2
    exit 1
fi
if [ -f "$1" ]; then
    cp -p "$1" "$before" || exit 1
fi
take_back() {
    if [ -f "$before" ]; then mv -f "$before" "$1"; else rm -f "$1"; fi
}
if [ "$2" = absent ]; then
    rm -f "$1"
else
    put "$1" 0644 '' '' "$3" || exit 1
fi
after "$1"
if ! "$daemon" -t; then
    take_back "$1"
    printf 'sshd refuses this; %s is as it was\n' "$1" >&2
    exit 1
fi
rm -f "$before"
