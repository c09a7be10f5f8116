# Makes an array of devices that hold nothing, or starts one that they hold.
# Parameters: action name level devices...
action=$1 name=$2 level=$3
shift 3
if [ "$action" = assemble ]; then
    mdadm --assemble "/dev/md/$name" "$@" || exit 1
    settled
    exit
fi
for device; do
    empty_device "$device" || exit 1
done
# `any`: the array is at home on each host, so it has this name after each boot, without a line in mdadm.conf.
# Without a bitmap, a mirror is copied anew after each loss of power.
bitmap=''
[ "$level" = raid0 ] || bitmap=--bitmap=internal
mdadm --create "/dev/md/$name" --run --metadata=1.2 --homehost=any --name="$name" --level="$level" \
    $bitmap --raid-devices=$# "$@" || exit 1
settled
