# What a process sees here: asked in a new login and behind a launcher, and the two are compared. It is read and
# opened, never changed; /dev/infiniband/issm* is left alone, because opening it tells the fabric of a subnet manager.
begin view
value boot /proc/sys/kernel/random/boot_id
value hostname /proc/sys/kernel/hostname
user=$(id -un 2>/dev/null) || user=$(id -u) || lost id
groups=$(id -Gn 2>/dev/null) || groups=$(id -G) || lost id
root=$(stat -c %d:%i / 2>/dev/null) || lost stat
netns=$(readlink /proc/self/ns/net 2>/dev/null) || lost readlink
printf 'user=%s\ngroups=%s\nroot=%s\nnetns=%s\n' "$user" "$groups" "$root" "$netns"
while read -r key rest; do
    [ "${key%%=*}" != PRETTY_NAME ] || printf 'os=%s\n' "${key#*=} $rest"
done 2>/dev/null </etc/os-release
# limit KEY WORDS: the soft and the hard limit behind these words of the line.
limit() {
    rest=${line#"$2"}
    [ "$rest" != "$line" ] || return 0
    # shellcheck disable=SC2086 # words of a table
    set -- "$1" $rest
    printf 'limit=%s %s %s\n' "$1" "$2" "$3"
}
while read -r line; do
    limit memlock 'Max locked memory'
    limit nofile 'Max open files'
    limit nproc 'Max processes'
    limit stack 'Max stack size'
done 2>/dev/null </proc/self/limits
while read -r key rest; do
    case $key in
    Cpus_allowed_list:) printf 'cpus=%s\n' "$rest" ;;
    Mems_allowed_list:) printf 'mems=%s\n' "$rest" ;;
    esac
done 2>/dev/null </proc/self/status
group=''
while read -r line; do
    printf 'cgroup=%s\n' "$line"
    case $line in 0::*) group=${line#0::} ;; esac
done 2>/dev/null </proc/self/cgroup
# Limits of the groups above hold, too.
while [ -n "$group" ]; do
    value memory "/sys/fs/cgroup${group%/}/memory.max"
    [ "$group" != / ] || break
    group=${group%/*}
    group=${group:-/}
done
# /sys shows those of the namespace that mounted it.
while read -r net _; do
    case $net in *:*) printf 'net=%s\n' "${net%%:*}" ;; esac
done 2>/dev/null </proc/self/net/dev
for device in /sys/bus/pci/devices/*; do
    class='' vendor='' node='' cpus='' minor=''
    { read -r class <"$device/class" && read -r vendor <"$device/vendor"; } 2>/dev/null || continue
    case "$class $vendor" in 0x03*' 0x10de') ;; *) continue ;; esac
    { read -r node <"$device/numa_node"; } 2>/dev/null
    { read -r cpus <"$device/local_cpulist"; } 2>/dev/null
    while read -r word next rest; do
        case "$word $next" in 'Device Minor:') minor=$rest ;; esac
    done 2>/dev/null <"/proc/driver/nvidia/gpus/${device##*/}/information"
    printf 'gpu=%s %s %s %s\n' "${device##*/}" "${node:--}" "${cpus:--}" "${minor:--}"
done
# opened FILE: `open`, or why not.
opened() {
    status=0
    # shellcheck disable=SC2016 # the other shell expands it
    if command -v timeout >/dev/null 2>&1; then
        said=$(timeout -k 1 5 sh -c ': <"$1"' sh "$1" 2>&1) || status=$?
    else
        said=$(sh -c ': <"$1"' sh "$1" 2>&1) || status=$?
    fi
    case $status in
    0) printf 'device=%s open\n' "$1" ;;
    124 | 137) printf 'device=%s gives no answer\n' "$1" ;;
    125 | 126 | 127) lost sh ;;
    *)
        [ -n "$said" ] || lost sh
        printf 'device=%s %s\n' "$1" "${said##*: }"
        ;;
    esac
}
for device in /dev/nvidia[0-9]* /dev/nvidiactl /dev/nvidia-uvm /dev/infiniband/uverbs[0-9]* /dev/infiniband/rdma_cm; do
    [ ! -e "$device" ] || opened "$device"
done
environment=$(env) || lost env
printf '%s\n' "$environment" | while IFS= read -r line; do
    case $line in *=*) ;; *) continue ;; esac
    case ${line%%=*} in
    *[!A-Za-z0-9_]*) ;;
    NCCL_* | UCX_* | OMPI_MCA_* | FI_* | CUDA_VISIBLE_DEVICES | NVIDIA_VISIBLE_DEVICES | ROCR_VISIBLE_DEVICES | \
        LD_LIBRARY_PATH | LD_PRELOAD | OMP_NUM_THREADS) printf 'env=%s\n' "$line" ;;
    esac
done
for file in /etc/nccl.conf "${NCCL_CONF_FILE:-$HOME/.nccl.conf}"; do
    [ -f "$file" ] || continue
    [ -r "$file" ] || continue
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in NCCL_*=*) printf 'conf=%s\n' "$line" ;; esac
    done <"$file"
done
# Logins of users often have no directory of the system's own programs in `PATH`; musl has no cache.
cached=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null) || [ $? = 127 ] || [ ! -e /etc/ld.so.cache ] || lost ldconfig
# shellcheck disable=SC2086 # lists, split where the loader splits them
preloaded=$(set -f && IFS=': ' && printf '%s ' ${LD_PRELOAD-})
# shellcheck disable=SC2086
directories=$(set -f && IFS=':;' && printf '%s ' ${LD_LIBRARY_PATH-})
# library NAME: the file that the loader takes for a program that names no directory of its own: of LD_PRELOAD, of
# LD_LIBRARY_PATH, of its cache, of the usual directories.
library() {
    for file in $preloaded; do
        case $file in */"${1%%.so*}".so*) found "$1" "$file" && return ;; esac
    done
    for directory in $directories; do
        found "$1" "$directory/$1" && return
    done
    file=$(printf '%s\n' "$cached" | while read -r name rest; do
        [ "$name" = "$1" ] || continue
        printf '%s\n' "${rest##*=> }"
        break
    done)
    [ -z "$file" ] || ! found "$1" "$file" || return
    for directory in /lib /usr/lib /lib64 /usr/lib64 /usr/local/lib; do
        found "$1" "$directory/$1" && return
    done
    return 0
}
found() {
    [ -e "$2" ] || return 1
    real=$(readlink -f "$2") || lost readlink
    # It may lead through a directory of somebody else, whose name would be several lines.
    case $real in *[[:cntrl:]]*) real='' ;; esac
    printf 'library=%s %s %s\n' "$1" "$2" "$real"
}
for name in libnccl.so.2 libnccl-net.so libmpi.so.40 libmpi.so.12 libibverbs.so.1 libcuda.so.1 libcudart.so.12; do
    library "$name"
done
for name in mpirun nvcc python3; do
    program=$(command -v "$name" 2>/dev/null) && printf 'program=%s %s\n' "$name" "$program"
done
now=$(date +%s) || lost date
while read -r up _; do
    printf 'booted=%s\n' "$((${now:-0} - ${up%%.*}))"
done 2>/dev/null </proc/uptime
finish 0
