# Writes a file. Parameters: those of `put`.
reach "$1" "$3" && spot_plain || exit 1
put "$spot" "$2" "$3" "$4" "$5" || exit 1
after "$1"
