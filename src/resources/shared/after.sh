# What follows a change of a file. Parameters of `after`: the path.
after() {
    # In a row it was looked for once.
    if [ -z "${runner_labels-}" ] && command -v restorecon >/dev/null 2>&1; then
        restorecon "$1" 2>/dev/null || :
    fi
    case $1 in
    /etc/systemd/system/* | /etc/systemd/user/* | /run/systemd/system/* | /usr/lib/systemd/system/* | /lib/systemd/system/* | /usr/local/lib/systemd/system/*)
        if [ -d /run/systemd/system ]; then
            systemctl daemon-reload || return
        fi
        ;;
    esac
}
