# Opens file $1 as descriptor 3, whatever is put in its place meanwhile, and sets $held to its owner, size, mode, names
# and kind. Where others can put something there, it is read only when it belongs to who has the place in hand ($2, a
# number, where it is known), or when it is where the path says and has no other name: else they would be shown
# what only root may read. Fails with $held_why.
# shellcheck disable=SC2034 # for who asks
held() {
    held_place=${1%/*} held='' held_why="$1 is no regular file any more"
    [ -f "$1" ] && command exec 3<"$1" || return
    held=$(stat -L -c '%u %s %a %h %f' /proc/self/fd/3) || {
        # Where a missing line means that there is nothing.
        [ -z "${held_or_end-}" ] || exit 1
        held_why='stat is not installed, or it fails'
        return 1
    }
    case $held in *' 8'???) ;; *) return 1 ;; esac
    # Who is not root reads what the system lets them.
    if [ "${provision_uid:-0}" != 0 ] || [ "${held%% *}" = "${2:-none}" ]; then return 0; fi
    held_closed "${held_place:-/}" && return
    [ "${held%% *}" != "${rooted_by:-none}" ] || return 0
    held_why="${rooted_why:-$held_place is for everybody to write in}, and what is there is somebody else's: root does not read it for them"
    case $held in *' 1 8'???) ;; *) return 1 ;; esac
    [ "$(readlink /proc/self/fd/3)" = "${rooted_path:?}/${1##*/}" ]
}
# Whether only root can put something into directory $1; each is looked at once.
held_shut='|'
held_closed() {
    case $held_shut in *"|$1|"*) return ;; esac
    rooted "$1" || return
    case ${rooted_last:?} in d????????[tT]*) return 1 ;; esac
    held_shut="$held_shut$1|"
}
# Whether what was opened has at most $1 bytes: the shell reads byte by byte, and a file may be as long as its owner likes.
held_short() {
    held_size=${held#* }
    held_size=${held_size%% *}
    [ "${#held_size}" -lt 9 ] && [ "$held_size" -le "$1" ]
}
# As `text`, of what `held` opened: the path that it is told by, the most bytes.
held_text() {
    held_size=${held#* }
    text "$1" "${held_size%% *}" "${2-}" /proc/self/fd/3
    exec 3<&-
}
