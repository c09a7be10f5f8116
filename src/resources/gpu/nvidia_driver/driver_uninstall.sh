# Takes away the driver that the runfile installed.
# Parameters: uninstaller
give_back
"$1" --silent
status=$?
[ "$status" -eq 0 ] || tail -n 20 /var/log/nvidia-installer.log >&2
exit "$status"
