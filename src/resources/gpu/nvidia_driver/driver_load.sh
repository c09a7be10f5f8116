# Loads the NVIDIA module (`load`), or another version of it (`reload`).
# Parameters: action
if [ "$1" = reload ]; then
    if ! give_back; then
        printf 'the NVIDIA module is in use: who uses /dev/nvidia*? A reboot loads the new one\n' >&2
        exit 1
    fi
fi
modprobe nvidia
status=$?
if [ "$status" -ne 0 ] && command -v dmesg >/dev/null 2>&1; then
    dmesg 2>/dev/null | tail -n 10 >&2
fi
[ "$status" -ne 0 ] || load_again
start_units && exit "$status"
exit 1
