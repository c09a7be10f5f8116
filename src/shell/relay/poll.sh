# Prints how a job stands that `start.sh` started, what it said last, and more of its output.
# Parameters: DIRECTORY OFFSET MOST
cd "$1" || exit 1
# Before the output: so nothing of it is missed.
status=
[ ! -f ended ] || status=$(cat ended)
number=
[ ! -f job ] || number=$(cat job)
printf 'ended=%s\njob=%s\n' "$status" "$number"
tail -n 20 error | sed 's/^/error=/'
echo
tail -c "+$(($2 + 1))" out | head -c "$3"
