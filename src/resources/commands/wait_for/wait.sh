# Runs a packed script again and again until it ends with 0, at most so many seconds.
# Parameters: seconds what look
seconds=$1
what=$2
look=$(unpack "$3") || exit 1
waited=0
while :; do
    status=0
    said=$(printf '%s' "$look" | sh -s 2>&1) || status=$?
    [ "$status" != 0 ] || exit 0
    if [ "$waited" -ge "$seconds" ]; then
        [ -z "$said" ] || printf '%s\n' "$said"
        printf '%s: not there after %s seconds (status %s)\n' "$what" "$seconds" "$status"
        exit 1
    fi
    sleep 1
    waited=$((waited + 1))
done
