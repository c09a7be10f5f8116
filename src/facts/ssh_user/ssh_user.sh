# Asks about SSH keys and files of users. Parameters: triples of `key`, a user and the name of a key
# in ~/.ssh, or `files`, a user and the name of a mesh.
held_or_end=1
# Sets name, uid, gid and home of user $1.
account() {
    while IFS=: read -r name _ uid gid _ home _; do
        [ "$name" != "$1" ] || return 0
    done </etc/passwd
    command -v getent >/dev/null 2>&1 || return 1
    line=$(getent passwd "$1") || {
        # With 2 it knows nobody of this name.
        [ $? = 2 ] || exit 1
        return 1
    }
    IFS=: read -r name _ uid gid _ home _ <<END
$line
END
}
while [ $# -gt 2 ]; do
    kind=$1 user=$2 what=$3
    shift 3
    printf 'ask\n'
    account "$user" || continue
    home=${home%/}
    directory=$home/.ssh
    printf 'found\nuid %s\ngid %s\nhome %s\n' "$uid" "$gid" "$home"
    [ ! -L "$directory" ] || printf 'linked\n'
    [ -d "${home:-/}" ] || printf 'homeless\n'
    if [ -d "$home" ] && [ ! -x "$home" ]; then
        printf 'denied %s\n' "$home"
        continue
    fi
    if [ -d "$directory" ] && { [ ! -x "$directory" ] || [ ! -r "$directory" ]; }; then
        printf 'denied %s\n' "$directory"
        continue
    fi
    if [ "$kind" = key ]; then
        if command -v ssh-keygen >/dev/null 2>&1; then printf 'keygen\n'; fi
        file=$directory/$what
        [ ! -L "$file" ] || printf 'linked\n'
        if [ -f "$file" ]; then
            printf 'private\n'
            first='' second=''
            # What stands behind the magic of an OpenSSH key is the name of its cipher; `none` in base64.
            if held "$file" "$uid" 2>/dev/null && held_short 65536; then
                { read -r first && read -r second; } <&3 || first='' second=''
            fi
            exec 3<&-
            case $first-$second in
            *'BEGIN OPENSSH PRIVATE KEY'*-b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE*) ;;
            *'BEGIN OPENSSH PRIVATE KEY'*-?* | *-'Proc-Type: 4,ENCRYPTED'*) printf 'encrypted\n' ;;
            esac
            first='' second=''
        fi
        if [ -f "$file.pub" ] && [ -r "$file.pub" ]; then
            line=''
            if ! held "$file.pub" "$uid"; then
                printf 'linked\n'
            elif held_short 65536; then
                IFS= read -r line <&3
                printf 'public %s\n' "$line"
            fi
        fi
        exec 3<&-
        continue
    fi
    if [ -d "$directory" ]; then
        stat -c 'mode %a' "$directory" || exit
    fi
    for name in authorized_keys config "provision-$what.conf" "provision-$what.known_hosts"; do
        file=$directory/$name
        [ ! -L "$file" ] || printf 'linked\n'
        [ -f "$file" ] || continue
        if [ ! -r "$file" ]; then
            printf 'denied %s\n' "$file"
            continue
        fi
        held "$file" "$uid" || {
            # It was a file when this began.
            printf 'linked\n'
            continue
        }
        mode=${held#* * }
        [ "$name" != authorized_keys ] || printf 'mode %s\n' "${mode%% *}"
        printf 'file %s\n' "$name"
        held_text "$file" 4194305
    done
done
printf 'end\n'
