# perftest SECONDS DEVICE PORT GID-INDEX WAY FAMILY [ADDRESS]: serves, or sends to the server at ADDRESS, which
# may not listen yet. An empty GID-INDEX lets the tool choose. WAY is `latency`, or for the bandwidth `one`, `both` or
# the number of a GPU. FAMILY is that of ADDRESS, 4 or 6. One queue pair alone does not fill a link of 400 Gb/s.
test="ib_write_bw -q 4 --report_gbits -D $1"
case $5 in
latency) test='ib_read_lat -n 1000' ;;
one) ;;
both) test="$test -b" ;;
*)
    way="--use_cuda=$5"
    # Without a module of its own, GPU memory is reached as DMA-BUF. This option stands behind the other:
    # linux-rdma/perftest, issue 336.
    [ -d /sys/module/nvidia_peermem ] || [ -d /sys/module/nv_peer_mem ] || way="$way --use_cuda_dmabuf"
    # As nvidia-smi counts them.
    export CUDA_DEVICE_ORDER=PCI_BUS_ID
    test="$test $way"
    ;;
esac
# Since perftest 23.07 (linux-rdma/perftest, commit 5a218cdfefca of 2023-06-29); older ones meet over IPv4 alone.
[ "$6" != 6 ] || test="$test --ipv6-addr"
set -- "$1" "$2" "$3" "$4" "${7-}"
gid=''
[ -z "$4" ] || gid="-x $4"
# The cores beside the device: from those of another socket a fast link is not filled.
near=''
{ read -r cores <"/sys/class/infiniband/$2/device/local_cpulist"; } 2>/dev/null
if [ -n "${cores-}" ] && taskset -c "$cores" true 2>/dev/null; then
    near="taskset -c $cores"
fi
run() {
    # shellcheck disable=SC2086 # options, or nothing
    timeout -k 2 $(($1 + 45)) $near $test -d "$2" -i "$3" $gid -F $5 2>&1
}
if [ -z "$5" ]; then
    run "$@"
    exit
fi
tries=0
while :; do
    status=0
    text=$(run "$@") || status=$?
    tries=$((tries + 1))
    case $text in
    *"Couldn't connect to"*) [ "$tries" -ge 12 ] || { sleep 1 && continue; } ;;
    esac
    printf '%s\n' "$text"
    exit "$status"
done
