# Has DKMS build the NVIDIA module where it is lacking, and looks whether it is there now. Parameters:
# start of the wanted version, releases of kernels.
wanted=$1
shift
bad=0
version_for() {
    for module in nvidia nvidia-current nvidia-current-open; do
        modinfo -k "$1" -F version "$module" 2>/dev/null && return
    done
    return 1
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
