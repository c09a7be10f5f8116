# Runs command $3 on host $2 as user $1 of the mesh. Its words are plain: every login shell takes them as
# they stand.
over_mesh() {
    user=$1
    shift
    set -- -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=10 "$@"
    if [ "$user" = root ] && [ "$(id -u)" = 0 ]; then
        ssh "$@" </dev/null
    else
        sudo -n -H -u "$user" ssh "$@" </dev/null
    fi
}
