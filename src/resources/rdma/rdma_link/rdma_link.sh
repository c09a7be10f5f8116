# Makes (`add`) or removes (`del`) a software RDMA link; one of that name is removed first, which the
# kernel refuses for real hardware. The unit that adds it may be empty.
# Parameters: action name [type] [netdev] [module] [unit]
if [ -d "/sys/class/infiniband/$2" ]; then
    rdma link del "$2" || exit
fi
[ "$1" = add ] || exit 0
if [ -n "$6" ]; then
    systemctl restart -- "$6" && exit 0
    systemctl status --no-pager --lines=20 -- "$6" >&2
    exit 1
fi
modprobe -- "$5" || exit
exec rdma link add "$2" type "$3" netdev "$4"
