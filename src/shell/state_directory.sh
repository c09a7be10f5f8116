# Sets $current to what this machine and boot are called.
provision_identity() {
	machine=
	boot=
	product=
	{
		read -r machine </etc/machine-id
		read -r boot </proc/sys/kernel/random/boot_id
		read -r product </sys/class/dmi/id/product_uuid
	} 2>/dev/null
	current="${machine:-none} ${boot:-none} ${product:-none}"
}
# Sets $d to the directory of what this program knows of this host. /run is writable for root only. Without
# root it is in the home, which many hosts may share: there each host has its own, by its machine id and, as
# copies of one machine have the same, by its name.
provision_dir() {
	if [ -w /run ]; then
		d=/run/provision
		return
	fi
	if [ -n "${XDG_CACHE_HOME-}" ]; then
		d=$XDG_CACHE_HOME/provision
	elif [ -n "${HOME-}" ] && [ -d "$HOME" ]; then
		d=$HOME/.cache/provision
	else
		# An account without a home. Others may have been there first.
		d=/var/tmp/provision-$(id -u)
		if [ -L "$d" ] || { [ -e "$d" ] && [ ! -O "$d" ]; }; then
			d="/dev/null/$d-belongs-to-another-user"
			return
		fi
	fi
	provision_identity
	identity=
	name=
	{ read -r name </proc/sys/kernel/hostname; } 2>/dev/null
	case $name in */*) name= ;; esac
	own=$d/${machine:-none}-${name:-none}
	# Before, all hosts of a home had one directory. The host that wrote it last in this boot goes on there.
	if [ ! -d "$own" ] && { read -r identity <"$d/identity"; } 2>/dev/null && [ "$identity" = "$current" ]; then
		return
	fi
	d=$own
}
