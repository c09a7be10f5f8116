#!/bin/sh
# Stands for ib_write_bw where there is no RDMA device: plays a table that perftest printed (README of this case:
# ../cases/active/ib_write_bw-100g-noise.txt), with another figure. /run/ib_write_bw may hold the three of this host.
one=192.01 both=381.22 gpu=189.40
# shellcheck source=/dev/null
[ ! -e /run/ib_write_bw ] || . /run/ib_write_bw
figure=$one cuda=''
for word; do
    case $word in
    --help)
        echo '      --use_cuda=<cuda device id> Use CUDA specific device for GPUDirect RDMA testing'
        echo '      --use_cuda_dmabuf Use CUDA DMA-BUF for GPUDirect RDMA testing'
        exit 0
        ;;
    -b) figure=$both ;;
    --use_cuda=*)
        figure=$gpu
        cuda=${word#*=}
        # What perftest says before it begins: linux-rdma/perftest, issue 241.
        echo "Perftest doesn't supports CUDA tests with inline messages: inline size set to 0"
        echo "initializing CUDA"
        echo "Picking device No. $cuda"
        ;;
    esac
done
printf '%s\n' "$*" >>/run/ib_write_bw.calls
sed "s/98\.02/$figure/" /opt/ib_write_bw.txt
