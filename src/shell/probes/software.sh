# NCCL, Open MPI, nccl-tests and perftest: what lies below /opt, /usr/local and /usr, and how it is linked.
# No program of them is started but those that print their version.
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
    [ ! -x "$program" ] || programs="$programs $program"
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
    ask 5 ldd "$program"
done
:
