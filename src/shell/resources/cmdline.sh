# Gives arguments to the kernel at its next boot, or takes them away. For grubby they are one word.
# Parameters: action [arguments]
case $1 in
update) update-grub ;;
add) grubby --update-kernel=ALL --args="$2" ;;
remove) grubby --update-kernel=ALL --remove-args="$2" ;;
*) exit 2 ;;
esac
