# Changes packages with dnf or yum. Patterns of packages that are excluded are separated by blanks, or
# empty; the words are package names or `name-version`. Both tools wait by themselves for another
# one that runs.
# Parameters: tool action excluded word...
tool=$1 action=$2
set -f
excluded=''
for pattern in $3; do
    excluded="$excluded --exclude=$pattern"
done
shift 3
manage() {
    # shellcheck disable=SC2086 # options without white space
    "$tool" -y -q $excluded "$@"
}
# Whoever asks for another version of what is locked gets it; the lock is made anew after that.
unlocked=''
[ ! -e /etc/dnf/plugins/versionlock.list ] || unlocked=--disableplugin=versionlock
move() {
    # shellcheck disable=SC2086 # one option or none
    manage $unlocked --setopt=install_weak_deps=False "$@"
}
# is_installed NAME-VERSION: in one of the forms that dnf takes, with or without epoch and release.
is_installed() {
    full='%{NAME}-%{VERSION}-%{RELEASE}\n%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n'
    rpm -qa --qf "%{NAME}\\n%{NAME}-%{VERSION}\\n%{NAME}-%{EPOCHNUM}:%{VERSION}\\n$full" 2>/dev/null | {
        while IFS= read -r known; do
            # A version may end in `*`.
            # shellcheck disable=SC2254
            case $known in $1) exit 0 ;; esac
        done
        exit 1
    }
}
case $action in
install)
    # Of several that provide a name dnf would take any.
    told=$(dnf_providers "$tool" "$@")
    if [ -n "$(printf '%s\n' "$told" | cut -d ' ' -f 2 | uniq -d)" ]; then
        printf 'no package has that name, and several provide it: name one of them\n%s\n' "$told" >&2
        exit 1
    fi
    manage --setopt=install_weak_deps=False install "$@"
    ;;
latest) move install "$@" && move upgrade "$@" ;;
pin)
    move install "$@" || exit 1
    # `install` leaves a newer one alone.
    for package; do
        is_installed "$package" || move downgrade "$package" || exit 1
    done
    ;;
sync) move install "$@" && move distro-sync "$@" ;;
# Versions that are not locked are out of sight.
locked) manage --setopt=install_weak_deps=False install "$@" && manage --setopt=install_weak_deps=False distro-sync "$@" ;;
remove) manage remove "$@" ;;
hold)
    # A lock of an older version would stay beside the new one.
    manage versionlock delete "$@" >/dev/null 2>&1
    manage versionlock add "$@"
    ;;
unhold) manage versionlock delete "$@" ;;
*) exit 2 ;;
esac
