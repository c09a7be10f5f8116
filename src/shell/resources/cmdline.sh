# Gives arguments to the kernel at its next boot, or takes them away. For grubby they are one word.
# Parameters: action [arguments]
case $1 in
update) update-grub ;;
without)
    update-grub || exit 1
    given=''
    for file in /etc/default/grub /etc/default/grub.d/*.cfg; do
        [ -r "$file" ] || continue
        words=$(sed -n 's/^[[:space:]]*GRUB_CMDLINE_LINUX[A-Z_]*=//p' "$file" | tr "\"'\n" '   ') || exit 1
        set -f
        for argument in $2; do
            case " $words " in
            *" $argument "*)
                printf '%s gives the kernel %s: take it out there\n' "$file" "$argument" >&2
                given=1
                ;;
            esac
        done
        set +f
    done
    [ -z "$given" ] || exit 1
    ;;
add) grubby --update-kernel=ALL --args="$2" ;;
remove) grubby --update-kernel=ALL --remove-args="$2" ;;
*) exit 2 ;;
esac
