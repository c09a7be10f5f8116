# Asks about kernel modules: sysfs for those that are loaded or built in, one `grep` over the
# lists of depmod for the others. Parameters: module names with underscores.
release=''
read -r release </proc/sys/kernel/osrelease
printf 'kernel %s\n' "$release"
pattern=''
for name; do
    if [ -d "/sys/module/$name" ]; then
        if [ -e "/sys/module/$name/initstate" ]; then
            printf 'loaded %s\n' "$name"
        else
            printf 'builtin %s\n' "$name"
        fi
        continue
    fi
    # In a file's name a module has `-` or `_`, as its author liked.
    expression='' rest=$name
    while :; do
        case $rest in
        *_*)
            expression="$expression${rest%%_*}[-_]"
            rest=${rest#*_}
            ;;
        *) break ;;
        esac
    done
    pattern="$pattern${pattern:+|}$expression$rest"
done
if [ -n "$pattern" ]; then
    for directory in "/lib/modules/$release" "/usr/lib/modules/$release"; do
        [ -d "$directory" ] || continue
        printf 'directory %s\n' "$directory"
        for list in modules.dep modules.builtin; do
            [ -r "$directory/$list" ] || continue
            printf '%s\n' "$list"
            grep -E "(^|/)($pattern)\\.ko" "$directory/$list" || [ $? = 1 ] || exit 1
        done
        break
    done
fi
command -v modprobe >/dev/null 2>&1 || printf 'no modprobe\n'
printf 'end\n'
