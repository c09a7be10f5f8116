# Makes sshd read its configuration again, if that is good; its unit is `ssh` on Debian, `sshd` elsewhere.
# Parameters: none
daemon=$(command -v sshd) || {
    printf 'sshd is not here\n' >&2
    exit 1
}
[ -d /run/sshd ] || mkdir /run/sshd || exit 1
"$daemon" -t || exit 1
if [ -d /run/systemd/system ]; then
    for unit in ssh.service sshd.service; do
        systemctl -q is-active "$unit"
        case $? in
        0) exec systemctl reload "$unit" ;;
        # It does not run, or there is none.
        3 | 4) ;;
        *) exit 1 ;;
        esac
    done
fi
pid=''
if { read -r pid </run/sshd.pid; } 2>/dev/null && [ -n "$pid" ]; then
    exec kill -HUP "$pid"
fi
# Nothing runs, as with a socket that starts one for each login: the next one reads it.
exit 0
