# Whether the first and the last MiB of a block device are nothing but zeros: what begins behind the first MiB often has a
# copy at the end. 0: yes. 1: no. All else: it could not be read. Parameters of `zeros`: the path.
zeros() {
    cmp -s -n 1048576 "$1" /dev/zero || return
    real=$(readlink -f "$1") || return 2
    { read -r sectors <"/sys/class/block/${real##*/}/size"; } 2>/dev/null || return 2
    [ "$sectors" -ge 2048 ] || return 1
    cmp -s -n 1048576 "$1" /dev/zero "$(((sectors - 2048) * 512))" 0
}
