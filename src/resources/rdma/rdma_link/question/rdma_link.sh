# Asks about RDMA devices: sysfs whether they are there, one `rdma link` for what their ports hang on.
# Parameters: names of devices.
there=''
for name; do
    directory=/sys/class/infiniband/$name
    if [ ! -d "$directory" ]; then
        printf 'absent %s\n' "$name"
        continue
    fi
    there=1
    kind=''
    { read -r kind <"$directory/node_type"; } 2>/dev/null
    printf 'device %s %s\n' "$name" "$kind"
done
if ! command -v rdma >/dev/null 2>&1; then
    printf 'no rdma\n'
elif [ -n "$there" ]; then
    rdma link show 2>&1
fi
printf 'end\n'
