# Sets $d to where is kept which hosts are out of service: one file each, which holds the reason.
if [ -w /var/lib ]; then
	d=/var/lib/provision/maintenance
else
	d=${XDG_STATE_HOME:-${HOME:-/var/tmp/provision-$(id -u)}/.local/state}/provision/maintenance
fi
