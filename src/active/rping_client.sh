# rping_client ADDRESS PINGS: pings a server that may not listen yet.
tries=0
while :; do
    status=0
    text=$(timeout -k 2 25 rping -c -a "$1" -C "$2" -v 2>&1) || status=$?
    tries=$((tries + 1))
    case $text in
    *RDMA_CM_EVENT_REJECTED*) [ "$tries" -ge 12 ] || { sleep 1 && continue; } ;;
    esac
    printf '%s\n' "$text"
    exit "$status"
done
