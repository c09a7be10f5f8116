#!/bin/sh
# What a host looks like, one fact a line: `WORD<tab>VALUE`.
say() { printf '%s\t%s\n' "$1" "$2"; }
find /srv/chaos -type f | sort | while read -r f; do
    case $f in */done.*) continue ;; esac
    # What a run that was cut off was still writing may go at any moment.
    mode=$(stat -c %a "$f" 2>/dev/null) || continue
    sum=$(sha256sum 2>/dev/null <"$f") || continue
    say file "$f $mode ${sum%% *}"
done
for step in short longer script detached; do
    say work "$step $(cat "/srv/chaos/done.$step" 2>/dev/null)"
done
say line "$(tr '\n' ' ' </etc/chaos.defaults)"
say account "$(getent passwd chaos-app | cut -d : -f 6,7)"
say package "$(dpkg-query -W -f '${Status}' chaos-tool 2>/dev/null)"
say audit "$(dpkg --audit | tr '\n' ' ')"
say unit "$(sha256sum </etc/systemd/system/chaos-app.service 2>/dev/null | cut -d ' ' -f 1)"
say service "$(systemctl is-enabled chaos-app 2>/dev/null) $(systemctl is-active chaos-app)"
pid=$(systemctl show -p MainPID --value chaos-app)
say runs "$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep ^VERSION=)"
say config "$(cat /srv/chaos/app.conf /etc/chaos.defaults /srv/chaos/tree/* 2>/dev/null | sha256sum | cut -c 1-16)"
while read -r l; do say book "$l"; done </var/chaos/book
# What runs leave: entries of the state directory, units, processes, files.
find /run/provision /var/lib/provision -mindepth 2 2>/dev/null | while read -r l; do say left "state $l"; done
if [ -e /run/provision/lock ] && ! flock -n /run/provision/lock true; then
    say left "lock $(cat /run/provision/owner)"
fi
systemctl list-units --no-legend --plain --all 'provision-*' | while read -r l; do say left "unit $l"; done
# What pgrep prints has no users.
# shellcheck disable=SC2009
ps -eo pid=,user=,args= | grep -E 'sshd: provision|provision-task|chaos-step|/bin/sh.*spool|^ *[0-9]+ provisi' |
    grep -vE 'grep|\(sd-pam\)|systemd --user' | while read -r l; do say left "process $l"; done
find /tmp /var/tmp /root -mindepth 1 ! -path '*/systemd-private-*' | sort | comm -13 /var/chaos/before - | while read -r l; do say left "file $l"; done
find /srv/chaos /etc/chaos.defaults* /etc/systemd/system -name '*provision*' -o -name '.*' -type f | while read -r l; do say left "file $l"; done
