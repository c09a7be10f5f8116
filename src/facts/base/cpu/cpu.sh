# Prints the online CPUs, the first model name, the threads of one core and the sockets.
online=''
[ ! -r /sys/devices/system/cpu/online ] || read -r online </sys/devices/system/cpu/online
printf 'online=%s\n' "$online"
while IFS= read -r line; do
    case $line in
    'model name'* | 'Model'* | 'cpu model'* | 'Processor'*)
        printf 'model=%s\n' "${line#*: }"
        break
        ;;
    esac
done </proc/cpuinfo
for file in /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list; do
    # A kernel may have no such file.
    [ -r "$file" ] || continue
    # Shells read byte by byte, and of this file the kernel gives such a reader nothing.
    siblings=$(cat "$file") || exit 1
    printf 'siblings=%s\n' "$siblings"
    break
done
seen=' '
for file in /sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id; do
    [ -r "$file" ] || continue
    read -r socket <"$file" || continue
    case $seen in
    *" $socket "*) ;;
    *)
        seen="$seen$socket "
        printf 'socket=%s\n' "$socket"
        ;;
    esac
done
