# Fetches a file from another host over the mesh, whose user is given. No more is taken than the file has, and one
# byte that says that there was more: what is sent is the other host's to choose.
# Parameters: path mode ownership digest size user host
reach "$1" "$3" && spot_plain || exit 1
umask 077
spot_sweep
uuid=$$
{ read -r uuid </proc/sys/kernel/random/uuid; } 2>/dev/null
copy=./.provision.$uuid
trap 'rm -f "$copy"' EXIT
trap 'exit 1' HUP INT TERM
set -C
over_mesh "$6" "$7" "exec cat $1" | head -c "$(($5 + 1))" >"$copy" || exit 1
set +C
came=$(stat -c %s "$copy") || exit 1
if [ "$came" -gt "$5" ]; then
    printf '%s sends more than the %s bytes that the file has\n' "$7" "$5" >&2
    exit 1
elif [ "$came" -lt "$5" ]; then
    printf 'no whole copy from %s: does the mesh of %s stand?\n' "$7" "$6" >&2
    exit 1
fi
put "$spot" "$2" "$3" "$4" "$copy" || exit 1
after "$1"
