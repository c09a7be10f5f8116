# Sets `holder` to who changes packages, as "process 4711 (apt-get)", or to nothing. /proc/locks names files by their
# inodes, and whom a lock was given to is all that it says: whoever waits for it is not meant.
package_holder() {
    holder=''
    for lock in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/rpm/.rpm.lock /usr/lib/sysimage/rpm/.rpm.lock; do
        [ -e "$lock" ] || continue
        inode=''
        read -r inode _ <<END
$(ls -i "$lock")
END
        while read -r _ kind _ _ pid place _; do
            [ "$kind ${place##*:}" = "POSIX ${inode:-none}" ] || continue
            name='another program'
            read -r name <"/proc/$pid/comm"
            holder="process $pid ($name)"
            return
        done </proc/locks
    done
} 2>/dev/null
