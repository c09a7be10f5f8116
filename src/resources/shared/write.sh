# Writes a file; ownership, digest and content are as for `put`.
# Parameters: path mode ownership digest content
reach "$1" "$3" && spot_plain || exit 1
put "$spot" "$2" "$3" "$4" "$5" || exit 1
after "$1"
