# Makes a directory for a run that Slurm carries, and prints it. What runs have left that were killed is taken away before:
# jobs that ended over an hour ago, and what nothing was done with for a week.
for old in /var/tmp/provision.??????????; do
	if [ ! -d "$old" ] || [ -L "$old" ] || [ ! -O "$old" ]; then
		continue
	fi
	left=$(find "$old" -prune -mtime +6)
	for file in ended out; do
		[ ! -e "$old/$file" ] || left=
	done
	[ ! -e "$old/out" ] || left=$(find "$old/out" -mtime +6)
	[ ! -e "$old/ended" ] || left=$left$(find "$old/ended" -mmin +60)
	[ -z "$left" ] || rm -rf -- "$old"
done
mktemp -d /var/tmp/provision.XXXXXXXXXX
