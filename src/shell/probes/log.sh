# What the kernel said of GPUs, links and memory since it was booted, newest last.
signs='NVRM: (Xid|GPU|RmInitAdapter|API mismatch|this kernel module|The NVIDIA probe)|SXid|nvidia-nvswitch: Probing|AER:|PCIe Bus Error|mlx5_core.*(limited by|health compromised|poll_health|Cable unplugged)|Unknown symbol|disagrees about version|mce: |[Mm]achine [Cc]heck|Hardware Error|blocked for more than|Out of memory'
sift "$signs" 10 dmesg
[ "$status" = 0 ] || sift "$signs" 15 journalctl -k -b --no-pager -o short-iso
:
