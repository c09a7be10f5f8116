# Asks about users, groups and authorized keys. Parameters: pairs of `user`, `group` or `keys`
# and a name. The whole group file is read: it is where `usermod` keeps memberships.
# Prints the lines of database $1 with the names that follow. Where the local file has a name, that
# is the account that useradd and its kin change; only the others are asked for.
database() {
    database=$1
    shift
    wanted=" $* "
    while IFS= read -r line; do
        case $wanted in
        *" ${line%%:*} "*)
            printf '%s\n' "$line"
            before=${wanted%%" ${line%%:*} "*}
            wanted="$before ${wanted#*" ${line%%:*} "}"
            ;;
        esac
    done <"/etc/$database"
    # shellcheck disable=SC2086
    set -- $wanted
    if [ $# -gt 0 ] && command -v getent >/dev/null 2>&1; then
        getent "$database" "$@"
    fi
}
users='' groups='' keys=''
while [ $# -gt 1 ]; do
    case $1 in
    user) users="$users $2" ;;
    group) groups="$groups $2" ;;
    keys) keys="$keys $2 " ;;
    esac
    shift 2
done
# The home of whoever has keys is wanted as well; nobody is asked for twice.
for name in $keys; do
    case "$users " in *" $name "*) ;; *) users="$users $name" ;; esac
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
            text "$file" "${6:-unknown}"
            continue
        fi
        if [ -d "$home/.ssh" ]; then stat -c 'directory %a %u' "$home/.ssh"; fi
        if [ -d "$home/.ssh" ] && [ ! -x "$home/.ssh" ]; then
            printf 'denied\n'
        fi
    done
fi
printf 'end\n'
