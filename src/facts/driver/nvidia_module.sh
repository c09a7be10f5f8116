# What of the NVIDIA module is loaded, and what of it is on disk. Neither modprobe nor nvidia-smi is called:
# both would load it.

# The version of the module that is loaded; fails where none is.
nvidia_loaded() {
    line=''
    { read -r line </sys/module/nvidia/version; } 2>/dev/null || [ -n "$line" ] || return 1
    printf '%s\n' "$line"
}
# nvidia_on_disk HOW [-k KERNEL]: modinfo of the module, run by HOW. The file of Debian's module has another
# name.
nvidia_on_disk() {
    how=$1
    shift
    for module in nvidia nvidia-current nvidia-current-open; do
        # shellcheck disable=SC2086 # a command and its deadline
        $how modinfo "$@" "$module" && return
    done
    return 1
}
