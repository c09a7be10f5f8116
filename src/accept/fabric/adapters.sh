# Prints the InfiniBand adapters of this host, a line `NAME GUID` each.
for device in /sys/class/infiniband/*; do
    is=''
    for layer in "$device"/ports/*/link_layer; do
        kind=''
        { read -r kind <"$layer"; } 2>/dev/null
        [ "$kind" != InfiniBand ] || is=1
    done
    guid=''
    { read -r guid <"$device/node_guid"; } 2>/dev/null
    [ -z "$is" ] || printf '%s %s\n' "${device##*/}" "$guid"
done
