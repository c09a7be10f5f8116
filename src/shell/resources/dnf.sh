# Changes packages with dnf or yum. Parameters: the tool, what is done, then package names or
# `name-version`.
tool=$1 action=$2
shift 2
case $action in
install) "$tool" -y -q --setopt=install_weak_deps=False install "$@" ;;
latest)
    "$tool" -y -q --setopt=install_weak_deps=False install "$@" &&
        "$tool" -y -q --setopt=install_weak_deps=False upgrade "$@"
    ;;
pin)
    "$tool" -y -q --setopt=install_weak_deps=False install "$@" || exit 1
    # `install` leaves a newer one alone.
    for package; do
        rpm -q "$package" >/dev/null 2>&1 || "$tool" -y -q downgrade "$package" || exit 1
    done
    ;;
remove) "$tool" -y -q remove "$@" ;;
hold) "$tool" -y -q versionlock add "$@" ;;
unhold) "$tool" -y -q versionlock delete "$@" ;;
*) exit 2 ;;
esac
