# Prints the CPUs of NUMA nodes, and the socket and the siblings of each online CPU, each with the path of its file.
# Shells read byte by byte, and of lists of CPUs the kernel gives such a reader nothing.
lists=$(grep '' /dev/null /sys/devices/system/node/node[0-9]*/cpulist \
    /sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id \
    /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list 2>/dev/null)
if [ -r /sys/devices/system/node/node0/cpulist ]; then
    case $lists in */node0/cpulist:*) ;; *) exit 1 ;; esac
fi
printf '%s\nend\n' "$lists"
