# tools NAME ...: what the host calls itself, which of these commands are there, and whether `ib_write_bw` can use the
# memory of GPUs here: distributions build it without.
! name=$(uname -n) || printf 'hostname=%s\n' "$name"
for tool; do
    ! command -v "$tool" >/dev/null 2>&1 || printf 'tool=%s\n' "$tool"
done
case $(ib_write_bw --help 2>&1) in
*--use_cuda_dmabuf*) printf 'tool=use_cuda\n' ;;
*--use_cuda*)
    # It needs a module that lends GPU memory to network cards.
    [ ! -d /sys/module/nvidia_peermem ] && [ ! -d /sys/module/nv_peer_mem ] || printf 'tool=use_cuda\n'
    ;;
esac
