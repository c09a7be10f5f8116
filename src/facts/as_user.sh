# Asks as another user, with the surroundings that the spool gives a change. Parameters: user, packed
# script. An empty line and `asked` stand before what that prints; else nothing was run, and why is said.
if ! id -u "$1" >/dev/null 2>&1; then
    printf 'no user\n'
    exit
fi
umask 022
cd / || exit
text=$(unpack "$2" 2>&1) || {
    printf '%s\n' "$text"
    exit 1
}
exec 3>&2
say "$text" | su -s /bin/sh "$1" -c 'printf "\nasked\n"; exec sh -s 2>&3 3>&-' 2>&1
