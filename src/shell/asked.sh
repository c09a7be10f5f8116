# Runs a script up to its end: what it leaves running may print later, and that is no answer of anybody.
# Parameters: packed script. Prints what that printed and a line feed, and ends as it ended. Where that is not well,
# its last lines on standard error follow, three at most.
provision_failed() {
	# Not behind half of a line of something else.
	printf '\nthis could not be run: %s\n' "$1"
	exit 126
}
provision_text=$(unpack "$1") || provision_failed "$(unpack "$1" 2>&1 >/dev/null)"
provision_mark="provision-$$-ended"
exec 3>&1
# The status comes by a way of its own, which the script does not have, and then its last words on standard error.
provision_status=$(
	exec 4>&1
	{
		{
			(
				# busybox would keep copies of what is closed at the parenthesis.
				exec 3>&- 4>&- 5>&-
				eval "$provision_text"
			) 2>&5
			printf '%s\n' "$?" >&4
			# The sed of busybox ends at a line when it has seen the next one.
			printf '\n%s\n\n' "$provision_mark"
			printf '\n%s\n\n' "$provision_mark" >&5
		} | sed -n "/^$provision_mark\$/q; p" >&3 4>&- 5>&- || printf '%s\n' "$provision_mark" >&4
	} 5>&1 | sed -n -e "/^$provision_mark\$/{x;s/^\\n//;p;q;}" \
		-e '/./{H;x;s/^.*\n\(.*\n.*\n.*\)$/\1/;x;}' 3>&- 4>&-
) || provision_status=$provision_mark
provision_said=${provision_status#*"
"}
provision_status=${provision_status%%"
"*}
case $provision_said$provision_status in
*"$provision_mark"* | '') provision_failed 'its output could not be read (sed failed)' ;;
esac
# What an answer is good for is on standard output.
[ "$provision_status" = 0 ] || [ "$provision_said" = "$provision_status" ] || printf '%s\n' "$provision_said"
exit "$provision_status"
