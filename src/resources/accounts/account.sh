# Changes users and groups. The program is one of the shadow suite; the account is the last word.
# Parameters: program word...
me=${SUDO_USER:-}
[ -n "$me" ] || me=$(id -un) || exit 1
account=''
for account; do :; done
if [ "$account" = "$me" ]; then
    case "$1 $*" in
    'userdel '* | 'usermod '*' -s '*/nologin' '* | 'usermod '*' -s '*/false' '*)
        printf '%s is the account of this login: log in with another one first (ssh.user)\n' "$account" >&2
        exit 1
        ;;
    esac
fi
case $1 in
useradd | usermod | userdel | groupadd | groupmod | groupdel | gpasswd) exec "$@" ;;
*) exit 2 ;;
esac
