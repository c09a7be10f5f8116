# Makes a file system on a device that holds nothing. No tool is told to overwrite anything.
# Parameters: kind device label options...
kind=$1 device=$2 label=$3
shift 3
empty_device "$device" || exit 1
[ -z "$label" ] || set -- -L "$label" "$@"
"mkfs.$kind" -q "$@" "$device" || exit 1
settled
