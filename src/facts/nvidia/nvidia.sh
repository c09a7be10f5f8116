# What the NVIDIA driver says. nvidia-smi as root would load the module and make device nodes, so it
# is asked only where the module is loaded. After a first question without an answer no second one.
[ -d /sys/module/nvidia ] || exit 0
ask 30 nvidia-smi -q -x
case $? in 124 | 137) exit 0 ;; esac
ask 10 nvidia-smi nvlink -s
ask 10 nvidia-smi topo -m
:
