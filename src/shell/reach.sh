# Goes to where a path is by a way on which nobody else can lead us away, and stays there: what is then
# done to $spot is done in the directory that was looked at, whatever is renamed meanwhile. Directories on
# the way belong to root, to us or to the wanted owner. A link is followed when root or we made it, as root
# only where nobody else can change it; below $spot_base none is, and whose directories are does not matter.
# Parameters of `reach`: path, wanted owner (`owner:group`, empty or `*` for anyone), `make` to make the
# directories that are missing. It sets
#   $spot       `./` and the last name of the path
#   $spot_kind  what that is: file, directory, link, other, none
#   $spot_held  what is here can be renamed by others: `closed` nothing, `sticky` only theirs, empty all
#   $spot_fixed not empty: nobody else can put another thing in the place of $spot
#   $spot_owner the number of its owner
reach() {
    spot=./${1##*/} spot_for=${2%%:*} spot_top='' spot_way=${1%/*} spot_missing=''
    if [ -n "${spot_base-}" ]; then
        cd -P "$spot_base" || return
        spot_top=${PWD%/} spot_for='*'
        spot_way=$spot_top${spot_way#"$spot_base"}
    fi
    spot_known && return
    if [ "${3-}" = make ]; then
        while [ -n "$spot_way" ] && [ ! -e "$spot_way" ] && [ ! -L "$spot_way" ]; do
            spot_missing=/${spot_way##*/}$spot_missing spot_way=${spot_way%/*}
        done
    fi
    cd -P "${spot_way:-/}" || return
    until spot_look; do
        [ -n "$spot_turn" ] || return 1
    done
    spot_stands && spot_make_missing
}
# Whether a row of changes has looked already and nobody else can have changed anything on the way since: directories in
# $spot_closed (see batch.sh) are $spot_held=closed. The kernel says that no link is on the way; what is no file of ours is
# looked at.
spot_known() {
    case ${spot_closed-} in *"
${spot_way:-/}
"*) ;; *) return 1 ;; esac
    [ -z "${spot_base-}" ] && cd -P "${spot_way:-/}" 2>/dev/null && [ "$PWD" = "${spot_way:-/}" ] || return
    spot_kind='file'
    [ -f "$spot" ] || spot_kind=none
    if [ -L "$spot" ] || { [ -e "$spot" ] && { [ $spot_kind = none ] || [ ! -O "$spot" ]; }; }; then return 1; fi
    spot_me=${runner_user:-none} spot_group=${runner_group:-none} spot_held=closed spot_fixed=1 spot_owner=''
    [ $spot_kind = none ] || spot_owner=$spot_me
    [ "$spot_me" = 0 ] || spot_for='*'
}
# Looks at all directories of $spot_way and at $spot, by one `stat`. Fails with $spot_turn when a link was
# put in the place of where it leads, so that there is more to look at.
spot_look() {
    set --
    spot_up=$spot_way
    while [ "$spot_up" != "$spot_top" ]; do
        set -- "$spot_up" "$@"
        spot_up=${spot_up%/*}
    done
    spot_held='' spot_open=$spot_top
    if [ -z "$spot_top" ]; then
        spot_held=closed
        set -- / "$@"
    fi
    spot_left=$# spot_me=0 spot_group=none spot_owner='' spot_kind=none spot_fixed='' spot_turn=''
    spot_found=$(stat -c '%u %g %f %n/' /proc/self/. "$@" "$spot" 2>/dev/null)
    while read -r spot_uid spot_gid spot_mode spot_at; do
        spot_at=${spot_at%/}
        case $spot_uid in 0 | "$spot_me") spot_ours=1 ;; *) spot_ours='' ;; esac
        case $spot_at in ./*) spot_owner=$spot_uid spot_bits=$spot_mode ;; esac
        case "$spot_mode $spot_at" in
        *' /proc/self/.')
            # Who is not root can do no more than the system lets them.
            spot_me=$spot_uid spot_group=$spot_gid
            [ "$spot_me" = 0 ] || spot_for='*'
            ;;
        8*' ./'*) spot_kind='file' ;;
        4*' ./'*) spot_kind=directory ;;
        a*' ./'*) spot_kind='link' ;;
        *' ./'*) spot_kind=other ;;
        4*) spot_directory || return ;;
        a*) spot_link || return ;;
        esac
    done <<END
$spot_found
END
    if [ "$spot_left" -gt 0 ]; then
        printf 'cannot look at the directories of %s\n' "$spot_way" >&2
        return 1
    fi
    [ -z "$spot_missing" ] || spot_kind=none
    case $spot_held:$spot_kind:$spot_ours in
    closed:* | sticky:[!n]*:1) spot_fixed=1 ;;
    esac
}
spot_directory() {
    spot_left=$((spot_left - 1))
    if [ -z "$spot_ours" ]; then
        [ -z "$spot_held" ] || spot_open=$spot_at
        spot_held=''
        case $spot_for in '*' | "$spot_uid") return ;; esac
        spot_user=$(stat -c %U "$spot_at")
        [ "$spot_for" != "$spot_user" ] || return 0
        printf '%s belongs to %s, who may lead elsewhere what is written below it: say "owner: %s" where the task has an owner, give the directory to root, or take another place\n' \
            "$spot_at" "$spot_user" "$spot_user" >&2
        return 1
    fi
    [ -n "$spot_held" ] || return 0
    # 022 and 01000.
    if [ $((0x$spot_mode & 18)) = 0 ]; then
        spot_held=closed
    elif [ $((0x$spot_mode & 512)) != 0 ]; then
        spot_held=sticky spot_open=$spot_at
    else
        spot_held='' spot_open=$spot_at
    fi
}
spot_link() {
    if [ -n "$spot_top" ]; then
        printf '%s is a symbolic link: below %s none is followed, so take it away, or write where it leads to\n' \
            "$spot_at" "$spot_base" >&2
        return 1
    fi
    if [ -z "$spot_ours" ]; then
        printf '%s is a symbolic link of %s and may lead anywhere: take it away, or name the directory that is meant\n' \
            "$spot_at" "$(stat -c %U "$spot_at")" >&2
        return 1
    fi
    # Who is not root follows their own: a group that has only them is common.
    if [ -z "$spot_held" ] && [ "$spot_me" = 0 ]; then
        printf '%s is a symbolic link, and others than root may put another one there by what they may change in %s (%s): take that right from them (chmod go-w), or name the directory that is meant\n' \
            "$spot_at" "$spot_open" "$(stat -c '%A, %U:%G' "$spot_open")" >&2
        return 1
    fi
    spot_turn=$(readlink "$spot_at") || return
    case $spot_turn in /*) ;; *) spot_turn=${spot_at%/*}/$spot_turn ;; esac
    spot_rest=$spot_turn${spot_way#"$spot_at"}/ spot_way=''
    while [ -n "$spot_rest" ]; do
        spot_part=${spot_rest%%/*} spot_rest=${spot_rest#*/}
        case $spot_part in '' | .) ;; ..) spot_way=${spot_way%/*} ;; *) spot_way=$spot_way/$spot_part ;; esac
    done
    return 1
}
# Whether we are where the way says. Where others may rename, only the kernel knows.
spot_stands() {
    spot_there=$PWD
    [ -n "$spot_held" ] || spot_there=$(readlink /proc/self/cwd)
    [ "$spot_there" != "${spot_way:-/}" ] || return 0
    printf '%s leads to %s now: it was changed meanwhile, and nothing was written\n' \
        "${spot_way:-/}" "${spot_there:-another place}" >&2
    return 1
}
spot_make_missing() {
    [ -n "$spot_missing" ] || return 0
    if [ "$spot_held" = closed ]; then
        (umask 022 && mkdir -p ".$spot_missing") && cd -P ".$spot_missing" || return
        spot_way=$spot_way$spot_missing
        spot_fixed=1
        return
    fi
    spot_name=$spot spot_rest=${spot_missing#/}/
    while [ -n "$spot_rest" ]; do
        spot_part=${spot_rest%%/*} spot_rest=${spot_rest#*/}
        spot_make 022 "./$spot_part" || return
    done
    spot=$spot_name spot_kind=none spot_fixed=''
}
# Makes directory $2 with umask $1 and goes into it.
spot_make() {
    spot=$2
    (umask "$1" && mkdir "$spot") || return
    spot_owner=$spot_me spot_bits=0 spot_fixed=$spot_held
    spot_enter || return
    [ "$spot_owner" != "$spot_me" ] || return 0
    printf '%s was changed while it was made\n' "$spot_way" >&2
    return 1
}
# Goes into directory $spot.
spot_enter() {
    cd -P "$spot" || return
    spot_way=$spot_way/${spot#./}
    if [ -n "$spot_fixed" ]; then
        case $spot_owner:$((0x$spot_bits & 18)) in 0:0 | "$spot_me":0) spot_held=closed ;; *) spot_held='' ;; esac
        return
    fi
    spot_held=''
    spot_stands && spot_owner=$(stat -c %u .)
}
# Refuses where others may rename what is here (`sticky`) or also where they may make something
# (`closed`): for programs that go by names.
spot_alone() {
    case $spot_me:$spot_held in [!0]* | 0:closed | 0:"${1:?}") return 0 ;; esac
    printf 'others than root may change what is in %s (%s): take that right from them (chmod go-w), or take another place\n' \
        "$spot_open" "$(stat -c '%A, %U:%G' "$spot_open")" >&2
    return 1
}
# Refuses when $spot is there and is no regular file.
spot_plain() {
    case $spot_kind in file | none) return ;; esac
    printf '%s/%s is not a regular file any more\n' "$spot_way" "${spot#./}" >&2
    return 1
}
# Takes away files in `.` that a write of ours has left because it was killed before its rename. No other one
# is under way here: the host's lock is ours.
spot_sweep() {
    for spot_left in ./.provision.[0-9a-f]*-*-*-*-*; do
        if [ -f "$spot_left" ] && [ ! -L "$spot_left" ]; then
            rm -f "$spot_left" 2>/dev/null || :
        fi
    done
}
# Renames $1 to $2, never into a directory of that name.
spot_rename() {
    set -- "$1" "$2" -fT
    [ "$spot_held" != closed ] || set -- "$1" "$2" -f
    spot_words=$(mv "$3" "$1" "$2" 2>&1) && return
    spot_mounted "$1" || spot_mounted "$2" || printf '%s\n' "$spot_words" >&2
    return 1
}
# Says why $1 can be neither replaced nor taken away, if it is a mount of its own.
spot_mounted() {
    spot_at=$spot_way/${1#./}
    while read -r _ _ _ _ spot_point _; do
        [ "$spot_point" = "$spot_at" ] || continue
        printf '%s is a mount of its own, so nothing can take its place: change what is mounted there where it comes from (findmnt %s), or take the mount away (umount %s)\n' \
            "$spot_at" "$spot_at" "$spot_at" >&2
        return 0
    done </proc/self/mountinfo
    return 1
}
# Gives ownership $1 and mode $2 (each may be empty) to $spot, a file or a directory. Where others may
# rename, it is taken hold of first: as our directory, or by a descriptor.
spot_dress() {
    spot_it=$spot
    if [ -z "$spot_fixed" ] && [ "$spot_kind" = directory ]; then
        spot_enter || return
        spot_it=.
    elif [ -z "$spot_fixed" ]; then
        exec 3<"$spot" || return
        spot_it=/proc/self/fd/3
        spot_there=$(readlink "$spot_it")
        if [ "$spot_there" != "$spot_way/${spot#./}" ]; then
            printf '%s/%s leads to %s now: nothing was done\n' "$spot_way" "${spot#./}" "$spot_there" >&2
            return 1
        fi
        # A second name may be that of anybody's file.
        case $(stat -L -c '%f %h' "$spot_it") in
        8*' 1') ;;
        *)
            printf '%s is no regular file, or has a second name: nothing was done\n' "$spot_there" >&2
            return 1
            ;;
        esac
    fi
    # The owner first: it takes setuid and setgid away.
    if [ -n "$1" ] && ! spot_mine "$1" "$spot_it"; then
        case $spot_it in
        /*) chown "$1" "$spot_it" ;;
        *) chown -h "$1" "$spot_it" ;;
        esac || return
    fi
    [ -z "$2" ] || chmod "$2" "$spot_it"
}
# Whether ownership $1 is that of root and $2 has it already: what root makes, mostly, needs no program for that.
spot_mine() {
    [ "$spot_me" = 0 ] || return
    case $1 in
    root | 0) [ -O "$2" ] ;;
    root:root | 0:0) [ "$spot_group" = 0 ] && [ -O "$2" ] && [ -G "$2" ] ;;
    *) return 1 ;;
    esac 2>/dev/null
}
