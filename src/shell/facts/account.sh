# Asks about users, groups and authorized keys. Parameters: pairs of `user`, `group` or `keys`
# and a name. The whole group file is read: it is where `usermod` keeps memberships.
database() {
    # $1: passwd or group; then names. Prints their lines.
    database=$1
    shift
    if command -v getent >/dev/null 2>&1; then
        getent "$database" "$@"
    else
        while IFS= read -r line; do
            for name; do
                case $line in "$name":*) printf '%s\n' "$line" ;; esac
            done
        done <"/etc/$database"
    fi
}
users='' groups='' keys=''
while [ $# -gt 1 ]; do
    case $1 in
    user) users="$users $2" ;;
    group) groups="$groups $2" ;;
    keys) users="$users $2" keys="$keys $2 " ;;
    esac
    shift 2
done
for tool in useradd usermod userdel groupadd groupmod groupdel; do
    command -v "$tool" >/dev/null 2>&1 || printf 'no %s\n' "$tool"
done
# Names hold no white space and no pattern characters.
# shellcheck disable=SC2086
if [ -n "$users" ]; then
    printf 'passwd\n'
    found=$(database passwd $users)
    [ -z "$found" ] || printf '%s\n' "$found"
    printf 'members\n'
    while IFS= read -r line; do
        case $line in *:) ;; *) printf '%s\n' "$line" ;; esac
    done </etc/group
fi
# shellcheck disable=SC2086
if [ -n "$groups" ]; then
    printf 'group\n'
    database group $groups
fi
if [ -n "$keys" ]; then
    printf '%s\n' "$found" | while IFS=: read -r name _ _ _ _ home _; do
        case $keys in *" $name "*) ;; *) continue ;; esac
        printf 'keys %s\nhome %s\n' "$name" "$home"
        file=$home/.ssh/authorized_keys
        if [ -L "$file" ] || [ -L "$home/.ssh" ]; then
            printf 'linked\n'
        fi
        if [ -f "$file" ]; then
            # One look at both: each process less is a millisecond.
            # shellcheck disable=SC2046
            set -- $(stat -c '%a %u %s' "$home/.ssh" "$file")
            printf 'directory %s %s\nfile %s %s\n' "${1-}" "${2-}" "${4-}" "${5-}"
            if [ ! -r "$file" ]; then
                printf 'denied\n'
                continue
            fi
            printf 'text\n'
            if [ "${6:-65537}" -le 65536 ]; then
                base64 "$file"
            else
                head -c 65537 "$file" | base64
            fi
            printf '.\n'
            continue
        fi
        if [ -d "$home/.ssh" ]; then stat -c 'directory %a %u' "$home/.ssh"; fi
        if [ -d "$home/.ssh" ] && [ ! -x "$home/.ssh" ]; then
            printf 'denied\n'
        fi
    done
fi
printf 'end\n'
