# Settings in the firmware of ConnectX and BlueField cards, now and after the next boot. Nothing is written.
# Parameters: name...
tool=''
for name in mlxconfig mstconfig; do
    command -v "$name" >/dev/null 2>&1 && tool=$name && break
done
names=$(IFS='|' && printf '%s' "$*")
# Columns are filled up with blanks.
fold='s/[[:space:]][[:space:]]*/ /g'
for device in /sys/bus/pci/drivers/mlx5_core/*:*:*; do
    address=${device##*/}
    # The other functions of a card have the same settings; virtual ones have none.
    case $address in *.0) ;; *) continue ;; esac
    [ -d "$device" ] || continue
    [ ! -e "$device/physfn" ] || continue
    if [ -z "$tool" ]; then
        begin mlxconfig -d "$address" -e query
        finish missing
        continue
    fi
    # A card that keeps one waiting keeps the next one waiting as well.
    sift "^Configurations|^[* ]*($names) " 10 "$tool" -d "$address" -e query
    case $status in 124 | 137) break ;; esac
done
:
