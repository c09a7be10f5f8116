# as_user SECONDS USER PROGRAM ...: runs a program as this user, in the user's home; an empty USER is
# the one who is logged in.
seconds=$1 user=$2
shift 2
# What others can change runs as whoever was named for it, but not as root.
if [ "$(id -u)" = 0 ]; then
    case $user in
    '' | root)
        for word; do
            case $word in
            /*) ;;
            *) continue ;;
            esac
            rooted_may "$word" || {
                printf '%s is not run as root: %s\n' "$word" "$rooted_why"
                exit 126
            }
        done
        ;;
    esac
fi
if [ -z "$user" ] || [ "$(id -un)" = "$user" ]; then
    cd && exec timeout -k 5 "$seconds" "$@" </dev/null 2>&1
else
    # Words of the program that begin with a dash are not options of su.
    # shellcheck disable=SC2016 # the shell of that user expands it
    exec su -s /bin/sh -c 'cd && exec timeout -k 5 "$@"' -- "$user" sh "$seconds" "$@" </dev/null 2>&1
fi
