# Forgets spool entries whose end was seen and notifications whose handlers ran.
# notification-key... -- spool-key...
provision_dir
kind=notify
failed=0
for key; do
	if [ "$key" = -- ]; then
		kind=spool
	else
		rm -rf "${d:?}/$kind/$key" || failed=1
	fi
done
exit $failed
