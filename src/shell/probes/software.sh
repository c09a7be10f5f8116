# NCCL, Open MPI, nccl-tests and perftest: what lies below /opt, /usr/local and /usr, and how it is linked.
# No program of them is started but those that print their version.
# software USER: the user who starts jobs; empty is the one who is logged in.
job_user=${1:-${SUDO_USER-}}
# in_job USER COMMAND WORD ...: shell text in a new login of a user, with its words. ldd lets the loader map
# the program, which root must not do with what others may have written.
in_job() {
    user=$1 command=$2
    shift 2
    if [ "$(id -u)" != 0 ] || [ "$(id -un)" = "$user" ]; then
        timeout -k 2 5 sh -l -c "$command" sh "$@"
    else
        timeout -k 2 5 su -l -s /bin/sh -c "$command" -- "$user" sh "$@"
    fi </dev/null 2>&1
}
# linked PROGRAM: the libraries that the loader finds for it in a login of the user who starts jobs, else of
# its owner, and the files that libnccl and libmpi are.
linked() {
    begin ldd "$1"
    user=${job_user:-$(stat -c %U "$1")}
    status=0
    # shellcheck disable=SC2016 # the shell of that user expands it
    text=$(in_job "$user" 'exec ldd "$1"' "$1") || status=$?
    printf 'user=%s\n%s\n' "$user" "$text"
    printf '%s\n' "$text" | while read -r name arrow file _; do
        case "$name $arrow" in 'libnccl.so'*' =>' | 'libmpi.so'*' =>')
            [ ! -e "$file" ] || printf 'file=%s %s\n' "$name" "$(readlink -f "$file")"
            ;;
        esac
    done
    finish "$status"
}
# homes PROGRAM: what a build of this program was given, as its stamp says: where it is and what it really is.
homes() {
    stamp=${1%/*/*}/.provision/stamp
    [ -r "$stamp" ] || return 0
    while read -r key variable; do
        case "$key $variable" in 'make NCCL_HOME='?* | 'make MPI_HOME='?*)
            home=${variable#*=}
            printf 'home=%s %s %s %s\n' "$1" "${variable%%_*}" "$home" "$(readlink -f "$home")"
            ;;
        esac
    done <"$stamp"
}
begin software
for header in /usr/include/nccl.h /usr/local/include/nccl.h /usr/local/*/include/nccl.h /opt/*/include/nccl.h \
    /opt/*/*/include/nccl.h; do
    [ -r "$header" ] || continue
    major='' minor='' patch=''
    while read -r word name number _; do
        case "$word $name" in
        '#define NCCL_MAJOR') major=$number ;;
        '#define NCCL_MINOR') minor=$number ;;
        '#define NCCL_PATCH') patch=$number ;;
        esac
    done <"$header"
    printf 'nccl=%s %s\n' "${header%/include/nccl.h}" "$major.$minor.$patch"
done
for library in /opt/*/lib/libnccl.so.2 /opt/*/*/lib/libnccl.so.2 /usr/local/lib/libnccl.so.2 \
    /usr/local/*/lib/libnccl.so.2 /usr/lib/*/libnccl.so.2 /usr/lib64/libnccl.so.2; do
    [ -e "$library" ] || continue
    printf 'library=%s %s\n' "$library" "$(readlink -f "$library")"
done
programs=''
for program in /opt/*/build/all_reduce_perf /opt/*/bin/all_reduce_perf /usr/local/*/build/all_reduce_perf \
    /usr/local/bin/all_reduce_perf /usr/bin/all_reduce_perf; do
    [ -x "$program" ] || continue
    programs="$programs $program"
    homes "$program"
done
if command -v ib_write_bw >/dev/null 2>&1; then
    printf 'perftest=1\n'
    if command -v timeout >/dev/null 2>&1; then help=$(timeout -k 1 5 ib_write_bw --help 2>&1); else help=$(ib_write_bw --help 2>&1); fi
    case $help in *use_cuda*) printf 'perftest_cuda=1\n' ;; esac
fi
finish 0
for mpirun in /opt/*/bin/mpirun /opt/*/*/bin/mpirun /usr/local/bin/mpirun /usr/local/*/bin/mpirun /usr/bin/mpirun \
    /usr/mpi/gcc/*/bin/mpirun /usr/lib64/openmpi/bin/mpirun; do
    [ ! -x "$mpirun" ] || ask 5 "$mpirun" --version
done
for program in $programs; do
    linked "$program"
done
:
