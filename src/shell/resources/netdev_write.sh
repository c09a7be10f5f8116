# Writes a file of ours and its directory. Parameters: those of `put`, and a line that
# /etc/network/interfaces shall have, or empty.
reach "$1" "$3" make && spot_plain || exit
put "$spot" "$2" "$3" "$4" "$5" || exit
after "$1"
[ -z "$6" ] || printf '%s\n' "$6" >>/etc/network/interfaces
