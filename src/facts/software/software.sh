# Needs rooted and package_holder.
# NCCL, Open MPI, nccl-tests and perftest: what lies below /opt, /usr/local and /usr, and how it is linked.
# No program of them is started but those that print their version or their help, and as root only the one of perftest, which
# is in the PATH of root.
# software USER: the user who starts jobs; empty is the one who is logged in.
named_user=${1-}
job_user=${1:-${SUDO_USER-}}
rooted_me=$(id -u) || exit 1
newline='
'
# plain PATH: whether it can stand in a line. Anybody may give directories of their own below /opt any name.
plain() {
    case $1 in *[[:cntrl:]]*) return 1 ;; esac
}
# real PATH: what it is with all links followed, when that can stand in a line.
real() {
    followed=$(readlink -f "$1")
    ! plain "$followed" || printf '%s\n' "$followed"
}
# first_of FILE: what it begins with.
first_of() {
    if command -v timeout >/dev/null 2>&1; then timeout -k 1 2 head -c 262144 -- "$1"; else head -c 262144 -- "$1"; fi 2>/dev/null
}
# in_job USER COMMAND WORD ...: shell text in a new login of a user, with its words. For root nobody takes its place: what a
# login of root reads may name files of anybody, and a program of root's may load their libraries.
in_job() {
    user=$1 command=$2
    shift 2
    if [ "$rooted_me" != 0 ]; then
        timeout -k 2 5 sh -l -c "$command" sh "$@"
    elif [ "$user" != root ]; then
        timeout -k 2 5 su -l -s /bin/sh -c "$command" -- "$user" sh "$@"
    else
        # shellcheck disable=SC2016 # the inner shell expands it
        timeout -k 2 5 env -i PATH="$PATH" su -s /bin/sh -c 'command=$1 && shift && exec sh -l -c "$command" sh "$@"' -- nobody sh "$command" "$@"
    fi </dev/null 2>&1
}
# answer USER COMMAND WORD ...: sets $text to what it said, and $status. What it leaves behind may keep its output open.
answer() {
    text=$({ in_job "$@"; printf '\n%s' "$?"; } | timeout -k 1 8 head -c 65536)
    status=${text##*"$newline"}
    case $status in '' | *[!0-9]*) status=124 ;; esac
    text=$(printf '%s\n' "${text%"$newline"*}" | tr -d '\036') || lost tr
}
# runs_as PROGRAM: sets $user to who may run it, or have the loader map it: who starts jobs, where only root and they
# can change it or they were named for it; else who has it in hand. Fails with $rooted_why where that is nobody.
runs_as() {
    user=${job_user:-root}
    rooted "$1" && return
    [ "$rooted_me" = 0 ] || return
    case $named_user in
    '' | root) ;;
    *) return 0 ;;
    esac
    user=$rooted_name
    [ -n "$user" ]
}
# refused: the end of a section of what is not run at all.
refused() {
    finish 126
    printf 'not run: %s\n' "$rooted_why"
}
# linked PROGRAM: the libraries that the loader finds for it in a login of who may run it, and the files that
# libnccl and libmpi are. ldd lets the loader map the program.
linked() {
    begin ldd "$1"
    runs_as "$1" || {
        refused
        return
    }
    # shellcheck disable=SC2016 # the shell of that user expands it
    answer "$user" 'exec ldd "$1"' "$1"
    printf 'user=%s\n%s\n' "$user" "$text"
    printf '%s\n' "$text" | while read -r name arrow file _; do
        case "$name $arrow" in 'libnccl.so'*' =>' | 'libmpi.so'*' =>')
            [ ! -e "$file" ] || printf 'file=%s %s\n' "$name" "$(real "$file")"
            ;;
        esac
    done
    finish "$status"
}
# homes PROGRAM: what a build of this program was given, as its stamp says: where it is and what it really is.
homes() {
    stamp=${1%/*/*}/.provision/stamp
    [ -f "$stamp" ] || return 0
    lines=$(first_of "$stamp" | grep '^make [A-Z]*_HOME=')
    while read -r key variable; do
        case "$key $variable" in 'make NCCL_HOME='?* | 'make MPI_HOME='?*)
            home=${variable#*=}
            printf 'home=%s %s %s %s\n' "$1" "${variable%%_*}" "$home" "$(real "$home")"
            ;;
        esac
    done <<END
$lines
END
}
begin software
for header in /usr/include/nccl.h /usr/local/include/nccl.h /usr/local/*/include/nccl.h /opt/*/include/nccl.h \
    /opt/*/*/include/nccl.h; do
    plain "$header" || continue
    [ -f "$header" ] || continue
    major='' minor='' patch=''
    # Anybody's file: it may have any size, and become a pipe.
    lines=$(first_of "$header" | grep '^#define NCCL_')
    while read -r word name number _; do
        case "$word $name" in
        '#define NCCL_MAJOR') major=$number ;;
        '#define NCCL_MINOR') minor=$number ;;
        '#define NCCL_PATCH') patch=$number ;;
        esac
    done <<END
$lines
END
    printf 'nccl=%s %s\n' "${header%/include/nccl.h}" "$major.$minor.$patch"
done
for library in /opt/*/lib/libnccl.so.2 /opt/*/*/lib/libnccl.so.2 /usr/local/lib/libnccl.so.2 \
    /usr/local/*/lib/libnccl.so.2 /usr/lib/*/libnccl.so.2 /usr/lib64/libnccl.so.2; do
    plain "$library" || continue
    [ -e "$library" ] || continue
    printf 'library=%s %s\n' "$library" "$(real "$library")"
done
programs=''
for program in /opt/*/build/all_reduce_perf /opt/*/bin/all_reduce_perf /usr/local/*/build/all_reduce_perf \
    /usr/local/bin/all_reduce_perf /usr/bin/all_reduce_perf; do
    plain "$program" || continue
    [ -x "$program" ] || continue
    programs="$programs $program"
    homes "$program"
done
if command -v ib_write_bw >/dev/null 2>&1; then
    printf 'perftest=1\n'
    status=0
    if command -v timeout >/dev/null 2>&1; then help=$(timeout -k 1 5 ib_write_bw --help 2>&1); else help=$(ib_write_bw --help 2>&1); fi || status=$?
    case $help in *use_cuda*) printf 'perftest_cuda=1\n' ;; esac
    # Somebody else's: see root_path.sh.
    [ "$status" != 126 ] || lost "$help"
fi
finish 0
for mpirun in /opt/*/bin/mpirun /opt/*/*/bin/mpirun /usr/local/bin/mpirun /usr/local/*/bin/mpirun /usr/bin/mpirun \
    /usr/mpi/gcc/*/bin/mpirun /usr/lib64/openmpi/bin/mpirun; do
    plain "$mpirun" || continue
    [ -x "$mpirun" ] || continue
    begin "$mpirun" --version
    runs_as "$mpirun" || {
        refused
        continue
    }
    # shellcheck disable=SC2016 # the shell of that user expands it
    answer "$user" 'exec "$1" --version' "$mpirun"
    printf '%s\n' "$text"
    finish "$status"
done
for program in $programs; do
    linked "$program"
done
# Packages that are half-done. Nobody knows that while somebody is in the middle of it.
package_holder
if [ -n "$holder" ]; then
    begin packages
    printf 'busy %s\n' "$holder"
    finish 0
elif command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # of dpkg-query
    sift_as packages '^(half-|unpacked|triggers-|[a-z-]+ reinstreq )' 10 \
        dpkg-query -W -f '${db:Status-Status} ${db:Status-Eflag} ${binary:Package}\n'
elif command -v rpm >/dev/null 2>&1; then
    begin packages
    status=0
    if command -v timeout >/dev/null 2>&1; then
        text=$(timeout -k 2 20 rpm -qa --qf '%{NAME}.%{ARCH}\n' 2>&1) || status=$?
    else
        text=$(rpm -qa --qf '%{NAME}.%{ARCH}\n' 2>&1) || status=$?
    fi
    # Kernels, their modules and keys stand side by side; of all else a cut transaction leaves two.
    printf '%s\n' "$text" | grep -v -E '^(kernel|kmod-|gpg-pubkey)' | sort | uniq -d | sed 's/^/twice ok /'
    finish "$status"
fi
:
