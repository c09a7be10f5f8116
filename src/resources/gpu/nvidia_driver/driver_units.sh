# Services that hold the NVIDIA module, which give it back and get it again. Sets $stopped.
stopped=''
stop_units() {
    [ -d /run/systemd/system ] || return 0
    for unit in nvidia-dcgm nvidia-fabricmanager nvidia-imex nvidia-persistenced; do
        systemctl is-active --quiet "$unit" || continue
        systemctl stop "$unit" || return
        stopped="$unit $stopped"
    done
}
start_units() {
    left=''
    for unit in $stopped; do
        systemctl start "$unit" || left="$left $unit"
    done
    [ -n "$left" ] || return 0
    printf 'stopped for the change, and not started again:%s\n' "$left" >&2
    return 1
}
# Modules that stand on each other, the upper ones first. Sets $unloaded to those besides nvidia.
unloaded=''
unload_modules() {
    for module in nvidia_fs gdrdrv nvidia_peermem nvidia_drm nvidia_modeset nvidia_uvm nvidia; do
        [ -d "/sys/module/$module" ] || continue
        modprobe -r "$module" || return
        [ "$module" = nvidia ] || unloaded="$module $unloaded"
    done
}
# Loads what unload_modules took away besides nvidia; a driver may have no such module any more.
load_again() {
    for module in $unloaded; do
        modprobe "$module" || printf 'module %s was loaded before and is not now\n' "$module" >&2
    done
}
# Unloads the module; where that cannot be, all is as it was.
give_back() {
    if stop_units && unload_modules; then
        return
    fi
    load_again
    start_units
    return 1
}
