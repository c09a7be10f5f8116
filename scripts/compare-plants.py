#!/usr/bin/env python3
"""Rounds of planted differences: does `provision compare` find what sets the bad hosts apart?

    compare-plants.py --provision PROGRAM --rounds 100 [--seed N] [--until SECONDS] [--results FILE]
    compare-plants.py --provision PROGRAM --kinds mtu,held     only these, one round each
    compare-plants.py --list                                   the kinds, and what counts as found

Twelve lab hosts get some two hundred differences that mean nothing: of one host, of some, of half. In each round
one to four of them are bad and get one thing that hurts, and harmless things of the same hosts besides.
`compare --bad` must name it among its first three answers. What was planted is taken away again, which is looked at.

What a container cannot have of its own (GPUs, PCIe, cards) is a stand-in: a program in /usr/local/sbin that
prints a file of /srv/stand-in, or a fault of the lab's hardware profile. All else is real.
"""

import argparse
import concurrent.futures
import glob
import itertools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

HOSTS = [f"gpu{number}" for number in range(12)]
INVENTORY = """cluster: plants
lab:
  profile: a100-x8-cx6
  packages: [nftables, iproute2, cron, ethtool, pciutils, procps, python3, numactl]
groups:
  gpu: { hosts: "gpu[0-11]" }
"""
PACKAGES = {
    "nvidia-driver-580": "580.95.05-1", "libnvidia-compute-580": "580.95.05-1", "nvidia-utils-580": "580.95.05-1",
    "nvidia-fabricmanager-580": "580.95.05-1", "libnccl2": "2.28.9-1+cuda12.8", "mlnx-ofed": "25.07-0.9.7",
    "slurmd": "24.11.5-1", "datacenter-gpu-manager": "4.4.1-1",
}
OLD = {"libnccl2": "2.21.5-1+cuda12.4", "slurmd": "23.11.10-1"} | {
    name: "580.65.06-1" for name in PACKAGES if name.endswith("-580")}
TRIFLES = ["htop-lab", "tree-lab", "ncdu-lab", "figlet-lab", "cowsay-lab", "sl-lab", "words-lab", "toilet-lab"]
WORDS = ("amber birch cedar delta ember fjord grove hazel inlet jetty knoll larch maple nettle ochre pearl quill ridge "
         "slate thorn umber vetch willow yarrow").split()

GPU = """    Product Name                          : NVIDIA A100-SXM4-80GB
    Product Brand                         : NVIDIA
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    Serial Number                         : 15612{host:02}{number:02}3
    GPU UUID                              : GPU-{host:08x}-0000-0000-{number:04x}-7c1c28a5e2d1
    VBIOS Version                         : 92.00.45.00.03
    Inforom Version
        Image Version                     : G506.0212.00.01
        ECC Object                        : 6.16
    GPU Operation Mode
        Current                           : N/A
        Pending                           : N/A
    PCI
        Bus                               : 0x{bus:02X}
        Bus Id                            : 00000000:{bus:02X}:00.0
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 4
                Device Max                : 4
                Host Max                  : 4
            Link Width
                Max                       : 16x
                Current                   : 16x
        Replays Since Reset               : 0
        Tx Throughput                     : @RANDOM@ KB/s
        Rx Throughput                     : @RANDOM@ KB/s
    Fan Speed                             : N/A
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    FB Memory Usage
        Total                             : 81920 MiB
        Reserved                          : 590 MiB
        Used                              : 4 MiB
        Free                              : 81326 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 1 MiB
        Free                              : 131071 MiB
    Compute Mode                          : Default
    Utilization
        Gpu                               : @RANDOM@ %
        Memory                            : @RANDOM@ %
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 0
        Pending                           : No
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : @RANDOM@ C
        GPU Shutdown Temp                 : 92 C
        GPU Slowdown Temp                 : 89 C
        Memory Current Temp               : @RANDOM@ C
    GPU Power Readings
        Average Power Draw                : @RANDOM@ W
        Current Power Limit               : 400.00 W
        Requested Power Limit             : 400.00 W
        Default Power Limit               : 400.00 W
        Min Power Limit                   : 100.00 W
        Max Power Limit                   : 400.00 W
    Clocks
        Graphics                          : @RANDOM@ MHz
        SM                                : @RANDOM@ MHz
        Memory                            : 1593 MHz
    Applications Clocks
        Graphics                          : 1410 MHz
        Memory                            : 1593 MHz
    Max Clocks
        Graphics                          : 1410 MHz
        SM                                : 1410 MHz
        Memory                            : 1593 MHz
    Fabric
        State                             : N/A
        Status                            : N/A
    Processes                             : None

"""
LSPCI = """0000:{bus}:00.0 {what}
\tSubsystem: {maker} Device {device}
\tPhysical Slot: {slot}
\tControl: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
\tLatency: 0, Cache Line Size: 64 bytes
\tInterrupt: pin A routed to IRQ {irq}
\tNUMA node: 0
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited
\t\t\tExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset+ SlotPowerLimit 75W
\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq+
\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes
\t\tDevSta:\tCorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported
\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes, Disabled- CommClk+
\t\tLnkSta:\tSpeed 16GT/s, Width x16
\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
\tCapabilities: [150 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
\t\tACSCtl:\tSrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-
\tKernel driver in use: {driver}
\tKernel modules: {driver}

"""
ETHTOOL = {
    "": "Settings for ens1f0np0:\n\tSpeed: 200000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: yes\n",
    "-i": "driver: mlx5_core\nversion: 25.07-0.9.7\nfirmware-version: 20.43.2566 (MT_0000000223)\nexpansion-rom-version:\n"
          "bus-info: 0000:12:00.0\nsupports-statistics: yes\n",
    "-k": "Features for ens1f0np0:\nrx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ip-generic: on\n"
          "scatter-gather: on\ntcp-segmentation-offload: on\ngeneric-receive-offload: on\nlarge-receive-offload: off\n"
          "ntuple-filters: off\nreceive-hashing: on\n",
    "-g": "Ring parameters for ens1f0np0:\nPre-set maximums:\nRX:\t\t\t8192\nRX Mini:\t\tn/a\nRX Jumbo:\t\tn/a\nTX:\t\t\t8192\n"
          "Current hardware settings:\nRX:\t\t\t8192\nRX Mini:\t\tn/a\nRX Jumbo:\t\tn/a\nTX:\t\t\t8192\n",
    "-a": "Pause parameters for ens1f0np0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\n",
    "-c": "Coalesce parameters for ens1f0np0:\nAdaptive RX: on  TX: on\nrx-usecs: 8\nrx-frames: 128\ntx-usecs: 8\ntx-frames: 128\n",
    "-l": "Channel parameters for ens1f0np0:\nPre-set maximums:\nCombined:\t63\nCurrent hardware settings:\nCombined:\t63\n",
    "--show-fec": "FEC parameters for ens1f0np0:\nSupported/Configured FEC encodings: Auto RS\nActive FEC encoding: RS\n",
}
WRAPPERS = {
    "nvidia-smi": """case "$*" in
-q) awk -v seed="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { srand(seed) }
    { while (sub(/@RANDOM@/, int(20 + rand() * 60))); print }' /srv/stand-in/smi-q ;;
"topo -m") cat /srv/stand-in/topo ;;
"nvlink -s") cat /srv/stand-in/nvlink ;;
*) exec /usr/local/bin/nvidia-smi "$@" ;;
esac""",
    "lspci": """case "$*" in
*vv*) cat /srv/stand-in/lspci ;;
*) exec /usr/local/bin/lspci "$@" ;;
esac""",
    "ethtool": """case "$*" in
*ens1f0np0*) for word; do case $word in -*) option=$word ;; esac; done
    case $option in
    --driver) option=-i ;; --show-features|--show-offload) option=-k ;; --show-ring) option=-g ;;
    --show-pause) option=-a ;; --show-coalesce) option=-c ;; --show-channels) option=-l ;;
    esac
    cat "/srv/stand-in/ethtool$option" ;;
*) exec /usr/sbin/ethtool "$@" ;;
esac""",
    "dkms": "cat /srv/stand-in/dkms",
    "ofed_info": "cat /srv/stand-in/ofed",
    "mokutil": "cat /srv/stand-in/mokutil",
    "dmesg": "cat /srv/stand-in/dmesg",
}
# A network device with a card below it, which a container has not. A fault of the profile lays /sys anew.
DEVICE = """([ ! -e /sys/class/net/ens1f0np0 ] || exit 0
rm -rf /sys/class/net; mkdir -p /sys/class/net/ens1f0np0/device; cd /sys/class/net
for each in /run/lab-real/sys/class/net/*; do ln -s $each .; done
cd ens1f0np0; echo 9000 >mtu; echo up >operstate; echo 200000 >speed; echo full >duplex; echo 1 >carrier
echo 1000 >tx_queue_len; echo 1 >type; echo 0x15b3 >device/vendor; echo 0x101b >device/device; cd /)"""
UNITS = {
    "nvidia-fabricmanager.service": "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
    "slurmd.service": "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
    "burn.service": "[Service]\nExecStart=/bin/true\n",
    "burn.timer": "[Timer]\nOnCalendar=hourly\n[Install]\nWantedBy=timers.target\n",
}
FILES = {
    "/etc/environment": "NCCL_DEBUG=WARN\n",
    "/etc/nccl.conf": "NCCL_IB_HCA=mlx5\nNCCL_IB_GID_INDEX=3\nNCCL_SOCKET_IFNAME=ens1f0np0\n",
    "/etc/modprobe.d/nvidia.conf": "options nvidia NVreg_RestrictProfilingToAdminUsers=0\n",
    "/etc/modprobe.d/mlx5.conf": "options mlx5_core prof_sel=2\n",
    "/etc/netplan/60-rdma.yaml": "network:\n  version: 2\n  ethernets:\n    ens1f0np0: { mtu: 9000, addresses: [10.1.0.1/16] }\n",
    "/etc/slurm/gres.conf": "AutoDetect=nvml\n",
    "/etc/chrony/chrony.conf": "server 10.0.0.1 iburst\nmakestep 1 3\n",
    "/etc/security/limits.d/50-cluster.conf": "* - memlock unlimited\n* - nofile 20000\n",
    "/opt/hpcx-2.21/VERSION": "2.21\n",
    "/usr/local/cuda-12.8/version.json": "{}\n",
    "/usr/local/cuda-12.4/version.json": "{}\n",
    "/usr/local/lib/python3.11/dist-packages/torch-2.9.1.dist-info/METADATA": "Name: torch\nVersion: 2.9.1\n",
}


def file(path, text):
    return f"mkdir -p {shlex.quote(os.path.dirname(path))}; printf %s {shlex.quote(text)} >{shlex.quote(path)}"


class Kind:
    """A kind of plant: what makes it, what takes it away, what shows whether it is there, and a fair answer."""

    def __init__(self, name, plant, undo, look, fair, real=True, fault=None):
        self.name, self.plant, self.undo, self.look = name, plant, undo, look
        self.fair, self.real, self.fault = re.compile(fair, re.I), real, fault


def edited(name, path, change, fair, real=True):
    """A file that sed changes in place; it may be a mount, so it is not replaced."""
    kept = shlex.quote(f"/srv/keep/{name}")
    return Kind(name, f"cp -a {path} {kept}; sed {shlex.quote(change)} {kept} >{path}", f"cat {kept} >{path}; rm {kept}",
                f"stat -c '%a %u %g' {path}; cat {path}", fair, real)


def added(name, path, text, fair, also="true", undo_also="true", look="true"):
    return Kind(name, f"{file(path, text)}; {also}", f"rm -f {path}; rmdir {os.path.dirname(path)} 2>/dev/null; {undo_also}",
                f"cat {path} 2>&1; {look}", fair)


def standin(name, what, change, fair):
    return edited(name, f"/srv/stand-in/{what}", change, fair, real=False)


def fault(name, fair):
    return Kind(f"fault {name}", "", "", "true", fair, real=False, fault=name)


def packages(name, names, fair):
    return Kind(name, "dpkg -i " + " ".join(f"/srv/debs/{each}_old.deb" for each in names),
                "dpkg -i " + " ".join(f"/srv/debs/{each}_new.deb" for each in names),
                "dpkg-query -W " + " ".join(names), fair)


DRIVER = [name for name in PACKAGES if name.endswith("-580")]
KINDS = [
    # What the driver's tools print.
    standin("ecc of one GPU off", "smi-q", "0,/ECC Mode/{/ECC Mode/{n;s/Enabled/Disabled/}}", r"^gpu .*ecc"),
    standin("driver version", "smi-q", "s/580.95.05/580.65.06/", r"(gpu|driver|system|module).*driver"),
    standin("vbios of one GPU", "smi-q", "0,/92.00.45.00.03/s/92.00.45.00.03/92.00.19.00.10/", r"^gpu .*vbios"),
    standin("power limit", "smi-q", "s/Current Power Limit .*: 400/Current Power Limit                   : 300/", r"^gpu .*power limit"),
    standin("GPU link width", "smi-q", "0,/Current  *: 16x/s/: 16x$/: 8x/", r"(gpu|pcie).*width"),
    standin("persistence off", "smi-q", "s/Persistence Mode .*/Persistence Mode                      : Disabled/", r"^gpu .*persistence"),
    standin("application clocks", "smi-q", "/Applications Clocks/{n;s/1410/1095/}", r"^gpu .*clock"),
    standin("remap pending", "smi-q", "0,/Pending  *: No/s/Pending  *: No/Pending                           : Yes/", r"^gpu .*remap"),
    standin("replays of one GPU", "smi-q", "0,/Replays/s/Replays Since Reset .*/Replays Since Reset               : 4211/", r"(gpu|pcie).*replay"),
    standin("a GPU is gone", "smi-q", "s/^Attached GPUs .*/Attached GPUs                             : 7/;/^GPU 00000000:C3/,/^$/d", r"^(gpu|pcie)"),
    standin("an NVLink is down", "nvlink", "0,/Link 3: 25 GB/s/Link 3: 25 GB.s/Link 3: <inactive>/", r"(gpu|nvlink).*(link|3)"),
    standin("topology", "topo", "s/^\\(GPU0\\t.*\\)PIX/\\1SYS/", r"(gpu|topo).*(topo|nic|gpu0)"),
    standin("ring", "ethtool-g", "$!{/Current/,$s/8192/1024/}", r"(ethtool|network|link|nic|ens1f0np0).*(ring|rx|ens1f0np0)"),
    standin("firmware of a card", "ethtool-i", "s/20.43.2566/20.39.1002/", r"(ens1f0np0.*firm|firm.*ens1f0np0|firmware)"),
    standin("pause off", "ethtool-a", "s/on$/off/", r"pause"),
    standin("coalescing", "ethtool-c", "s/Adaptive RX: on/Adaptive RX: off/;s/rx-usecs: 8/rx-usecs: 128/", r"(coalesc|adaptive|usecs)"),
    standin("offload", "ethtool-k", "s/generic-receive-offload: on/generic-receive-offload: off/", r"(generic-receive-offload|\bgro\b)"),
    standin("fec", "ethtool--show-fec", "s/Active FEC encoding: RS/Active FEC encoding: Off/", r"fec"),
    standin("read requests", "lspci", "0,/MaxReadReq 4096/s/MaxReadReq 4096/MaxReadReq 512/", r"maxreadreq|read.?req|^pci .*DevCtl"),
    standin("ACS on", "lspci", "s/ACSCtl:\\tSrcValid- TransBlk- ReqRedir-/ACSCtl:\\tSrcValid+ TransBlk- ReqRedir+/", r"\bacs"),
    standin("relaxed ordering off", "lspci", "s/RlxdOrd+ ExtTag+/RlxdOrd- ExtTag+/", r"rlxdord|relaxed|ordering|^pci .*DevCtl"),
    standin("PCIe generation", "lspci", "0,/LnkSta:/s/LnkSta:\\tSpeed 16GT.s/LnkSta:\\tSpeed 8GT\\/s (downgraded)/", r"(pcie|pci).*(speed|lnksta)"),
    standin("dkms not built", "dkms", "s/: installed/: added/", r"dkms"),
    standin("OFED", "ofed", "s/25.07-0.9.7/24.10-1.1.4/", r"ofed"),
    standin("Secure Boot on", "mokutil", "s/disabled/enabled/", r"secure.?boot"),
    standin("one Xid 79 in the kernel's log", "dmesg", "$a[ 9021.55] NVRM: Xid (PCI:0000:07:00): 79, pid=0, GPU has fallen off the bus.", r"(xid|off_the_bus)"),
    standin("the first GPU is gone", "smi-q", "s/^Attached GPUs .*/Attached GPUs                             : 7/;/^GPU 00000000:07/,/^$/d", r"^gpu .*(attached|count)"),
    standin("an NVLink of the last GPU is down", "nvlink", "$s/25 GB.s/<inactive>/", r"(gpu|nvlink).*(link|11)"),
    standin("Xid 63 in the kernel's log", "dmesg", "$a[ 9021.55] NVRM: Xid (PCI:0000:07:00): 63, pid=0, Row Remapper: New row marked for remapping", r"(xid|remap|dmesg|message)"),
    fault("pfc-off", r"pfc|mlnx_qos"), fault("firmware-old", r"rdma.*(firm|fw)"), fault("half-rate", r"rdma.*rate"),
    fault("nic-half-lanes", r"(pci|rdma).*width"), fault("gid-index-differs", r"rdma.*gid"), fault("trust-pcp", r"trust|mlnx_qos"),
    fault("mtu-mismatch", r"mtu"), fault("port-down", r"rdma.*(state|phys|port)"), fault("peermem-missing", r"peermem"),
    # What is real in a container.
    packages("library of another version", ["libnccl2"], r"^package.*libnccl2"),
    packages("driver's packages of another version", DRIVER, r"^package.*-580"),
    Kind("package is missing", "dpkg -P datacenter-gpu-manager", "dpkg -i /srv/debs/datacenter-gpu-manager_new.deb",
         "dpkg-query -W datacenter-gpu-manager 2>&1", r"^package.*datacenter-gpu-manager"),
    Kind("package is held", "apt-mark hold nvidia-driver-580", "apt-mark unhold nvidia-driver-580", "apt-mark showhold", r"^package.*nvidia-driver-580"),
    Kind("sysctl tcp_sack", "sysctl -qw net.ipv4.tcp_sack=0", "sysctl -qw net.ipv4.tcp_sack=1", "sysctl net.ipv4.tcp_sack", r"tcp_sack"),
    Kind("sysctl somaxconn", "sysctl -qw net.core.somaxconn=128", "sysctl -qw net.core.somaxconn=4096", "sysctl net.core.somaxconn", r"somaxconn"),
    Kind("sysctl rp_filter", "sysctl -qw net.ipv4.conf.rdma0.rp_filter=1", "sysctl -qw net.ipv4.conf.rdma0.rp_filter=0", "sysctl net.ipv4.conf.rdma0.rp_filter", r"rp_filter"),
    Kind("sysctl arp_announce", "sysctl -qw net.ipv4.conf.all.arp_announce=2", "sysctl -qw net.ipv4.conf.all.arp_announce=0", "sysctl net.ipv4.conf.all.arp_announce", r"arp_announce"),
    added("limit of a login", "/etc/security/limits.d/99-old.conf", "* hard nofile 2048\n* soft nofile 1024\n", r"(^limit|limits|nofile)"),
    edited("limit lost", "/etc/security/limits.d/50-cluster.conf", "s/nofile 20000/nofile 4096/", r"(^limit|limits|nofile)"),
    edited("environment", "/etc/environment", "$aNCCL_P2P_DISABLE=1", r"(NCCL_P2P_DISABLE|/etc/environment)"),
    added("environment of profile.d", "/etc/profile.d/zz-mpi.sh", "export LD_LIBRARY_PATH=/opt/old/lib\n", r"(LD_LIBRARY_PATH|zz-mpi)"),
    Kind("unit is masked", "systemctl mask -q --now cron", "systemctl unmask -q cron; systemctl start cron", "systemctl is-enabled cron; systemctl is-active cron", r"cron"),
    Kind("unit is stopped", "systemctl stop slurmd", "systemctl start slurmd", "systemctl is-active slurmd", r"slurmd"),
    Kind("unit has failed", "systemctl kill -s KILL nvidia-fabricmanager; sleep 0.3", "systemctl reset-failed nvidia-fabricmanager; systemctl start nvidia-fabricmanager",
         "systemctl is-active nvidia-fabricmanager", r"fabricmanager"),
    Kind("unit is disabled", "systemctl disable -q nvidia-fabricmanager", "systemctl enable -q nvidia-fabricmanager", "systemctl is-enabled nvidia-fabricmanager", r"fabricmanager"),
    added("drop-in of a unit", "/etc/systemd/system/slurmd.service.d/limits.conf", "[Service]\nLimitMEMLOCK=65536\n", r"slurmd"),
    Kind("timer", "systemctl enable -q --now burn.timer", "systemctl disable -q --now burn.timer", "systemctl is-active burn.timer", r"burn"),
    Kind("mount option", "mount -o remount,noexec /scratch", "mount -o remount,exec /scratch", "grep ' /scratch ' /proc/mounts", r"/scratch"),
    Kind("mount is missing", "umount /scratch", "mount -t tmpfs -o size=32m,mode=1777 tmpfs /scratch", "grep ' /scratch ' /proc/mounts", r"/scratch"),
    Kind("full file system", "head -c 40m /dev/zero >/scratch/core 2>/dev/null; true", "rm /scratch/core", "ls /scratch", r"/scratch"),
    Kind("library in another place", "mkdir -p /opt/old/lib; cp -L /lib/x86_64-linux-gnu/libz.so.1 /opt/old/lib/; echo /opt/old/lib >/etc/ld.so.conf.d/00-old.conf; ldconfig",
         "rm -r /opt/old /etc/ld.so.conf.d/00-old.conf; ldconfig", "ldconfig -p | grep -c /opt/old; ls -d /opt/old 2>&1", r"(ld\.so|libz|/opt/old)"),
    Kind("stray process", "cp /bin/sleep /srv/keep/gpu-burn; setsid /srv/keep/gpu-burn 100000 >/dev/null 2>&1 </dev/null & sleep 0.1", "kill $(ps -C gpu-burn -o pid=); rm /srv/keep/gpu-burn; sleep 0.1",
         "ps -C gpu-burn -o comm=", r"gpu-burn"),
    Kind("daemon is gone", "systemctl stop dbus.socket dbus", "systemctl start dbus.socket dbus", "systemctl is-active dbus", r"dbus"),
    Kind("firewall", "nft add table inet plant; nft add chain inet plant in '{ type filter hook input priority 0; }'; nft add rule inet plant in udp dport 4791 drop",
         "nft delete table inet plant", "nft list tables", r"(firewall|nft).*(plant|4791)"),
    Kind("route", "ip route add 10.9.0.0/16 via $(ip route | sed -n 's/^default via \\([^ ]*\\).*/\\1/p')", "ip route del 10.9.0.0/16", "ip route | grep -c 10.9.0", r"route.*10\.9"),
    Kind("ip rule", "ip rule add from 10.8.0.0/16 table 77 priority 300", "ip rule del priority 300", "ip rule", r"(rule|route).*(10\.8|300)"),
    Kind("mtu", "ip link set rdma3 mtu 1500", "ip link set rdma3 mtu 9000", "cat /sys/class/net/rdma3/mtu", r"(rdma3.*mtu|mtu.*rdma3)"),
    Kind("link is down", "ip link set rdma5 down", "ip link set rdma5 up", "ip -o link show rdma5 | grep -c LOWER_UP", r"rdma5"),
    Kind("qdisc", "tc qdisc replace dev rdma2 root pfifo limit 20", "tc qdisc del dev rdma2 root", "tc qdisc show dev rdma2 | grep -c pfifo", r"(qdisc|queue|tc).*(rdma2|pfifo)|rdma2.*(qdisc|queue)"),
    Kind("queue length", "ip link set rdma4 txqueuelen 10", "ip link set rdma4 txqueuelen 1000", "cat /sys/class/net/rdma4/tx_queue_len", r"(rdma4.*queue|queue.*rdma4)"),
    Kind("user", "useradd -u 4711 -M -s /usr/sbin/nologin minerd", "userdel minerd", "getent passwd minerd", r"minerd"),
    Kind("member of a group", "usermod -aG disk provision", "gpasswd -d provision disk", "id provision", r"(disk|provision|/etc/group)"),
    Kind("uid of an account", "usermod -u 6001 slurm; groupmod -g 6001 slurm", "usermod -u 6000 slurm; groupmod -g 6000 slurm", "id slurm", r"(account|user|group|passwd).*(slurm|passwd|group)"),
    edited("nccl.conf", "/etc/nccl.conf", "s/GID_INDEX=3/GID_INDEX=1/", r"nccl\.conf"),
    edited("modprobe.d", "/etc/modprobe.d/nvidia.conf", "s/$/ NVreg_EnableGpuFirmware=0/", r"modprobe\.d/nvidia"),
    edited("netplan", "/etc/netplan/60-rdma.yaml", "s/9000/1500/", r"netplan/60-rdma"),
    edited("resolv.conf", "/etc/resolv.conf", "$aoptions timeout:30 attempts:5", r"resolv\.conf|resolver"),
    edited("hosts", "/etc/hosts", "$a10.0.0.9 master", r"/etc/hosts"),
    edited("nsswitch", "/etc/nsswitch.conf", "s/^hosts:.*/hosts: dns files/", r"nsswitch"),
    edited("gres.conf", "/etc/slurm/gres.conf", "s/nvml/off/", r"gres\.conf"),
    edited("chrony.conf", "/etc/chrony/chrony.conf", "s/10.0.0.1/10.0.0.77/", r"chrony"),
    Kind("mode of a file", "chmod 600 /etc/nccl.conf", "chmod 644 /etc/nccl.conf", "stat -c %a /etc/nccl.conf", r"nccl\.conf"),
    Kind("owner of a file", "chown 1000:1000 /etc/slurm/gres.conf", "chown 0:0 /etc/slurm/gres.conf", "stat -c %u /etc/slurm/gres.conf", r"gres\.conf"),
    Kind("link of alternatives", "ln -sfn /usr/local/cuda-12.4 /etc/alternatives/cuda", "ln -sfn /usr/local/cuda-12.8 /etc/alternatives/cuda", "readlink /etc/alternatives/cuda", r"cuda"),
    Kind("link in /usr/local", "ln -sfn cuda-12.4 /usr/local/cuda", "ln -sfn cuda-12.8 /usr/local/cuda", "readlink /usr/local/cuda", r"/usr/local/cuda"),
    Kind("build in /usr/local/lib", "cp -L /lib/x86_64-linux-gnu/libz.so.1 /usr/local/lib/libnccl-net.so; ldconfig", "rm /usr/local/lib/libnccl-net.so; ldconfig", "ls /usr/local/lib/*.so 2>&1", r"libnccl-net"),
    Kind("another tree in /opt", "mv /opt/hpcx-2.21 /opt/hpcx-2.18", "mv /opt/hpcx-2.18 /opt/hpcx-2.21", "ls /opt", r"hpcx"),
    Kind("package of Python", "cd /usr/local/lib/python3.11/dist-packages; mv torch-2.9.1.dist-info torch-2.4.0.dist-info", "cd /usr/local/lib/python3.11/dist-packages; mv torch-2.4.0.dist-info torch-2.9.1.dist-info",
         "ls /usr/local/lib/python3.11/dist-packages", r"torch"),
    added("core dumps", "/etc/security/limits.d/99-core.conf", "* - core 0\n", r"(limits\.d/99-core|^limit.*core)"),
    added("sshd", "/etc/ssh/sshd_config.d/10-slow.conf", "MaxStartups 2:90:4\n", r"sshd_config\.d/10-slow"),
    added("sysctl.d", "/etc/sysctl.d/99-old.conf", "vm.zone_reclaim_mode=1\n", r"sysctl\.d/99-old"),
    added("limits of systemd", "/etc/systemd/system.conf.d/10-old.conf", "[Manager]\nDefaultLimitMEMLOCK=65536\n", r"system\.conf\.d|memlock"),
    added("udev rule", "/etc/udev/rules.d/70-old.rules", 'KERNEL=="rdma*", NAME="old%n"\n', r"udev/rules\.d/70-old"),
    added("preload", "/etc/ld.so.preload", "/lib/x86_64-linux-gnu/libz.so.1\n", r"ld\.so\.preload"),
    edited("fstab", "/etc/fstab", "$a10.0.0.5:/data /data nfs rsize=4096,soft 0 0", r"fstab"),
    edited("pam", "/etc/pam.d/common-session", "s/^session.*pam_systemd.so/# &/;$a# end", r"pam\.d/common-session"),
]


class Lab:
    def __init__(self, program, folder):
        self.program, self.inventory = os.path.abspath(program), os.path.join(folder, "inventory.yaml")
        self.environment = os.environ | {"XDG_STATE_HOME": os.path.join(folder, "state")}
        with open(self.inventory, "w", encoding="utf-8") as out:
            out.write(INVENTORY)
        self.pool = concurrent.futures.ThreadPoolExecutor(4)

    def call(self, *words, limit=900):
        return subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True, timeout=limit, check=False)

    def up(self):
        done = self.call("lab", "up", self.inventory)
        if done.returncode != 0:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        [self.ssh] = glob.glob(self.environment["XDG_STATE_HOME"] + "/provision/lab/*/ssh_config")

    def shell(self, host, script, limit=300):
        """As root on a host; what is printed."""
        done = subprocess.run(["ssh", "-F", self.ssh, host, "sudo sh"], input=f"export DEBIAN_FRONTEND=noninteractive\n{script}\n",
                              capture_output=True, text=True, timeout=limit, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{host}: status {done.returncode}: {done.stderr[-500:]}: {script[:300]}")
        return done.stdout

    def each(self, scripts):
        """The scripts of several hosts, side by side."""
        return dict(zip(scripts, self.pool.map(lambda host: self.shell(host, scripts[host]), scripts), strict=True))

    def fault(self, hosts, name):
        for host in hosts:
            done = self.call("lab", "fault", self.inventory, host, name)
            if done.returncode != 0:
                raise RuntimeError(f"{host} {name}: {done.stdout}{done.stderr}")


def deb(name, version, target):
    return (f"d=$(mktemp -d); mkdir $d/DEBIAN; printf 'Package: {name}\\nVersion: {version}\\nArchitecture: all\\n"
            f"Maintainer: lab <lab@example.org>\\nDescription: stand-in\\n' >$d/DEBIAN/control; "
            f"dpkg-deb -Znone -b $d {target} >/dev/null; rm -r $d")


def base(number):
    """What all hosts have, and what is a host's own."""
    buses = ["07", "0F", "47", "4E", "87", "90", "B7", "C3"]
    smi = "\n==============NVSMI LOG==============\n\nTimestamp                                 : Mon Nov 30 12:00:00 2026\n"
    smi += "Driver Version                            : 580.95.05\nCUDA Version                              : 13.0\n\n"
    smi += f"Attached GPUs                             : {len(buses)}\n"
    pci = ""
    for index, bus in enumerate(buses):
        smi += f"GPU 00000000:{bus}:00.0\n" + GPU.format(host=number, number=index, bus=int(bus, 16))
        pci += LSPCI.format(bus=bus.lower(), what="3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)", maker="NVIDIA Corporation",
                            device="1463", slot=index + 1, irq=100 + 8 * number + index, driver="nvidia")
        pci += LSPCI.format(bus=f"{int(bus, 16) + 3:02x}", what="Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]",
                            maker="Mellanox Technologies", device="0007", slot=index + 21, irq=300 + 8 * number + index, driver="mlx5_core")
    stand_ins = {"smi-q": smi, "lspci": pci, "dkms": "nvidia/580.95.05, 6.1.0-41-amd64, x86_64: installed\n",
                 "ofed": "MLNX_OFED_LINUX-25.07-0.9.7:\n", "mokutil": "SecureBoot disabled\n",
                 "dmesg": f"[    0.00] Linux version 6.1.0-41-amd64\n[ {number + 3}.12] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05\n"}
    stand_ins |= {f"ethtool{option}": text for option, text in ETHTOOL.items()}
    script = ["set -e", "mkdir -p /srv/stand-in /srv/keep /srv/debs /scratch"]
    script += [file(f"/srv/stand-in/{name}", text) for name, text in stand_ins.items()]
    script += ["/usr/local/bin/nvidia-smi topo -m >/srv/stand-in/topo", "/usr/local/bin/nvidia-smi nvlink -s >/srv/stand-in/nvlink"]
    for name, text in WRAPPERS.items():
        script += [file(f"/usr/local/sbin/{name}", f"#!/bin/sh\n{text}\n"), f"chmod 755 /usr/local/sbin/{name}"]
    script.append(DEVICE)
    script += [file(path, text) for path, text in FILES.items()]
    script += [file(f"/etc/systemd/system/{name}", text) for name, text in UNITS.items()]
    for name, version in PACKAGES.items():
        script.append(deb(name, version, f"/srv/debs/{name}_new.deb"))
        if name in OLD:
            script.append(deb(name, OLD[name], f"/srv/debs/{name}_old.deb"))
    script += [deb(name, f"1.{index}", f"/srv/debs/{name}.deb") for index, name in enumerate(TRIFLES)]
    script.append(deb("slurm-wlm-doc", "24.11", "/srv/debs/slurm-wlm-doc.deb"))
    script += ["dpkg -i /srv/debs/*_new.deb >/dev/null", "ln -s /usr/local/cuda-12.8 /etc/alternatives/cuda", "ln -s cuda-12.8 /usr/local/cuda",
               "groupadd -g 6000 slurm; useradd -M -u 6000 -g slurm slurm", "mount -t tmpfs -o size=32m,mode=1777 tmpfs /scratch",
               "systemctl daemon-reload; systemctl enable -q --now nvidia-fabricmanager slurmd", "sysctl -qw net.core.somaxconn=4096"]
    return "\n".join(script)


def innocent(rng):
    """Some two hundred differences that mean nothing: (hosts, script)."""
    makers = [
        lambda word, n: file(f"/etc/{word}.conf", f"{word} = {n}\n"),
        lambda word, n: f"echo 'Welcome to {word} {n}' >>/etc/motd",
        lambda word, n: f"useradd -M -u {3000 + n} -s /usr/sbin/nologin {word}{n}",
        lambda word, n: file(f"/usr/local/bin/{word}{n}", "#!/bin/sh\necho hello\n"),
        lambda word, n: file(f"/usr/local/share/{word}/{n}", word),
        lambda word, n: file(f"/etc/profile.d/{word}{n}.sh", f"export {word.upper()}{n}={n}\n"),
        lambda word, n: f"sysctl -qw net.ipv4.{['icmp_ratelimit', 'igmp_max_memberships', 'tcp_probe_interval', 'ip_default_ttl'][n % 4]}={100 + n}",
        lambda word, n: file(f"/etc/cron.d/{word}{n}", f"{n % 60} 4 * * * root true\n"),
        lambda word, n: file(f"/var/log/{word}{n}.log", "done\n"),
        lambda word, n: f"echo '# {word} {n}' >>/etc/ssh/ssh_config",
        lambda word, n: f"ln -sf /usr/share/zoneinfo/Etc/GMT+{n % 12} /etc/localtime",
        lambda word, n: file("/etc/default/locale", f"LANG={['C', 'C.UTF-8', 'POSIX'][n % 3]}\n"),
        lambda word, n: f"cp /bin/sleep /tmp/{word}d{n}; setsid /tmp/{word}d{n} 1000000 >/dev/null 2>&1 </dev/null &",
        lambda word, n: f"dpkg -i /srv/debs/{TRIFLES[n % len(TRIFLES)]}.deb >/dev/null",
        lambda word, n: file(f"/etc/systemd/system/{word}{n}.service", "[Service]\nExecStart=/bin/true\n"),
        lambda word, n: file(f"/opt/{word}{n}/README", word),
        lambda word, n: file(f"/etc/logrotate.d/{word}{n}", f"/var/log/{word}.log {{ weekly }}\n"),
        lambda word, n: file(f"/etc/apt/apt.conf.d/90{word}{n}", 'APT::Install-Recommends "0";\n'),
        lambda word, n: file(f"/etc/sudoers.d/{word}{n}", f"# {word}\n"),
        lambda word, n: f"ip route add blackhole 192.0.2.{n}/32",
        lambda word, n: f"mkdir -p /usr/local/lib/python3.11/dist-packages/{word}-{n}.0.dist-info",
        lambda word, n: f"groupadd -g {3500 + n} {word}g{n}",
        lambda word, n: f"mkdir -p /mnt/{word}{n}; mount -t tmpfs -o size=1m tmpfs /mnt/{word}{n}",
        lambda word, n: file(f"/etc/skel/.{word}{n}", word),
        lambda word, n: f"echo 'alias {word}{n}=true' >>/etc/bash.bashrc",
    ]
    things = []
    for count in range(200):
        size = rng.choice([1, 1, 2, 3, 5, 6, 6, 7, 9])
        make = makers[count % len(makers)]
        things.append((rng.sample(HOSTS, size), make(rng.choice(WORDS), count)))
    return things


# Harmless things that follow the groups: put on the bad hosts of a round, and taken away after it.
FOLLOWERS = ["/etc/motd.d/today", "/etc/issue.d/hello.issue", "/root/.bash_aliases", "/etc/bash_completion.d/mine", "/usr/local/share/man/man1/mine.1",
             "/etc/vim/vimrc.local", "/etc/skel/.inputrc", "/usr/share/doc/mine/README", "/etc/update-motd.d/99-mine", "/usr/local/share/fonts/mine.ttf",
             "/etc/xdg/mine.conf", "/etc/nanorc.d/mine", "/var/log/mine.log", "/etc/papersize", "/root/.vimrc", "/etc/emacs/site-start.d/mine.el",
             "/usr/share/man/man7/mine.7", "/etc/apt/apt.conf.d/99mine", "/etc/logrotate.d/mine", "/etc/dictionaries-common/mine"]


def follow(bad_doc):
    put = "\n".join(file(path, "# harmless\n") for path in FOLLOWERS)
    take = "rm " + " ".join(FOLLOWERS)
    if bad_doc:
        put, take = put + "\ndpkg -i /srv/debs/slurm-wlm-doc.deb >/dev/null", take + "; dpkg -P slurm-wlm-doc >/dev/null"
    return put, take


def names(finding):
    return [f"{finding['kind']} {key}" for key in [finding["key"], *finding.get("more", [])]]


def one_round(lab, kinds, rng):
    """Plants the kinds on the same hosts; of each, its rank when the answers that mean the others are left out."""
    bad = sorted(rng.sample(HOSTS, rng.randint(1, 4)))
    put, take = follow(rng.random() < 0.25)
    look = "\n".join(f"( {kind.look} ); echo @@@@" for kind in kinds)
    plant = "\n".join(f"( {kind.plant or 'true'} ) >/dev/null" for kind in kinds)
    undo = "\n".join(f"( {kind.undo or 'true'} ) >/dev/null" for kind in reversed(kinds))
    before = lab.each(dict.fromkeys(bad, look))
    lab.each(dict.fromkeys(bad, f"{put}\n{plant}"))
    faults = [kind.fault for kind in kinds if kind.fault]
    for fault in faults:
        lab.fault(bad, fault)
    planted = lab.each(dict.fromkeys(bad, (DEVICE if faults else "") + "\n" + look))
    began = time.monotonic()
    done = lab.call("compare", lab.inventory, "--bad", ",".join(bad), "--json", "-")
    seconds = time.monotonic() - began
    if faults:
        lab.fault(bad, "none")
    after = lab.each(dict.fromkeys(bad, f"{take}\n{undo}\n" + (DEVICE if faults else "") + "\n" + look))
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"findings": [], "crash": done.stdout[-1500:]}
    findings = answer.pop("findings")
    results = []
    for index, kind in enumerate(kinds):
        parts = [[texts[host].split("@@@@")[index].strip() for host in bad] for texts in (before, planted, after)]
        others = [other.fair for other in kinds if other is not kind]
        result = {"kind": kind.name, "with": [other.name for other in kinds if other is not kind], "real": kind.real, "bad": bad,
                  "planted": bool(kind.fault) or all(old != new for old, new in zip(parts[0], parts[1], strict=True)),
                  "undone": parts[0] == parts[2], "seconds": round(seconds, 1), "code": done.returncode, "stderr": done.stderr[-1500:],
                  "rank": None, "by": None, "count": len(findings), "top": findings[:12]} | answer
        rank = 0
        for finding in findings:
            found = [name for name in names(finding) if kind.fair.search(name)]
            rank += bool(found) or not any(other.search(name) for other in others for name in names(finding))
            if found:
                result |= {"rank": rank, "by": found[0], "beside": found[0] != names(finding)[0], "finding": finding}
                break
        results.append(result)
    return results


def untouched(lab, host):
    """What a compare changes on a host: files that are newer than its start."""
    where = r"-path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /dev -o -path /var/log -o -path /srv/stamp"
    lab.shell(host, "touch /srv/stamp; sleep 1.1")
    lab.call("compare", lab.inventory, "--bad", host, "--json", "-")
    return lab.shell(host, f"find / -xdev \\( {where} \\) -prune -o \\( -newer /srv/stamp -o -cnewer /srv/stamp \\) -print; "
                           "find /tmp /run /var/log -xdev -newer /srv/stamp; rm /srv/stamp").split("\n")


def table(results):
    lines = [f"{'kind':44} {'what':9} rounds  first  three  missed: rank or -"]
    for name in sorted({result["kind"] for result in results}):
        mine = [result for result in results if result["kind"] == name]
        ranks = [result["rank"] for result in mine]
        missed = [str(rank or "-") for rank in ranks if not rank or rank > 3]
        lines.append(f"{name:44} {'real' if mine[0]['real'] else 'stand-in':9} {len(mine):6} {ranks.count(1):6} {len(mine) - len(missed):6}  {' '.join(missed)}")
    hits = sum(1 for result in results if result["rank"] and result["rank"] <= 3)
    lines.append(f"{len(results)} rounds, {hits} among the first three, {sum(1 for result in results if result['rank'] == 1)} first")
    times = sorted(result["seconds"] for result in results)
    if times:
        lines.append(f"a run: {times[0]} s at least, {times[len(times) // 2]} s in the middle, {times[-1]} s at most")
    wrong = [f"{result['kind']}: {'not planted' if not result['planted'] else 'not undone'}" for result in results if not result["planted"] or not result["undone"]]
    return "\n".join(lines + wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provision", default="target/release/provision")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--until", type=float, default=36000, help="start no round after this many seconds")
    parser.add_argument("--kinds", help="only these, separated by commas")
    parser.add_argument("--at-once", type=int, default=1, help="plants in a round, on the same hosts")
    parser.add_argument("--results", default=os.devnull, help="one JSON object a round is added to this file")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{kind.name:44} {'real' if kind.real else 'stand-in':9} {kind.fair.pattern}" for kind in KINDS))
        return 0
    began, rng, results = time.monotonic(), random.Random(options.seed), []
    kinds = [kind for kind in KINDS if not options.kinds or kind.name in options.kinds.split(",")]
    rounds = len(kinds) if options.kinds else options.rounds
    order = [kind for _ in range(rounds // len(kinds) + 1) for kind in rng.sample(kinds, len(kinds))][:rounds]
    if options.at_once > 1:  # what is real goes with a stand-in: one fault of a profile at a time
        real, rest = [kind for kind in order if kind.real], [kind for kind in order if not kind.real]
        order = [kind for pair in itertools.zip_longest(real, rest) for kind in pair if kind]
    with tempfile.TemporaryDirectory() as folder, open(options.results, "a", encoding="utf-8") as log:
        lab = Lab(options.provision, folder)
        try:
            lab.up()
            lab.each({host: base(number) for number, host in enumerate(HOSTS)})
            things = innocent(rng)
            lab.each({host: "\n".join(f"( {script} ) || true" for hosts, script in things if host in hosts) for host in HOSTS})
            print(f"{len(HOSTS)} hosts, {len(things)} innocent differences, after {time.monotonic() - began:.0f} s", flush=True)
            print("newer on a host after a compare:", " ".join(untouched(lab, HOSTS[0])) or "nothing", flush=True)
            for first in range(0, len(order), options.at_once):
                if time.monotonic() - began > options.until:
                    break
                try:
                    these = order[first:first + options.at_once]
                    some = one_round(lab, these, rng)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    print(f"{these[0].name}: {error}", flush=True)
                    continue
                results += some
                for result in some:
                    log.write(json.dumps(result) + "\n")
                    print(f"{result['kind']:40} rank {result['rank'] or '-'} of {result['count']}  {result['by'] or ''}  {result['seconds']} s", flush=True)
                log.flush()
        finally:
            print(table(results), flush=True)
            lab.call("lab", "down", lab.inventory)
    return 0 if all(result["rank"] and result["rank"] <= 3 for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
