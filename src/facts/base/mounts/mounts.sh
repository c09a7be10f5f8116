# Prints the mounts, then the sizes of local file systems. Network file systems are never asked,
# nor anything below them: a dead server would hold the question for ever.
# The list goes through `cat`: the shell reads a file byte by byte.
mounts=$(cat /proc/self/mounts) || exit 1
printf '%s\nsizes\n' "$mounts"
set -f --
newline='
'
IFS=$newline
# A mount of a user may be called anything, but the kernel writes a newline in another way.
remote=$newline
for line in $mounts; do
    line=${line#* }
    point=${line%% *}
    line=${line#* }
    type=${line%% *}
    case $remote in
    *"$newline$point$newline"*) continue ;;
    esac
    # A path with an escape in it (white space) is listed without sizes.
    case $point in *\\*) continue ;; esac
    below=false
    rest=$point
    while [ -n "$rest" ]; do
        case $remote in *"$newline$rest$newline"*) below=true ;; esac
        rest=${rest%/*}
    done
    case $type in
    ext2 | ext3 | ext4 | xfs | btrfs | zfs | overlay | tmpfs | vfat | f2fs | bcachefs | erofs | squashfs | jfs | ntfs3 | exfat)
        $below || [ ! -d "$point" ] || set -- "$@" "$point"
        ;;
    proc | sysfs | devtmpfs | devpts | mqueue | hugetlbfs | cgroup | cgroup2 | bpf | debugfs | tracefs | securityfs | pstore | configfs | efivarfs | ramfs | binfmt_misc | rpc_pipefs | nsfs | fusectl | autofs) ;;
    *) remote=$remote$point$newline ;;
    esac
done
[ $# -eq 0 ] || stat -f -c '%S %b %f %a %n' "$@" 2>/dev/null || :
