# What the kernel said of GPUs, links and memory since it was booted, newest last.
signs='NVRM: (Xid|GPU|RmInitAdapter|API mismatch|this kernel module|The NVIDIA (GPU|probe))|fallen off the bus|nvidia-peermem .*ERROR|SXid|nvidia-nvswitch: Probing|AER:|PCIe Bus Error|mlx5_core.*(limited by|health compromised|poll_health|Port module event|sufficient power|High temperature)|Unknown symbol|disagrees about version|mce: |[Mm]achine [Cc]heck|Hardware Error|blocked for more than|Out of memory|VFS: file-max limit|BUG: unable to handle|kernel BUG at |Oops: |general protection fault[:,]'
sift "$signs" 10 dmesg
# A kernel that ran for long has overwritten the beginning of its own log; the journal may still have it.
case "$status ${text-}" in
'0 '*'Linux version '*) ;;
*) sift "$signs" 15 journalctl -k -b --no-pager -o short-iso ;;
esac
# What was serious the day before and was mended by a reboot may come again.
sift 'NVRM: Xid|not seeing messages' 10 journalctl -k -b -1 --since=-1d --no-pager -o short-iso
:
