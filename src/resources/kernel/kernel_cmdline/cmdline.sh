# Gives arguments to the kernel at its next boot, or takes them away. For grubby they are one word.
# Parameters: action [arguments]
case $1 in
update) update-grub ;;
without)
    update-grub || exit 1
    # Another file may give them, too: where it counts, the proof fails and this says why.
    for file in /etc/default/grub /etc/default/grub.d/*.cfg; do
        [ -r "$file" ] || continue
        words=$(sed -n 's/^[[:space:]]*GRUB_CMDLINE_LINUX[A-Z_]*=//p' "$file" | tr "\"'\n" '   ') || exit 1
        set -f
        for argument in $2; do
            case " $words " in
            *" $argument "*)
                printf '%s has %s: where it gives that to the kernel, take it out there\n' "$file" "$argument" >&2
                ;;
            esac
        done
        set +f
    done
    ;;
add) grubby --update-kernel=ALL --args="$2" ;;
remove) grubby --update-kernel=ALL --remove-args="$2" ;;
*) exit 2 ;;
esac
