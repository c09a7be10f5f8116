# Asks apt's lists about packages that are not installed. Parameters: names.
command -v apt-cache >/dev/null 2>&1 || {
    printf 'no apt\n'
    exit
}
for name; do
    printf 'name %s\n' "$name"
    case $(dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null) in
    *installed*)
        printf 'installed\n'
        continue
        ;;
    esac
    said=$(apt-cache show --no-all-versions "$name" 2>/dev/null)
    # That it does not know the name is 100.
    case $? in
    0 | 100) ;;
    *) exit 1 ;;
    esac
    printf '%s\n' "$said" |
        sed -n -e 's/^Version: /version /p' -e 's/^Depends: /depends /p' -e 's/^Description: /description /p' \
            -e 's/^Description-en: /description /p' || exit 1
    # An empty package needs the one of the same name in another branch, and that one may be empty as well.
    kind=${name%-[0-9][0-9][0-9]-server}
    hops=0
    while [ "$kind" != "$name" ] && [ "$hops" -lt 4 ]; do
        hops=$((hops + 1))
        needs=$(printf '%s\n' "$said" | sed -n 's/^Depends: //p') || exit 1
        to=''
        set -f
        IFS=,
        for need in $needs; do
            need=${need#"${need%%[! ]*}"}
            need=${need%% *}
            case $need in
            "$name") ;;
            "$kind"-[0-9][0-9][0-9]-server) to=$need ;;
            esac
        done
        unset IFS
        set +f
        [ -n "$to" ] || break
        name=$to
        printf 'leads %s\n' "$name"
        said=$(apt-cache show --no-all-versions "$name" 2>/dev/null)
        case $? in
        0) ;;
        100) break ;;
        *) exit 1 ;;
        esac
    done
done
printf 'end\n'
