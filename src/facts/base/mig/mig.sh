# Prints the numbers of the device files of NVIDIA's instances, each with the path of its file: of each GPU instance, and of
# each compute instance in it.
for file in /proc/driver/nvidia/capabilities/gpu[0-9]*/mig/gi[0-9]*/access \
    /proc/driver/nvidia/capabilities/gpu[0-9]*/mig/gi[0-9]*/ci[0-9]*/access; do
    [ -e "$file" ] || continue
    number=''
    while read -r key value; do
        [ "$key" != DeviceFileMinor: ] || number=$value
    done 2>/dev/null <"$file"
    printf '%s:%s\n' "$file" "$number"
done
printf 'end\n'
