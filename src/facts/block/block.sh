# Asks about block devices: what libblkid finds when it looks at them now, who uses them, and whether they begin and end
# with nothing but zeros. Reads only.
# Parameters: paths.
for tool in mkfs.ext4 mkfs.xfs mdadm; do
    ! command -v "$tool" >/dev/null 2>&1 || printf 'tool %s\n' "$tool"
done
for device; do
    printf 'device %s\n' "$device"
    if [ ! -b "$device" ]; then
        if [ -e "$device" ]; then printf 'other\n'; else printf 'absent\n'; fi
        continue
    fi
    real=$(readlink -f "$device") || continue
    name=${real##*/}
    sys=/sys/class/block/$name
    printf 'name %s\n' "$name"
    sectors='' number='' level=''
    { read -r sectors <"$sys/size"; } 2>/dev/null
    { read -r number <"$sys/dev"; } 2>/dev/null
    { read -r level <"$sys/md/level"; } 2>/dev/null
    printf 'sectors %s\n' "$sectors"
    [ -z "$level" ] || printf 'level %s\n' "$level"
    for part in "$sys"/*/partition; do
        part=${part%/partition}
        [ ! -e "$part/partition" ] || printf 'partition %s\n' "${part##*/}"
    done
    for holder in "$sys"/holders/*; do
        [ ! -e "$holder" ] || printf 'holder %s\n' "${holder##*/}"
    done
    for member in "$sys"/slaves/*; do
        [ ! -e "$member" ] || printf 'member %s\n' "${member##*/}"
    done
    while read -r _ _ mounted _ place _; do
        [ "$mounted" != "$number" ] || printf 'mounted %s\n' "$place"
    done </proc/self/mountinfo
    while read -r file _; do
        [ "$file" != "$real" ] || printf 'swap\n'
    done </proc/swaps
    if [ ! -r "$real" ]; then
        printf 'unreadable\n'
        continue
    fi
    # 0: it found something. 2: nothing, or it could not open the device. 8: several things at once.
    blkid -p -o export "$real"
    printf 'blkid %s\n' "$?"
    zeros "$real"
    printf 'zeros %s\n' "$?"
    # mkfs.xfs sets this byte of the superblock (sb_inprogress) while it works.
    first=$(dd if="$real" bs=1 count=4 2>/dev/null) || printf 'zeros unread\n'
    [ "$first" = XFSB ] || continue
    case $(dd if="$real" bs=1 skip=126 count=1 2>/dev/null | od -An -tu1 | tr -d ' ') in
    0) ;;
    '') printf 'zeros unread\n' ;;
    *) printf 'unfinished\n' ;;
    esac
done
printf 'end\n'
