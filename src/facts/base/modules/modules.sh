# Prints the loaded kernel modules.
if [ -r /proc/modules ]; then cat /proc/modules || exit; fi
printf 'end\n'
