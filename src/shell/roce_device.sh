# Prints the RDMA device of link $1: by its function, its first GID, or the first GID of the bond that it is in.
rdma_of() {
    for found in /sys/class/infiniband/*/device/net/"$1"; do
        [ -e "$found" ] || continue
        found=${found#/sys/class/infiniband/}
        printf '%s\n' "${found%%/*}"
        return
    done
    bond=$(cd -P "/sys/class/net/$1/master" 2>/dev/null && pwd) || bond=''
    for found in /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0; do
        name=''
        { read -r name <"$found"; } 2>/dev/null
        [ -n "$name" ] || continue
        if [ "$name" = "$1" ] || [ "$name" = "${bond##*/}" ]; then
            found=${found#/sys/class/infiniband/}
            printf '%s\n' "${found%%/*}"
            return
        fi
    done
}
# Prints where mlx5 keeps the parameters of congestion control of link $1.
cc_params() {
    function=$(cd -P "/sys/class/net/$1/device" 2>/dev/null && pwd) || return 0
    printf '%s\n' "/sys/kernel/debug/mlx5/${function##*/}/cc_params"
}
