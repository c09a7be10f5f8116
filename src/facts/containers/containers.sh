# Containers on this host: which runtimes there are, how they give GPUs to containers, what systemd knows of it, and who
# may start them. Nothing is started: a socket that starts its daemon is looked at and not opened.
begin containers
for tool in dockerd containerd crio podman runc crun apptainer singularity enroot nvidia-ctk nvidia-container-runtime \
    nvidia-container-runtime-hook; do
    ! command -v "$tool" >/dev/null 2>&1 || printf 'program=%s\n' "$tool"
done
[ ! -d /run/systemd/system ] || printf 'systemd=1\n'
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || printf 'cgroup=2\n'
# Root's sockets, through which containers are started: mode, owner and group of each, and who is in that group.
groups=''
for socket in /run/docker.sock /run/containerd/containerd.sock /run/crio/crio.sock /run/podman/podman.sock \
    /run/buildkit/buildkitd.sock; do
    [ -S "$socket" ] || continue
    # A directory that others may not enter keeps the socket from them.
    if ! way=$(stat -c %a -- "${socket%/*}") || ! seen=$(stat -c '%a %u %g' -- "$socket"); then
        lost stat
        continue
    fi
    printf 'socket=%s %s %s\n' "$socket" "$way" "$seen"
    case " $groups " in *" ${seen##* } "*) ;; *) groups="$groups ${seen##* }" ;; esac
done
for group in $groups; do
    [ "$group" != 0 ] || continue
    line=$(getent group "$group") || {
        [ $? = 2 ] || lost getent
        continue
    }
    printf 'group=%s\n' "$line"
done
# Settings of engines: only the words that are asked for are told, since registries have passwords there.
said() {
    [ -r "$2" ] || return 0
    found=$(grep -oE "$3" "$2" 2>/dev/null) || {
        [ $? = 1 ] || lost grep
        return 0
    }
    printf '%s\n' "$found" | while IFS= read -r line; do
        printf '%s=%s\n' "$1" "$line"
    done
}
space='[[:space:]]*'
said docker /etc/docker/daemon.json "native[.]cgroupdriver=[a-z]+|\"(cdi|default-runtime)\"$space:${space}[\"a-z-]+|nvidia-container-runtime"
for file in /etc/containerd/config.toml /etc/containerd/conf.d/*.toml; do
    said containerd "$file" "^$space(SystemdCgroup|enable_cdi|default_runtime_name)$space=${space}[\"'a-z-]+|^${space}version$space=${space}[0-9]"
done
for file in /etc/crio/crio.conf /etc/crio/crio.conf.d/*.conf; do
    said crio "$file" "^${space}cgroup_manager$space=$space\"[a-z]+"
done
for file in /usr/share/containers/containers.conf /etc/containers/containers.conf /etc/containers/containers.conf.d/*.conf; do
    said podman "$file" "^${space}cgroup_manager$space=$space\"[a-z]+"
done
said toolkit /etc/nvidia-container-runtime/config.toml "^${space}mode$space=$space\"[a-z-]+|^${space}no-cgroups$space=${space}[a-z]+"
# Specifications of CDI: which driver and which GPUs they are of. One that others could write is read all the same, since
# the runtime reads it; that they could is told below.
for file in /etc/cdi/* /run/cdi/*; do
    case $file in *.yaml | *.json) ;; *) continue ;; esac
    held "$file" || {
        case $held_why in 'stat is not '*) lost stat ;; esac
        continue
    }
    text=$(head -c 1048576 <&3) || lost head
    exec 3<&-
    found=$(printf '%s\n' "$text" | grep -oE 'nvidia[.]com/[a-z]+|libcuda[.]so[.][0-9]+[.][0-9.]+[0-9]|/dev/nvidia[0-9]+') ||
        [ $? = 1 ] || lost grep
    case $found in *nvidia.com/gpu*) ;; *) continue ;; esac
    printf 'cdi=%s\n' "$file"
    printf '%s\n' "$found" | while IFS= read -r line; do
        case $line in
        libcuda.so.*) printf 'cdi_driver=%s %s\n' "$file" "${line#libcuda.so.}" ;;
        /dev/*) printf 'cdi_device=%s %s\n' "$file" "$line" ;;
        esac
    done
done
# Where runc has systemd hold the rules of a container, it names devices by /dev/char.
for device in /dev/nvidia* /dev/nvidia-caps/*; do
    [ -c "$device" ] || continue
    numbers=$(stat -c '%t %T' -- "$device") || {
        lost stat
        continue
    }
    link=/dev/char/$((0x${numbers% *})):$((0x${numbers#* }))
    if [ -e "$link" ]; then printf 'device=%s linked\n' "$device"; else printf 'device=%s bare\n' "$device"; fi
done
# Directories that a runtime of root takes mounts, devices and programs from.
for place in /etc/cdi /run/cdi /etc/containers/oci/hooks.d /usr/share/containers/oci/hooks.d /usr/libexec/oci/hooks.d \
    /etc/enroot /etc/enroot/hooks.d /etc/docker /etc/containerd /etc/nvidia-container-runtime; do
    [ -d "$place" ] || continue
    for file in "$place" "$place"/*; do
        [ -e "$file" ] || continue
        rooted "$file" || case $rooted_why in
        'cannot look at '*) lost ls ;;
        *) printf 'open=%s: %s\n' "$file" "$rooted_why" ;;
        esac
    done
done
# Whether accounts without rights may make user namespaces, which containers of theirs begin with.
value userns_clone /proc/sys/kernel/unprivileged_userns_clone
value userns_apparmor /proc/sys/kernel/apparmor_restrict_unprivileged_userns
value userns_most /proc/sys/user/max_user_namespaces
for profile in /etc/apparmor.d/*; do
    case ${profile##*/} in
    apptainer* | singularity* | enroot* | podman* | crun*) printf 'profile=%s\n' "${profile##*/}" ;;
    esac
done
finish 0
for tool in nvidia-ctk runc; do
    path=$(command -v "$tool" 2>/dev/null) || continue
    if rooted "$path"; then
        ask 5 "$tool" --version
    else
        begin "$tool" --version
        finish 126
        printf 'not run: %s\n' "$rooted_why"
    fi
done
:
