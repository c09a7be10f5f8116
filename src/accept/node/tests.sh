# Loads this host and writes what came out, a line each; runs by itself, in the directory of its run. What was done
# before it was ended is not done again. Parameters: SECONDS ROUNDS USER TESTS MILLISECONDS TOTAL (milliseconds between two
# samples; seconds after which no round begins, or 0)
#
#   step NAME                  what is done now
#   gpu UUID INDEX PCI NAME
#   busy UUID PID NAME         this GPU has a user, and is left out
#   test UUID LINE             a line of the program that loads a GPU
#   sample UUID SECONDS MHZ MHZ-OF-MEMORY W °C °C-OF-MEMORY REASONS
#   kernel LINE                a line of the driver in the kernel's log, from meanwhile
#   rebooted                   the host was started anew meanwhile
#   skip TEXT                  what cannot be tested here, and why
seconds=$1 rounds=$2 user=$3 tests=$4 each=$5 total=$6
LC_ALL=C
export LC_ALL
printf '%s\n' "$$" >leader
place=$(pwd -P)
finish() {
    [ -z "${sampler-}" ] || kill "$sampler" 2>/dev/null
    printf '%s\n' "$1" >ended
    exit
}
trap 'finish stopped' TERM INT HUP
# The last line of the kernel's log: what comes behind it is from meanwhile, and stays so after a restart of the tests.
stamp_of() {
    stamp=${1#*[}
    stamp=${stamp%%]*}
    stamp=${stamp#"${stamp%%[! ]*}"}
    case $stamp in *[!0-9.]* | '') stamp='' ;; esac
}
boot=''
{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
if [ -e mark ]; then
    { read -r before mark _ <./mark; } 2>/dev/null
    [ "$before" = "$boot" ] || {
        printf 'rebooted\n'
        mark=0
    }
else
    stamp_of "$(dmesg 2>/dev/null | tail -n 1)"
    mark=${stamp:-0}
fi
printf '%s %s\n' "$boot" "$mark" >mark
# As the user who has nothing, for so many seconds: the program needs a GPU and nothing else. Root keeps the time.
# Parameters: SECONDS PROGRAM ...
as_user() {
    limit=$1
    shift
    # With an empty list the compiler would see no GPU to build for.
    [ -z "${seen-}" ] || set -- "CUDA_VISIBLE_DEVICES=$seen" "$@"
    set -- env -i PATH="$PATH" HOME="$place/work" TMPDIR="$place/work" "$@"
    if [ "$(id -u)" != 0 ]; then
        timeout -k 5 "$limit" "$@"
    elif setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --no-new-privs true 2>/dev/null; then
        timeout -k 5 "$limit" setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --no-new-privs "$@"
    else
        # shellcheck disable=SC2016 # the other shell expands it
        timeout -k 5 "$limit" su -s /bin/sh -c 'exec "$@"' -- "$user" sh "$@"
    fi
}
# A step that was done is left out after a restart.
todo() {
    ! grep -qxF "$1" steps 2>/dev/null && printf 'step %s\n' "$1"
}
did() {
    printf '%s\n' "$1" >>steps
}
if [ "$(id -u)" = 0 ] && { ! number=$(id -u "$user" 2>/dev/null) || [ "$number" = 0 ]; }; then
    printf 'skip %s is no account that may load a GPU\n' "$user"
    finish 0
fi
if ! command -v nvidia-smi >/dev/null 2>&1; then
    printf 'skip there is no nvidia-smi: the driver is not installed\n'
    finish 0
fi
gpus=$(timeout 60 nvidia-smi --query-gpu=uuid,index,pci.bus_id,mig.mode.current,name --format=csv,noheader) || {
    printf 'skip nvidia-smi fails: %s\n' "$gpus"
    finish 1
}
users=$(timeout 60 nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name --format=csv,noheader 2>/dev/null)
free=''
old_ifs=$IFS
IFS='
'
for line in $gpus; do
    IFS=$old_ifs
    uuid=${line%%, *}
    rest=${line#*, }
    index=${rest%%, *}
    rest=${rest#*, }
    pci=${rest%%, *}
    rest=${rest#*, }
    split=${rest%%, *}
    printf 'gpu %s %s %s %s\n' "$uuid" "$index" "$pci" "${rest#*, }"
    if [ "$split" = Enabled ]; then
        printf 'skip GPU %s is split (MIG): what its parts do is not measured\n' "$index"
        continue
    fi
    who=$(printf '%s\n' "$users" | grep -F "$uuid")
    if [ -n "$who" ]; then
        who=${who#*, }
        printf 'busy %s %s %s\n' "$uuid" "${who%%, *}" "${who#*, }" | head -n 1
    else
        free="$free $uuid"
    fi
done
IFS=$old_ifs
if [ -z "$free" ]; then
    printf 'skip no GPU is free\n'
    finish 0
fi
chmod 711 "$place" "$place/.." || finish 1
chmod 644 gpu.cu || finish 1
mkdir -p work || finish 1
# From here on its owner decides what is in there: root reads and writes nothing in it.
[ "$(id -u)" != 0 ] || chown "$user" work || finish 1
if ! grep -qxF compile steps 2>/dev/null; then
    printf 'step compile\n'
    # It is never run as root, so it may be where root looks for nothing.
    nvcc=$(command -v nvcc)
    for found in /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        [ -n "$nvcc" ] || [ ! -x "$found" ] || nvcc=$found
    done
    if [ -z "$nvcc" ]; then
        printf 'skip there is no nvcc: playbook cuda-toolkit installs it\n'
        finish 0
    fi
    libraries=${nvcc%/bin/nvcc}/lib64
    if ! as_user 300 "$nvcc" -O2 -arch=native -o "$place/work/gpu" "$place/gpu.cu" -lcublas -lcublasLt \
        -Xlinker -rpath -Xlinker "$libraries" >compile 2>&1; then
        reason=$(grep -m 1 -i error compile || tail -n 1 compile)
        printf 'skip nvcc fails: %s\n' "$reason"
        finish 1
    fi
    # What runs is a copy that its account cannot change.
    as_user 60 cat "$place/work/gpu" >gpu || finish 1
    chmod 755 gpu || finish 1
    did compile
fi
list=''
for uuid in $free; do list=$list${list:+,}$uuid; done
# Drivers before 535 have the other name.
reasons=clocks_event_reasons.active
timeout 60 nvidia-smi --query-gpu="$reasons" --format=csv,noheader >/dev/null 2>&1 || reasons=clocks_throttle_reasons.active
nvidia-smi --id="$list" \
    --query-gpu="uuid,clocks.sm,clocks.mem,power.draw,temperature.gpu,temperature.memory,$reasons" \
    --format=csv,noheader,nounits -lms "$each" 2>/dev/null | while IFS=, read -r uuid values; do
    # It ends with this shell, even where that is killed.
    [ -d "/proc/$$" ] || break
    read -r now _ </proc/uptime
    printf 'sample %s %s%s\n' "$uuid" "$now" "$values"
done >>samples &
sampler=$!
# The program for one GPU. Parameters: TEST UUID SECONDS
load() {
    # What follows the first GPU is there for copies to others.
    seen=$2
    [ "$1" != peers ] || for other in $free; do [ "$other" = "$2" ] || seen=$seen,$other; done
    { as_user "$(($3 + 120))" "$place/gpu" "$1" "$3" 2>&1 </dev/null || printf 'failed %s it ended with status %s\n' "$1" "$?"; } |
        head -c 65536 | while IFS= read -r line; do printf 'test %s %s\n' "$2" "$line"; done
    seen=''
}
# Of all starts of this run.
first=''
{ read -r first <./first; } 2>/dev/null
[ -n "$first" ] || {
    first=$(date +%s)
    printf '%s\n' "$first" >first
}
round=1
while [ "$round" -le "$rounds" ]; do
    [ "$total" = 0 ] || [ "$round" = 1 ] || [ "$(($(date +%s) - first))" -lt "$total" ] || break
    for test in $tests; do
        todo "$test.$round" || continue
        case $test in
        # They share the way to the processors.
        copy | peers) for uuid in $free; do load "$test" "$uuid" "$seconds"; done ;;
        *)
            loads=''
            for uuid in $free; do
                load "$test" "$uuid" "$seconds" >"work.$uuid" &
                loads="$loads $!"
            done
            for one in $loads; do wait "$one"; done
            for uuid in $free; do cat "work.$uuid"; done
            ;;
        esac
        did "$test.$round"
    done
    round=$((round + 1))
done
kill "$sampler" 2>/dev/null
cat samples 2>/dev/null
dmesg 2>/dev/null | grep -E 'NVRM|Xid|nvidia-|AER|Machine check|mce:' | while IFS= read -r line; do
    stamp_of "$line"
    # By the log's own clock; lines from before are not of these tests.
    [ -n "$stamp" ] || continue
    later=$(printf '%s %s\n' "$stamp" "$mark" | awk '{ print ($1 > $2) }')
    [ "$later" = 0 ] || printf 'kernel %s\n' "$line"
done
finish 0
