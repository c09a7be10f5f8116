# Writes a file of ours and its directory. Parameters: those of `put`, and a line that
# /etc/network/interfaces shall have, or empty.
mkdir -p "${1%/*}" || exit
put "$1" "$2" "$3" "$4" "$5" || exit
after "$1"
[ -z "$6" ] || printf '%s\n' "$6" >>/etc/network/interfaces
