# Fetches a file into place.
# Parameters: path mode ownership digest url
reach "$1" "$3" && spot_plain || exit 1
fetch "$5" "$4" && put "$spot" "$2" "$3" "$4" "$fetched" || exit 1
after "$1"
