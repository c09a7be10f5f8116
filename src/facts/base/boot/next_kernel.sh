# The kernel that boots next. find_next_kernel sets $next, its release, and $next_args, its arguments; they are empty
# where that cannot be told. Where grub.cfg tells it, $default is what the default entry is called there, and $astray
# is set when no entry is called so: grub boots the first one then. $loader is what told it: `grubby`, `grub`, or
# `unreadable` for a grub.cfg that only root may read.
# shellcheck disable=SC2034 # not every script reads all of them
find_next_kernel() {
    next='' next_args='' default='' astray='' loader=''
    if command -v grubby >/dev/null 2>&1; then
        loader=grubby
        # `kernel="/boot/vmlinuz-RELEASE"` and `args="ro crashkernel=auto"`.
        while IFS= read -r line; do
            line=${line%\"}
            case $line in
            kernel=*) next=${line##*/vmlinuz-} ;;
            args=*) next_args=${line#args=} next_args=${next_args#\"} ;;
            esac
        done <<END
$(grubby --info=DEFAULT 2>/dev/null)
END
        return
    fi
    for grub in /boot/grub /boot/grub2; do
        [ -e "$grub/grub.cfg" ] || continue
        if [ ! -r "$grub/grub.cfg" ]; then
            loader=unreadable
            continue
        fi
        loader=grub
        read_grub "$grub"
        [ -z "$next" ] || return 0
    done
    # The newest one that has its modules. A default that was chosen by hand is not ours to guess.
    chosen=''
    for file in /etc/default/grub /etc/default/grub.d/*.cfg; do
        [ -r "$file" ] || continue
        while IFS= read -r line; do
            case $line in GRUB_DEFAULT=*) chosen=${line#*=} ;; esac
        done <"$file"
    done
    case $chosen in
    '' | 0 | '"0"' | "'0'")
        next=$(for file in /boot/vmlinuz-*; do
            release=${file#/boot/vmlinuz-}
            [ ! -d "/lib/modules/$release" ] || printf '%s\n' "$release"
        done | sort -V | tail -n 1)
        ;;
    esac
}
# read_grub DIRECTORY: grubenv says what was chosen for once or for good, grub.cfg what stands behind that.
# shellcheck disable=SC2034 # not every script reads all of them
read_grub() {
    saved='' once=''
    if [ -r "$1/grubenv" ]; then
        while IFS= read -r line; do
            case $line in
            saved_entry=*) saved=${line#*=} ;;
            next_entry=*) once=${line#*=} ;;
            esac
        done <"$1/grubenv"
    fi
    default='' level=0 index=0 outer='' found='' first='' first_args=''
    while read -r word rest; do
        case $word in
        set)
            case $rest in
            "default=\"\${next_entry}\"") ;;
            "default=\"\${saved_entry}\"") default=${once:-${saved:-0}} ;;
            default=*)
                default=${rest#default=}
                default=${default#[\"\']}
                default=${once:-${default%[\"\']}}
                ;;
            esac
            ;;
        function) level=$((level + 1)) ;;
        submenu | menuentry)
            default=${default:-0}
            title=${rest#*[\"\']}
            title=${title%%[\"\']*}
            id=''
            case $rest in
            *'menuentry_id_option '[\"\']*)
                id=${rest##*menuentry_id_option [\"\']}
                id=${id%%[\"\']*}
                ;;
            esac
            here=''
            if [ -z "$outer" ]; then
                case ${default%%>*} in "$index" | "$id" | "$title") here=1 ;; esac
            else
                case ${default#*>} in "$index" | "$id" | "$title") here=$inside ;; esac
            fi
            index=$((index + 1))
            level=$((level + 1))
            if [ "$word" = submenu ]; then
                outer=$index inside='' index=0 outer_level=$level
                case $default in *'>'*) inside=$here ;; esac
            else
                found=$here
                [ -n "$outer" ] || case $default in *'>'*) found='' ;; esac
            fi
            ;;
        linux | linuxefi | linux16)
            [ -n "$first" ] || first=${rest%% *} first_args=${rest#* }
            if [ -n "$found" ]; then
                next=${rest%% *}
                next_args=${rest#* }
                break
            fi
            ;;
        '}')
            if [ -n "$outer" ] && [ "$level" = "$outer_level" ]; then
                index=$outer outer=''
            fi
            [ "$level" = 0 ] || level=$((level - 1))
            found=''
            ;;
        esac
    done <"$1/grub.cfg"
    if [ -z "$next" ] && [ -n "$first" ]; then
        next=$first next_args=$first_args astray=1
    fi
    next=${next##*/vmlinuz-}
    # A kernel of another name tells no release.
    case $next in */*) next='' ;; esac
}
