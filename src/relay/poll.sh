# Prints how a job stands that `start.sh` started, what it said last, and more of its output.
# Parameters: DIRECTORY OFFSET MOST
cd "$1" || exit 1
# Before the output: so nothing of it is missed.
status=
{ read -r status <ended; } 2>/dev/null
number=
{ read -r number <job; } 2>/dev/null
printf 'ended=%s\njob=%s\n' "$status" "$number"
# Of the second `tail` below, the status is not seen.
said=$(tail -c 20000 error) || exit 1
while IFS= read -r line; do
    [ -z "$line" ] || printf 'error=%s\n' "$line"
done <<END
$said
END
echo
# What was taken needs no room any more, where the file system can give it back.
[ "$2" = 0 ] || fallocate --punch-hole --offset 0 --length "$2" out 2>/dev/null
tail -c "+$(($2 + 1))" out | head -c "$3"
