# Installs the driver with NVIDIA's installer.
# Parameters: url digest option...
url=$1 sha256=$2
shift 2
fetch "$url" "$sha256" || exit 1
if ! give_back; then
    printf 'the NVIDIA module is in use: drain the host, or reboot it first\n' >&2
    exit 1
fi
! command -v dkms >/dev/null 2>&1 || set -- --dkms "$@"
sh "$fetched" --silent "$@"
status=$?
[ "$status" -eq 0 ] || tail -n 20 /var/log/nvidia-installer.log >&2
[ "$status" -ne 0 ] || load_again
start_units && exit "$status"
exit 1
