# Asks about users, groups and authorized keys. Parameters: pairs of `user`, `group` or `keys`
# and a name. The whole group file is read: it is where `usermod` keeps memberships.
held_or_end=1
# The lines of both files behind their path; the shell itself would read byte by byte.
accounts=$(grep -s . /etc/passwd /etc/group) || [ -n "$accounts" ] || exit 1
[ -n "$accounts" ] || exit 1
# A list of words is split at blanks, and what is read at newlines; names hold neither.
IFS=" $newline"
set -f
# Adds the lines of database $1 with the names that follow to $found. Where the local file has a
# name, that is the account that useradd and its kin change; only the others are asked for.
database() {
    database=$1
    shift
    wanted=" $* " found=''
    IFS=$newline
    for line in $accounts; do
        case $line in "/etc/$database:"*) line=${line#*:} ;; *) continue ;; esac
        case $wanted in
        *" ${line%%:*} "*)
            found=$found$line$newline
            before=${wanted%%" ${line%%:*} "*}
            wanted="$before ${wanted#*" ${line%%:*} "}"
            ;;
        esac
    done
    IFS=" $newline"
    # shellcheck disable=SC2086
    set -- $wanted
    # Where there is no getent, nobody else is asked; with 2 it does not know all of them.
    if [ $# -gt 0 ] && command -v getent >/dev/null 2>&1; then
        others=$(getent "$database" "$@") || [ $? = 2 ] || exit 1
        found=$found$others$newline
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
told=''
for tool in useradd usermod userdel groupadd groupmod groupdel; do
    command -v "$tool" >/dev/null 2>&1 || told="${told}no $tool$newline"
done
people=''
# shellcheck disable=SC2086
if [ -n "$users" ]; then
    database passwd $users
    people=$found
    told="${told}passwd$newline${found}members$newline"
    IFS=$newline
    for line in $accounts; do
        case $line in
        /etc/group:*:) ;;
        /etc/group:*) told=$told${line#*:}$newline ;;
        esac
    done
    IFS=" $newline"
fi
# shellcheck disable=SC2086
if [ -n "$groups" ]; then
    database group $groups
    told="${told}group$newline$found"
fi
# Told at once: each piece would be a packet.
printf '%s' "$told"
IFS=$newline
for line in ${keys:+$people}; do
    IFS=:
    # shellcheck disable=SC2086
    set -- $line
    IFS=" $newline"
    case $keys in *" $1 "*) ;; *) continue ;; esac
    uid=$3 home=$6
    file=$home/.ssh/authorized_keys
    printf 'keys %s\nhome %s\n' "$1" "$home"
    [ -d "${home:-/}" ] || printf 'homeless\n'
    if [ -L "$file" ] || [ -L "$home/.ssh" ]; then
        printf 'linked\n'
    fi
    if [ -f "$file" ]; then
        # One look at both: each process less is a millisecond.
        modes=$(stat -c '%a %u %s' "$home/.ssh" "$file") || exit
        # shellcheck disable=SC2086
        IFS=" $newline" && set -- $modes
        printf 'directory %s %s\nfile %s %s\n' "${1-}" "${2-}" "${4-}" "${5-}"
        if [ ! -r "$file" ]; then
            printf 'denied\n'
            continue
        fi
        if held "$file" "$uid"; then
            held_text "$file"
        else
            # It was one when this began.
            printf 'linked\n'
        fi
        continue
    fi
    if [ -d "$home/.ssh" ]; then stat -c 'directory %a %u' "$home/.ssh" || exit; fi
    if [ -d "$home/.ssh" ] && [ ! -x "$home/.ssh" ]; then
        printf 'denied\n'
    fi
done
printf 'end\n'
