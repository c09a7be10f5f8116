# bandwidth SECONDS DEVICE PORT GID-INDEX [ADDRESS]: serves, or sends to the server at ADDRESS, which
# may not listen yet. An empty GID-INDEX lets the tool choose.
set -- "$1" "$2" "$3" "$4" "${5-}"
gid=''
[ -z "$4" ] || gid="-x $4"
run() {
    # shellcheck disable=SC2086 # $gid is an option and a number, or nothing
    timeout -k 2 $(($1 + 45)) ib_write_bw -d "$2" -i "$3" $gid -F --report_gbits -D "$1" $5 2>&1
}
if [ -z "$5" ]; then
    run "$@"
    exit
fi
tries=0
while :; do
    status=0
    text=$(run "$@") || status=$?
    tries=$((tries + 1))
    case $text in
    *"Couldn't connect to"*) [ "$tries" -ge 12 ] || { sleep 1 && continue; } ;;
    esac
    printf '%s\n' "$text"
    exit "$status"
done
