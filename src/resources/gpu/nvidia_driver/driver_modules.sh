# Has DKMS build the NVIDIA module for kernels that lack it, and looks whether it is there now. The
# version is the start of the wanted one.
# Parameters: version kernel...
wanted=$1
shift
bad=0
version_for() {
    nvidia_on_disk '' -k "$1" 2>/dev/null | while read -r key value; do
        [ "$key" != version: ] || printf '%s\n' "$value"
    done
}
for kernel; do
    version=$(version_for "$kernel")
    case $version in
    "$wanted"*) continue ;;
    esac
    if command -v dkms >/dev/null 2>&1; then
        dkms autoinstall -k "$kernel" || :
        version=$(version_for "$kernel")
    fi
    case $version in
    "$wanted"*) continue ;;
    esac
    bad=1
    printf 'kernel %s has the NVIDIA module %s, not %s\n' "$kernel" "${version:-of no version}" "$wanted" >&2
    [ -e "/lib/modules/$kernel/build/Makefile" ] ||
        printf 'kernel %s has no headers, so nothing can be built for it\n' "$kernel" >&2
    ! command -v dkms >/dev/null 2>&1 || dkms status >&2
    for log in /var/lib/dkms/nvidia*/*/build/make.log; do
        [ ! -r "$log" ] || { printf '%s:\n' "$log" && tail -n 20 "$log"; } >&2
    done
done
exit "$bad"
