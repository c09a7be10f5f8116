# Prints who uses the GPUs and the RDMA devices of this host, and which Slurm jobs run on it.
# What holds devices all the time without doing work is left out. Parameters: directory of a process, its name.
idle() {
    case $2 in
    nvidia-persiste* | nv-fabricmanage* | nvidia-fabricma* | nv-hostengine | nvidia-imex | nvlsm | dcgm-exporter | \
        nvidia-device-p* | nvidia-smi | ibacm | iwpmd | rdma-ndd | srp_daemon | opensm | ibv_devinfo) ;;
    *) return 1 ;;
    esac
    # Anybody can give a program such a name. Accounts of people start no service.
    owner_of "$1"
    [ "${owner:-1000}" -lt 1000 ]
}
# Sets $name to that of the process in directory $1: what could pass for another field is cut off.
named() {
    name=''
    { read -r name <"$1/comm"; } 2>/dev/null || return
    name=${name%%[[:cntrl:]]*}
}
# Without a tool some users are not seen, and the host must not be taken for idle. Parameter: the tool.
lacks() {
    printf 'lacks\t%s\n' "$1"
}
# A container that systemd holds, without leave for the GPUs that it uses: it loses them when systemd reads its units
# again. Parameters: directory of a process, its name.
endangered() {
    scope=''
    while IFS= read -r line; do
        for kind in docker cri-containerd crio libpod; do
            case $line in
            */"$kind"-*.scope*)
                scope=$kind-${line##*/"$kind"-}
                scope=${scope%%.scope*}.scope
                scope=${scope%%[[:cntrl:]]*}
                # What is in that one is not of this systemd.
                break 2
                ;;
            esac
        done
    done 2>/dev/null <"$1/cgroup"
    [ -n "$scope" ] && [ -d /run/systemd/system ] || return 0
    leave=$(systemctl show -p DevicePolicy -p DeviceAllow -- "$scope" 2>/dev/null) || {
        lacks systemctl
        return
    }
    # Without a list of devices all are allowed.
    case $leave in
    *195:* | *nvidia*) ;;
    *DevicePolicy=strict* | *DevicePolicy=closed* | *DeviceAllow=/* | *DeviceAllow=char-* | *DeviceAllow=block-*)
        printf 'container\t%s\t%s in %.23s\n' "${1#/proc/}" "$2" "$scope"
        ;;
    esac
}
# Only root sees the files of others.
[ "$(id -u)" = 0 ] || printf 'partial\n'
if [ -d /sys/module/nvidia ] && command -v nvidia-smi >/dev/null 2>&1; then
    # With a sick GPU it may hang.
    timeout -k 2 8 nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null |
        while read -r pid; do
            case $pid in *[!0-9]* | '') continue ;; esac
            # nvidia-smi tells the path of the program, which may have any number of lines.
            named "/proc/$pid" || :
            printf 'gpu\t%s\t%s\n' "$pid" "${name:-another program}"
        done
fi
if command -v rdma >/dev/null 2>&1; then
    # What the kernel itself uses has its name in brackets and no pid.
    timeout -k 1 4 rdma resource show qp 2>/dev/null | while read -r line; do
        case $line in *' pid '*) ;; *) continue ;; esac
        pid=${line#* pid }
        pid=${pid%% *}
        line=${line#* comm }
        line=${line%%[[:cntrl:] ]*}
        idle "/proc/$pid" "$line" || printf 'rdma\t%s\t%s\n' "$pid" "$line"
    done
fi
# Who has a CUDA context has nvidia-uvm open; of what only looks, nvidia-smi has.
# shellcheck disable=SC2010 # numbers are the only names
holders=$(ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E '^/proc/[0-9]+/fd:|-> /dev/(nvidia-uvm|infiniband/uverbs[0-9]+)$')
# Some process has files. That one ended meanwhile is no failure of ls.
case $holders in *'/fd:'*) ;; *) lacks 'ls or grep' ;; esac
directory='' newline='
'
# No here-document: where /tmp is full bash cannot make a large one.
printf '%s\n' "$holders" | while IFS= read -r line; do
    case $line in
    /proc/*)
        directory=${line%/fd:} known=''
        # It may be a name that somebody gave to a file.
        case ${directory#/proc/} in *[!0-9]* | '') directory='' ;; esac
        continue
        ;;
    */nvidia-uvm) use=gpu ;;
    *) use=rdma ;;
    esac
    case $directory:$known in :* | *"$use"*) continue ;; esac
    # A name of somebody's file can look like such a line, or like two, and somebody's own view of /dev can have it.
    device=/dev/${line##*' -> /dev/'}
    line=${line%' -> /dev/'*}
    line=${line##* }
    case $line in *[!0-9]* | '') continue ;; esac
    file=$directory/fd/$line
    target=$(readlink "$file") || {
        [ ! -L "$file" ] || lacks readlink
        continue
    }
    [ "$target" = "$device" ] || continue
    if [ -e "$device" ]; then
        numbers=$(stat -L -c %t:%T -- "$file" "$device" 2>/dev/null)
        number=${numbers%%"$newline"*}
        [ -z "$numbers" ] || [ "$numbers" = "$number$newline$number" ] || continue
    fi
    known=$known$use
    named "$directory" || continue
    idle "$directory" "$name" || printf '%s\t%s\t%s\n' "$use" "${directory#/proc/}" "$name"
    [ "$use" != gpu ] || endangered "$directory" "$name"
done
# The job that this runs in, if it is one: it is no reason to wait.
own=''
pid=$$
while [ "${pid:-0}" -gt 1 ]; do
    named "/proc/$pid" || break
    if [ "$name" = slurmstepd ]; then
        { read -r own <"/proc/$pid/cmdline"; } 2>/dev/null
        own=${own#*\[}
        own=${own%%.*}
        break
    fi
    parent=''
    while read -r key rest; do
        [ "$key" != PPid: ] || parent=$rest
    done 2>/dev/null <"/proc/$pid/status"
    pid=$parent
done
for directory in /proc/[0-9]*; do
    named "$directory" || continue
    case $name in
    slurmstepd)
        # The real one is started by root, whoever it works for.
        owner_of "$directory"
        [ "$owner" = 0 ] || continue
        # It calls itself `slurmstepd: [JOB.STEP]`.
        title=''
        { read -r title <"$directory/cmdline"; } 2>/dev/null
        job=${title#*\[}
        [ -z "$own" ] || [ "${job%%.*}" != "$own" ] || continue
        # Its first process is that of who started the job.
        child=''
        { read -r child _ <"$directory/task/${directory#/proc/}/children"; } 2>/dev/null
        user=''
        [ -z "$child" ] || user=$(stat -c %U "/proc/$child" 2>/dev/null)
        printf 'slurm\t%s\t%s\t%s\n' "${directory#/proc/}" "${job%%\]*}" "$user"
        ;;
    esac
done
printf 'end\n'
