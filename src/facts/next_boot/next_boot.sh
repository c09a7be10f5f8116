# What the kernel that boots next will find: its modules, their symbols and signers, its initramfs, the way in. Nothing
# is loaded, written or changed. Where another boots this machine, nothing is asked.
running=''
read -r running </proc/sys/kernel/osrelease
find_next_kernel
kernel=${next:-$running}
tree=/lib/modules/$kernel
# Where other kernels have an initramfs this one needs one.
initrd='' lacking=''
for file in /boot/initrd.img-* /boot/initramfs-*.img; do
    [ ! -s "$file" ] || lacking=missing
done
for file in "/boot/initrd.img-$kernel" "/boot/initramfs-$kernel.img"; do
    [ ! -e "$file" ] || lacking=empty
    [ ! -s "$file" ] || initrd=$file
done
[ -z "$initrd" ] || lacking=''
# The firmware keeps Secure Boot as it is over a boot. Four bytes of attributes, then the value.
secure=''
for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
    [ -e "$variable" ] || continue
    secure=$(od -An -t u1 -j 4 -N 1 "$variable" 2>/dev/null) || secure='?'
done
begin boot
printf 'running=%s\nnext=%s\nkernel=%s\n' "$running" "$next" "$kernel"
printf 'loader=%s\ndefault=%s\nastray=%s\nargs=%s\n' "$loader" "$default" "$astray" "$next_args"
printf 'initrd=%s\nlacking=%s\nsecure=%s\n' "$initrd" "$lacking" "${secure##* }"
if [ ! -e "/boot/vmlinuz-$kernel" ]; then
    finish 0
    exit 0
fi
printf 'image=/boot/vmlinuz-%s\n' "$kernel"
# What grub.cfg is made of. With grubby the entry itself is what was declared.
if [ "$loader" = grub ]; then
    for file in /etc/default/grub /etc/default/grub.d/*.cfg; do
        [ -r "$file" ] || continue
        while IFS= read -r line; do
            case $line in GRUB_CMDLINE_LINUX=* | GRUB_CMDLINE_LINUX_DEFAULT=*) printf 'grub=%s %s\n' "$file" "$line" ;; esac
        done <"$file"
    done
fi
# Drivers of cards and disks must be there; what else is loaded may not be lost.
must='' keep=''
must() {
    case " $must " in *" $1 "*) return ;; esac
    must="$must $1"
    printf 'must=%s %s\n' "$1" "$2"
}
keep() {
    case " $must $keep " in *" $1 "*) return ;; esac
    keep="$keep $1"
    printf 'keep=%s %s\n' "$1" "$2"
}
for link in /sys/class/net/*; do
    [ -d "$link" ] || continue
    [ ! -d "$link/bonding" ] || must bonding "${link##*/}"
    [ ! -d "$link/bridge" ] || must bridge "${link##*/}"
    [ ! -e "/proc/net/vlan/${link##*/}" ] || must 8021q "${link##*/}"
    if cd -P "$link/device/driver/module" 2>/dev/null; then
        must "${PWD##*/}" "${link##*/}"
    fi
done
for device in /sys/bus/pci/devices/*; do
    vendor='' class=''
    { read -r vendor <"$device/vendor" && read -r class <"$device/class"; } 2>/dev/null || continue
    cd -P "$device/driver/module" 2>/dev/null || continue
    case $class in
    0x01* | 0x02* | 0x0c06*) must "${PWD##*/}" "${device##*/}" ;;
    *) [ "$vendor" != 0x10de ] || keep "${PWD##*/}" "${device##*/}" ;;
    esac
done
cd / || exit 1
for module in /sys/module/*; do
    [ -e "$module/initstate" ] || continue
    name=${module##*/}
    case $name in
    ib_* | rdma_* | mlx4_* | mlx5_* | mlx_* | irdma | erdma | efa | bnxt_re | iw_* | siw | nvidia*) keep "$name" loaded ;;
    esac
done
for file in /etc/modules /etc/modules-load.d/*.conf; do
    [ -r "$file" ] || continue
    from=$file
    while read -r name _; do
        case $name in '' | '#'* | ';'*) ;; *) keep "$name" "$from" ;; esac
    done <"$file"
done
finish 0
# depends KERNEL: what would be loaded there for them, in order, and what is not on disk.
depends() {
    begin "modprobe -S $1 -a --show-depends"
    status=missing
    if command -v modprobe >/dev/null 2>&1; then
        status=0
        # shellcheck disable=SC2086 # names of modules
        text=$(timeout -k 2 15 modprobe -S "$1" -a --show-depends $must $keep 2>&1) || status=$?
        printf '%s\n' "$text"
    fi
    finish "$status"
}
files='' foreign=''
if [ -n "$must$keep" ]; then
    # Modules that this kernel has on disk, and the next one not, will be lost.
    [ "$running" = "$kernel" ] || depends "$running"
    text=''
    depends "$kernel"
    while read -r word path _; do
        [ "$word" = insmod ] || continue
        case " $files " in *" $path "*) ;; *) files="$files $path" ;; esac
    done <<END
$text
END
fi
set --
for directory in "$tree/updates" "$tree/extra" "$tree/weak-updates"; do
    [ ! -d "$directory" ] || set -- "$@" "$directory"
done
unlisted=''
if [ $# -gt 0 ]; then
    foreign=$(find "$@" -name '*.ko*' 2>/dev/null) || unlisted=1
fi
# shellcheck disable=SC2086 # paths of modules, which have no spaces
set -- $files
# What modinfo prints has the signature itself in it, a hundred lines for each module.
fields='^(filename|name|vermagic|intree|depends|signer|sig_key|sig_id):'
others='' count=0
for path in $foreign; do
    [ "$count" -lt 400 ] || break
    count=$((count + 1))
    case " $files " in *" $path "*) ;; *) others="$others $path" ;; esac
done
# A file that was written just before a loss of power may be empty, and modinfo tells nothing of any file then.
full=''
begin empty
for path in $files $others; do
    if [ -s "$path" ]; then
        full="$full $path"
    else
        printf '%s\n' "$path"
    fi
done
finish 0
if [ -n "$full$unlisted" ]; then
    [ -z "$unlisted" ] || lost find
    # shellcheck disable=SC2086 # the same
    most=20000 sift_as modinfo "$fields" 20 modinfo $full
fi
# The versions of symbols that each of them imports against those that the others export. Those of the kernel itself
# are known where its headers are.
if [ -n "$files" ]; then
    wrong='disagrees about version of symbol'
    if [ -r "$tree/build/Module.symvers" ]; then
        sift_as 'depmod -n -e -E Module.symvers' "$wrong|needs unknown symbol" 20 \
            depmod -n -e -E "$tree/build/Module.symvers" "$kernel" "$@"
    elif [ -r "$tree/symvers.gz" ] && gzip -t "$tree/symvers.gz" 2>/dev/null; then
        gzip -dc "$tree/symvers.gz" | sift_as 'depmod -n -e -E symvers.gz' "$wrong|needs unknown symbol" 20 \
            depmod -n -e -E /dev/stdin "$kernel" "$@"
    else
        sift_as 'depmod -n -e -E /dev/null' "$wrong" 20 depmod -n -e -E /dev/null "$kernel" "$@"
    fi
fi
# An initramfs that holds a module loads its own copy of it.
names=''
for path in $files; do
    case $path in "$tree"/kernel/*) continue ;; esac
    name=${path##*/} expression=''
    name=${name%%.ko*}
    while :; do
        case $name in
        *[-_]*)
            expression="$expression${name%%[-_]*}[-_]"
            name=${name#*[-_]}
            ;;
        *) break ;;
        esac
    done
    names="$names${names:+|}$expression$name"
done
if [ -n "$names" ] && [ -n "$initrd" ]; then
    tool=lsinitramfs
    command -v "$tool" >/dev/null 2>&1 || ! command -v lsinitrd >/dev/null 2>&1 || tool=lsinitrd
    sift "/($names)\\.ko" 30 "$tool" "$initrd"
    begin newer
    # shellcheck disable=SC2086 # the same
    find -L $files -newer "$initrd" 2>/dev/null || lost find
    finish 0
fi
case " $next_args " in *' module.sig_enforce=1 '* | *' module.sig_enforce '*) secure=1 ;; esac
if [ "${secure##* }" = 1 ] && [ -n "$files$others" ]; then
    ask 5 mokutil --sb-state
    ask 5 mokutil --list-enrolled
    begin keys
    while IFS= read -r line; do
        case $line in *' asymmetri '*) printf '%s\n' "${line#* asymmetri }" ;; esac
    done </proc/keys
    finish 0
fi
# The way in: the link of this login's address, else that of the default route.
begin network
address=${SSH_CONNECTION-}
case $address in
*' '*' '*' '*)
    address=${address#* * }
    address=${address%% *}
    ;;
*) address='' ;;
esac
link=''
if [ -n "$address" ] && command -v ip >/dev/null 2>&1; then
    addresses=$(ip -o addr 2>/dev/null) || lost ip
    while read -r _ device _ seen _; do
        [ "${seen%/*}" != "$address" ] || link=${device%%@*}
    done <<END
$addresses
END
fi
if [ -z "$link" ]; then
    address='' best=''
    while read -r device destination _ _ _ _ metric mask _; do
        [ "$destination$mask" = 0000000000000000 ] || continue
        if [ -z "$best" ] || [ "$metric" -lt "$best" ]; then
            best=$metric link=$device
        fi
    done </proc/net/route
fi
printf 'link=%s\naddress=%s\n' "$link" "$address"
index='' unit='' id=''
[ ! -r "/sys/class/net/$link/ifindex" ] || read -r index <"/sys/class/net/$link/ifindex"
if [ -n "$index" ] && [ -r "/run/systemd/netif/links/$index" ]; then
    while IFS='=' read -r key line; do
        case $key in
        ADMIN_STATE) printf 'networkd=%s\n' "$line" ;;
        NETWORK_FILE)
            unit=systemd-networkd.service
            printf 'network_file=%s\n' "$line"
            [ ! -e "$line" ] || printf 'network_file_is_there=1\n'
            case $line in
            /run/systemd/network/10-netplan-*)
                id=${line#*10-netplan-}
                id=${id%.network}
                ;;
            esac
            ;;
        esac
    done <"/run/systemd/netif/links/$index"
fi
uuid=''
if [ -n "$index" ] && [ -r "/run/NetworkManager/devices/$index" ]; then
    while IFS='=' read -r key line; do
        case $key in
        managed) printf 'networkmanager=%s\n' "$line" ;;
        connection-uuid) uuid=$line ;;
        esac
    done <"/run/NetworkManager/devices/$index"
fi
if [ -n "$uuid" ] && command -v nmcli >/dev/null 2>&1; then
    unit=NetworkManager.service
    connections=$(timeout -k 1 5 nmcli -t -f UUID,AUTOCONNECT,FILENAME connection show 2>/dev/null) ||
        # It does not run.
        [ $? = 8 ] || lost nmcli
    while IFS= read -r line; do
        case $line in "$uuid:"*) ;; *) continue ;; esac
        line=${line#"$uuid:"}
        printf 'connection=%s\n' "$line"
        case $line in
        */netplan-*.nmconnection)
            id=${line##*/netplan-}
            id=${id%.nmconnection}
            ;;
        esac
    done <<END
$connections
END
fi
if [ -n "$link" ] && [ -r /etc/network/interfaces ]; then
    for file in /etc/network/interfaces /etc/network/interfaces.d/*; do
        [ -r "$file" ] || continue
        while read -r word line; do
            case "$word $line " in
            'iface '"$link "*) [ -n "$unit" ] || unit=networking.service ;;
            auto*" $link "* | allow-*" $link "*) ;;
            *) continue ;;
            esac
            printf 'stanza=%s %s\n' "$word" "$line"
        done <"$file"
    done
fi
printf 'unit=%s\nnetplan=%s\n' "$unit" "$id"
yaml=''
for file in /etc/netplan/*.yaml /usr/lib/netplan/*.yaml; do
    [ -e "$file" ] || continue
    if [ ! -r "$file" ]; then
        printf 'unreadable=%s\n' "$file"
        continue
    fi
    yaml=1
    [ -n "$id" ] || continue
    while read -r line; do
        case $line in "$id:"* | "\"$id\":"* | "'$id':"*) printf 'yaml=%s\n' "$file" ;; esac
    done <"$file"
done
finish 0
[ -z "$unit" ] || ask 5 systemctl is-enabled "$unit"
# All that it prints may hold passwords: the names of links, and who gives them their addresses, do not.
if [ -n "$yaml" ] && command -v netplan >/dev/null 2>&1; then
    sift '^ {4}[^ ].*:( [{][}])?$|^ {6}(dhcp[46]|addresses|networkmanager):' 10 netplan get
fi
begin complete
finish 0
