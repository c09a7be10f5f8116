# Ends with 0 where a block device holds nothing, and says what it holds otherwise: this is asked again right before
# something is written. Parameters of `empty_device`: the path.
empty_device() {
    if [ ! -b "$1" ]; then
        printf '%s is no block device\n' "$1" >&2
        return 1
    fi
    seen=$(blkid -p -o export "$1")
    case $? in
    2) ;;
    0 | 8)
        # Of a partition it says where that is, too.
        seen=$(printf '%s\n' "$seen" | grep -v -e '^DEVNAME=' -e '^PART_ENTRY_' -e '^$')
        if [ $? != 1 ]; then
            printf '%s holds something by now, and is left alone:\n%s\n' "$1" "$seen" >&2
            return 1
        fi
        ;;
    *)
        printf 'blkid could not look at %s\n' "$1" >&2
        return 1
        ;;
    esac
    if ! zeros "$1"; then
        printf '%s does not begin and end with zeros, or cannot be read, and is left alone\n' "$1" >&2
        return 1
    fi
}
# Waits for the links of what is new.
settled() {
    ! command -v udevadm >/dev/null 2>&1 || udevadm settle --timeout=10 || :
}
