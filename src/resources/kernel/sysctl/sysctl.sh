# Sets settings of the kernel.
# Parameters: path value ...
while [ $# -gt 0 ]; do
    if ! printf '%s\n' "$2" >"$1"; then
        printf 'the kernel refuses %s for %s\n' "$2" "$1" >&2
        exit 1
    fi
    shift 2
done
