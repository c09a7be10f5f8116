# Makes a key of a user in ~/.ssh, or the public half of one that is there. A half-made key never has its
# name: it is made beside and renamed, public half first.
# Parameters: directory uid gid name type comment
ssh_directory "$1" "$2" "$3" || exit 1
if [ -L "./$4" ] || [ -L "./$4.pub" ]; then
    printf '%s/%s is a symbolic link\n' "$1" "$4" >&2
    exit 1
fi
uuid=$$
{ read -r uuid </proc/sys/kernel/random/uuid; } 2>/dev/null
beside=.provision.$uuid
# Nobody but root can do anything in there, and `..` stays where it is.
spot_make 077 "./$beside" || exit 1
trap 'rm -f ./key ./key.pub; rmdir "../$beside"' EXIT
trap 'exit 1' HUP INT TERM
if [ -f "../$4" ]; then
    public=$(ssh-keygen -y -P '' -f "../$4" </dev/null) || exit 1
    printf '%s %s\n' "${public%% "$6"}" "$6" >key.pub || exit 1
else
    set -- "$@" -q -t "$5" -N '' -C "$6" -f ./key
    [ "$5" != rsa ] || set -- "$@" -b 3072
    directory=$1 uid=$2 gid=$3 name=$4
    shift 6
    ssh-keygen "$@" </dev/null >/dev/null || exit 1
    set -- "$directory" "$uid" "$gid" "$name"
    chown -h "$2:$3" ./key || exit 1
fi
chmod 0644 ./key.pub && chown -h "$2:$3" ./key.pub || exit 1
spot_rename ./key.pub "../$4.pub" || exit 1
[ ! -f ./key ] || spot_rename ./key "../$4" || exit 1
if command -v restorecon >/dev/null 2>&1; then
    restorecon .. "../$4" "../$4.pub" 2>/dev/null || :
fi
