# Runs a script up to its end: what it leaves running may print later, and that is no answer of anybody.
# Parameters: packed script. Prints what that printed and a line feed, and ends as it ended.
provision_failed() {
	# Not behind half of a line of something else.
	printf '\nthis could not be run: %s\n' "$1"
	exit 126
}
provision_text=$(unpack "$1") || provision_failed "$(unpack "$1" 2>&1 >/dev/null)"
provision_mark="provision-$$-ended"
exec 3>&1
# The status comes by a way of its own, which the script does not have.
provision_status=$(
	exec 4>&1
	{
		(
			# busybox would keep copies of what is closed at the parenthesis.
			exec 3>&- 4>&-
			eval "$provision_text"
		)
		printf '%s\n' "$?" >&4
		# The sed of busybox ends at a line when it has seen the next one.
		printf '\n%s\n\n' "$provision_mark"
	} | sed -n "/^$provision_mark\$/q; p" >&3 4>&- || echo failed
)
case $provision_status in
*[!0-9]* | '') provision_failed 'its output could not be read (sed failed)' ;;
esac
exit "$provision_status"
