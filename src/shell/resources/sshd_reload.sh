# Makes sshd read its configuration again, if that is good; its unit is `ssh` on Debian, `sshd` elsewhere.
# Parameters: none
daemon=$(command -v sshd) || exit 1
[ -d /run/sshd ] || mkdir /run/sshd || exit 1
"$daemon" -t || exit 1
for unit in ssh.service sshd.service; do
    if [ -d /run/systemd/system ] && systemctl -q is-active "$unit"; then
        exec systemctl reload "$unit"
    fi
done
pid=''
if { read -r pid </run/sshd.pid; } 2>/dev/null && [ -n "$pid" ]; then
    exec kill -HUP "$pid"
fi
# Nothing runs, as with a socket that starts one for each login: the next one reads it.
exit 0
