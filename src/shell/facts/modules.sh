# Prints the loaded kernel modules.
if [ -r /proc/modules ]; then cat /proc/modules; fi
printf 'end\n'
