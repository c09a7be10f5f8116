# Asks about the NVIDIA driver: its packages, its module on disk for each kernel, the module that is
# loaded, and what stands in the way. Neither modprobe nor nvidia-smi is called: both would load it.
release=''
read -r release </proc/sys/kernel/osrelease
printf 'running=%s\n' "$release"
if [ -d /sys/module/nvidia ]; then
    version='' users='' banner=''
    { read -r version </sys/module/nvidia/version; } 2>/dev/null
    { read -r users </sys/module/nvidia/refcnt; } 2>/dev/null
    { IFS= read -r banner </proc/driver/nvidia/version; } 2>/dev/null
    printf 'loaded=%s\nusers=%s\nbanner=%s\n' "$version" "$users" "$banner"
fi
[ ! -d /sys/module/nouveau ] || printf 'nouveau=true\n'
for directory in /lib/modules/*; do
    [ -d "$directory" ] || continue
    kernel=${directory##*/}
    printf 'kernel=%s\n' "$kernel"
    [ ! -e "$directory/build/Makefile" ] || printf 'headers=true\n'
    # The file of Debian's module has another name.
    for module in nvidia nvidia-current nvidia-current-open; do
        version=$(modinfo -k "$kernel" -F version "$module" 2>/dev/null)
        [ -n "$version" ] || continue
        printf 'version=%s\nlicense=%s\n' "$version" "$(modinfo -k "$kernel" -F license "$module" 2>/dev/null)"
        break
    done
done
for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
    [ -r "$variable" ] || continue
    # Four bytes of attributes, then the value.
    case $(od -An -t u1 -j 4 -N 1 "$variable" 2>/dev/null) in
    *1*) secure=true ;;
    *) secure=false ;;
    esac
    printf 'secure_boot=%s\n' "$secure"
    [ "$secure" = true ] || continue
    for key in /var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub; do
        [ -r "$key" ] || continue
        case $(mokutil --test-key "$key" 2>&1) in
        *'already enrolled'*) printf 'enrolled=%s\n' "$key" ;;
        esac
    done
done
for file in /usr/bin/nvidia-uninstall /usr/bin/nvidia-installer; do
    [ -e "$file" ] || continue
    if dpkg -S "$file" >/dev/null 2>&1 || rpm -qf "$file" >/dev/null 2>&1; then continue; fi
    printf 'runfile=%s\n' "$file"
    break
done
if command -v dpkg-query >/dev/null 2>&1; then
    dpkg-query -W -f 'package=${db:Status-Abbrev} ${Package} ${Version}\n' '*nvidia*' libcuda1 'cuda-drivers*' 2>/dev/null
elif command -v rpm >/dev/null 2>&1; then
    rpm -qa --qf 'package=ii  %{NAME} %{EVR}\n' '*nvidia*' 'cuda-drivers*' 2>/dev/null
    for file in /etc/dnf/plugins/versionlock.list /etc/yum/pluginconf.d/versionlock.list; do
        [ -r "$file" ] || continue
        printf 'versionlock=true\n'
        while IFS= read -r line; do
            case $line in '#'* | '!'*) ;; *nvidia*) printf 'locked=true\n' ;; esac
        done <"$file"
        break
    done
fi
printf 'end\n'
