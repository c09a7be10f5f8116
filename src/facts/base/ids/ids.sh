# Prints what tells one machine and one boot from another.
machine='' product='' boot=''
[ ! -r /etc/machine-id ] || read -r machine </etc/machine-id
{ read -r product </sys/class/dmi/id/product_uuid; } 2>/dev/null || product=''
read -r boot </proc/sys/kernel/random/boot_id
printf 'machine=%s\nproduct=%s\nboot=%s\n' "$machine" "$product" "$boot"
