# Fetches a file from another host over the mesh, whose user is given.
# Parameters: path mode ownership digest user host
reach "$1" "$3" && spot_plain || exit 1
umask 077
spot_sweep
uuid=$$
{ read -r uuid </proc/sys/kernel/random/uuid; } 2>/dev/null
copy=./.provision.$uuid
trap 'rm -f "$copy"' EXIT
trap 'exit 1' HUP INT TERM
set -C
over_mesh "$5" "$6" "exec cat $1" >"$copy" || {
    printf 'no copy from %s: does the mesh of %s stand?\n' "$6" "$5" >&2
    exit 1
}
set +C
put "$spot" "$2" "$3" "$4" "$copy" || exit 1
after "$1"
