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
case $action in
install) manage --setopt=install_weak_deps=False install "$@" ;;
latest)
    manage --setopt=install_weak_deps=False install "$@" &&
        manage --setopt=install_weak_deps=False upgrade "$@"
    ;;
pin)
    manage --setopt=install_weak_deps=False install "$@" || exit 1
    # `install` leaves a newer one alone.
    for package; do
        rpm -q "$package" >/dev/null 2>&1 || manage downgrade "$package" || exit 1
    done
    ;;
remove) manage remove "$@" ;;
hold) manage versionlock add "$@" ;;
unhold) manage versionlock delete "$@" ;;
*) exit 2 ;;
esac
