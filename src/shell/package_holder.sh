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
        while read -r _ kind _ way pid place _; do
            [ "$kind $way ${place##*:}" = "POSIX WRITE ${inode:-none}" ] || continue
            # Another file system has such numbers too, and root alone changes packages.
            [ ! -O /proc/1 ] || [ -O "/proc/$pid" ] || continue
            open=''
            for descriptor in "/proc/$pid/fd"/*; do
                # Who is not root may not look.
                [ -O /proc/1 ] || [ "$descriptor" != "/proc/$pid/fd/*" ] || open=1
                # shellcheck disable=SC3013 # every shell that serves as sh has it
                [ "$descriptor" -ef "$lock" ] || continue
                # Root's program may have been given both files by who started it: the lock must be on this one.
                while read -r key _ kind _ way _; do
                    [ "$key $kind $way" != 'lock: POSIX WRITE' ] || open=1
                done <"/proc/$pid/fdinfo/${descriptor##*/}"
            done
            [ -n "$open" ] || continue
            name='another program'
            read -r name <"/proc/$pid/comm"
            holder="process $pid ($name)"
            return
        done </proc/locks
    done
} 2>/dev/null
