# Loads, unloads or reloads a kernel module.
# Parameters: action module
case $1 in
load) modprobe -- "$2" ;;
unload) modprobe -r -- "$2" ;;
reload) modprobe -r -- "$2" && modprobe -- "$2" ;;
*) exit 2 ;;
esac
status=$?
if [ "$status" -ne 0 ] && command -v dmesg >/dev/null 2>&1; then
    # modprobe says little; the kernel says why.
    dmesg 2>/dev/null | tail -n 5 >&2
fi
exit "$status"
