# Ends here, unless this frame is for the shell that has the lock: what was stuck on a lost connection does
# nothing any more.
case ${provision_locked-} in
held | shared | none) ;;
*)
	printf 'refused %s\n' "${provision_locked-}"
	exit 1
	;;
esac
