# Writes a file of ours and its directory; ownership, digest and content are as for `put`. Then
# /etc/network/interfaces gets a line, if there is one.
# Parameters: path mode ownership digest content line
reach "$1" "$3" make && spot_plain || exit
put "$spot" "$2" "$3" "$4" "$5" || exit
after "$1"
[ -z "$6" ] || printf '%s\n' "$6" >>/etc/network/interfaces
