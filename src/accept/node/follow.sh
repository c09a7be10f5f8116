# Prints how the tests of a host stand, after some seconds at most: what was done so far, or all of it where they are over.
# Parameters: ID SECONDS
#
#   state going | died | gone | ended STATUS
#   error LINE
#   and behind an empty line what tests.sh wrote; where they are over, `all LINES` behind it
id=$1 wait=$2
cd -P "/var/lib/provision-accept/$id" 2>/dev/null || {
    printf 'state gone\n\n'
    exit
}
place=$(pwd -P)
goes() {
    leader=''
    { read -r leader <./leader; } 2>/dev/null
    [ "$(readlink "/proc/${leader:-none}/cwd")" = "$place" ]
}
while [ "$wait" -gt 0 ] && [ ! -e ended ] && goes; do
    sleep 1
    wait=$((wait - 1))
done
state=going
if ! goes && [ ! -e ended ]; then
    state=died
elif [ -e ended ]; then
    read -r state <ended
    state="ended $state"
fi
printf 'state %s\n' "$state"
[ ! -s error ] || tail -n 3 error | while IFS= read -r line; do printf 'error %s\n' "$line"; done
echo
# What was said in each round of days stands there once.
whole() {
    grep -E '^test [^ ]* (about|digest) ' out | sort -u
    grep -vE '^test [^ ]* (about|digest) ' out
}
case $state in
ended*)
    whole
    printf 'all %s\n' "$(whole | wc -l)"
    ;;
*) grep -E '^(step|gpu|busy|skip|kernel) |^test [^ ]* (wrong|failed) ' out || : ;;
esac
