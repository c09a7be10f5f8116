# Finds the place of a large file that is sent to this host, ends who still writes there, and says what of
# it has arrived. It goes below the state directory when that takes no more than half of what is free
# there, else beside its target where nobody else can lead us away, else below /var/tmp.
# Parameters: key digest size target
#   at OFFSET PATH PLACE     what is missing is appended to PATH; PLACE is the same file without a link
#   full TEXT                there is no room
#   refused TEXT             the lock is not held
#   failed TEXT              it cannot be written anywhere
case ${provision_locked-} in
held | shared | none) ;;
*)
    printf 'refused\t%s\n' "${provision_locked-}"
    exit 0
    ;;
esac
key=$1 digest=$2 size=$3 target=$4
umask 077
inbox=${d:?}/upload
provision_shelf
: "${me:?}" "${shelf=}"
# Sets $room to the KiB that are free where $1 is and $mount to where that is mounted; empty when unknown.
room() {
    room='' mount=''
    {
        read -r _
        read -r _ _ _ room _ mount
    } <<END
$(df -Pk "$1" 2>/dev/null)
END
    case $room in *[!0-9]*) room='' ;; esac
}
# Whether $1 KiB fit where $room is free; it is tried where that is not known.
fits() { [ -z "$room" ] || [ "$1" -le "$room" ]; }
mebibytes() { printf '%s MiB' $((($1 + 1023) / 1024)); }
# Says where there is no room for $1 KiB, and ends.
full() {
    printf 'full\tNo space left on device: %s needs %s, and %s has %s\n' \
        "$target" "$(mebibytes "$1")" "$mount" "$(mebibytes "$room")"
    exit 0
}
# Makes $shelf, where nobody else can put another one in its place.
make_shelf() {
    [ -z "$shelf" ] || return 0
    case $(stat -L -c '%u %A' /var/tmp 2>/dev/null) in
    "0 d"*[tT] | "0 d"????[!w]??[!w]?) ;;
    *) return ;;
    esac
    shelf=/var/tmp/provision-upload-$me
    mkdir -m 700 "$shelf" 2>/dev/null || shelf=$(mktemp -d "$shelf.XXXXXXXX" 2>/dev/null) || shelf=''
}
# What another content of the same file has left is not wanted any more.
for file in "$inbox/${key%.*}".* "$shelf/${key%.*}".*; do
    case ${file##*/} in
    "$key" | "$key.writer" | *'*') ;;
    *) provision_drop "$file" ;;
    esac
done
# The nearest directory of the target that is there; the others are made with it.
over=${target%/*}
until [ -d "$over/" ]; do over=${over%/*}; done
near=''
if (reach "$over/x" '*' && [ "$spot_held" = closed ]) >/dev/null 2>&1; then
    near=$(cd -P "$over/" && pwd -P)
fi
case $near in *[![:print:]]*) near='' ;; esac
beside=${near%/}/.provision.upload.$key
# What of it is there already.
path=
for file in "$inbox/$key" "$shelf/$key"; do
    [ -f "$file" ] || [ -L "$file" ] || continue
    place=$file
    [ ! -L "$file" ] || place=$(readlink "$file")
    if provision_end_writer "$file" && [ -z "$path" ] && have=$(stat -c %s "$place" 2>/dev/null) && [ "$have" -le "$size" ] &&
        { [ ! -L "$file" ] || [ "$place" = "$beside" ]; }; then
        if [ "$have" = "$size" ]; then
            found=$(sha256sum <"$place") && [ "${found%% *}" = "$digest" ] && path=$file
        else
            room "${place%/*}/"
            ! fits $(((size - have) / 1024 + 1)) || path=$file
        fi
    fi
    [ "$path" = "$file" ] || provision_drop "$file"
done
if [ -n "$path" ]; then
    place=$path
    [ ! -L "$path" ] || place=$(readlink "$path")
    printf 'at\t%s\t%s\t%s\n' "$have" "$path" "$place"
    exit 0
fi
needed=$((size / 1024 + 1))
room "$over/"
fits $needed || full $needed
there=$mount
mkdir -p "$inbox"
room "$inbox"
if [ -n "$room" ] && [ $((2 * needed)) -le "$room" ] && (set -C && : >"$inbox/$key") 2>/dev/null; then
    printf 'at\t0\t%s\t%s\n' "$inbox/$key" "$inbox/$key"
    exit 0
fi
make_shelf
if [ -z "$shelf" ]; then
    printf 'failed\tno directory for large files can be made below /var/tmp, and %s has too little room\n' "$inbox"
    exit 0
fi
if [ -n "$near" ]; then
    rm -f "$beside"
    # The link first: whoever finds the file knows it by the link.
    if ln -s "$beside" "$shelf/$key" 2>/dev/null && (set -C && : >"$beside") 2>/dev/null; then
        printf 'at\t0\t%s\t%s\n' "$shelf/$key" "$beside"
        exit 0
    fi
    rm -f "$shelf/$key"
fi
room "$shelf"
# The copy of the copy needs room as well.
[ "$mount" != "$there" ] || needed=$((2 * needed))
fits $needed || full $needed
if errors=$({ set -C && : >"$shelf/$key"; } 2>&1); then
    printf 'at\t0\t%s\t%s\n' "$shelf/$key" "$shelf/$key"
else
    printf 'failed\tcannot write %s: %s\n' "$shelf/$key" "$errors"
fi
