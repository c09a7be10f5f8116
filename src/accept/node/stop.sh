# Ends the tests of this host at once, whichever run they are of: each GPU is free when it says so. Where none go on it
# says nothing.
cd -P /var/lib/provision-accept 2>/dev/null || exit 0
place=$(pwd -P)
id=''
{ read -r id <current; } 2>/dev/null
leader=''
if [ -n "$id" ] && [ -d "$id" ]; then
    { read -r leader <"./$id/leader"; } 2>/dev/null
    [ -e "$id/ended" ] || printf 'stopped\n' >"$id/ended"
fi
[ "$(readlink "/proc/${leader:-none}/cwd")" = "$place/$id" ] || leader=''
# Their processes: those of the session, and the program wherever it is, since some ways to another user leave the session.
theirs() {
    for directory in /proc/[0-9]*; do
        case $(readlink "$directory/exe" 2>/dev/null) in
        "$place"/*/gpu | "$place/"*'/gpu (deleted)')
            printf '%s\n' "${directory#/proc/}"
            continue
            ;;
        esac
        line=''
        { read -r line <"$directory/stat"; } 2>/dev/null || continue
        # The name in brackets may hold anything; the fields behind it are state, parent, group, session.
        # shellcheck disable=SC2086
        set -- ${line##*)}
        [ "${4-}" != "${leader:-none}" ] || printf '%s\n' "${directory#/proc/}"
    done
}
tries=0
found=''
while [ "$tries" -lt 10 ]; do
    # shellcheck disable=SC2046 # numbers
    set -- $(theirs)
    [ $# -gt 0 ] || {
        [ -z "$found" ] || printf 'stopped %s\n' "${id:-none}"
        exit
    }
    found=1
    kill -KILL "$@" 2>/dev/null
    tries=$((tries + 1))
    sleep 0.2 2>/dev/null || sleep 1
done
printf 'these processes do not end: %s\n' "$*"
exit 1
