# Whether this user may run program $1: nobody but root and the user can change it, a directory on its way, or a link
# that leads there. Nobody else can add to a directory $1 either. Else $rooted_why says who can, and $rooted_by is the number
# of a user who has it in hand anyway; that is empty where several can, and $rooted_name, which is that of the number, where
# nobody is called so.
# shellcheck disable=SC2034 # for who asks
rooted() {
    rooted_path=$1 rooted_why='' rooted_by='' rooted_name='' rooted_links=0
    [ -n "${rooted_me-}" ] || rooted_me=$(id -u) || rooted_me=none
    while :; do
        case $rooted_path in
        *'
'* | [!/]* | '')
            rooted_why="$1 is no absolute path"
            return 1
            ;;
        esac
        set -- "$1"
        rooted_gone=''
        while [ -n "${rooted_absent-}" ] && [ -n "$rooted_path" ] && [ ! -e "$rooted_path" ] && [ ! -L "$rooted_path" ]; do
            rooted_gone=/${rooted_path##*/}$rooted_gone rooted_path=${rooted_path%/*}
        done
        rooted_up=${rooted_path%/}
        while [ -n "$rooted_up" ]; do
            set -- "$@" "$rooted_up"
            rooted_up=${rooted_up%/*}
        done
        # The first word is what was asked for; `/` takes its place and comes first.
        rooted_asked=$1
        shift
        # Sorted: each directory stands before what is in it.
        rooted_seen=$(ls -ldn -- / "$@" 2>&1) || {
            rooted_why="cannot look at $rooted_asked: ${rooted_seen##*: }"
            return 1
        }
        set -- "$rooted_asked"
        rooted_turn='' rooted_last=''
        while IFS=' ' read -r rooted_mode _ rooted_uid rooted_gid rooted_rest; do
            rooted_at=/${rooted_rest#* /} rooted_last=$rooted_mode
            case $rooted_mode in l*) rooted_at=${rooted_at%%' -> '*} ;; esac
            if rooted_foreign "$rooted_mode" "$rooted_uid" "$rooted_gid"; then
                rooted_say
                return 1
            fi
            case $rooted_mode in
            l*)
                rooted_turn=${rooted_rest#*' -> '}
                break
                ;;
            esac
        done <<END
$rooted_seen
END
        if [ -z "$rooted_last" ]; then
            # An old bash has no place for the text above where /tmp is full.
            rooted_why="cannot look at $rooted_asked"
            return 1
        fi
        if [ -z "$rooted_turn" ]; then
            case $rooted_me$rooted_last in
            0d????????[tT]*)
                rooted_why="others than root may add to $rooted_at"
                return 1
                ;;
            esac
            rooted_script
            return
        fi
        rooted_links=$((rooted_links + 1))
        # What was looked at so far has no link in it, so leading dots are what they look like.
        rooted_rest=${rooted_path#"$rooted_at"}$rooted_gone rooted_path=${rooted_at%/*}
        case $rooted_turn in /*) rooted_path='' ;; esac
        while :; do
            case $rooted_turn in
            /*) rooted_turn=${rooted_turn#/} ;;
            ./*) rooted_turn=${rooted_turn#./} ;;
            ../*) rooted_turn=${rooted_turn#../} rooted_path=${rooted_path%/*} ;;
            .) rooted_turn='' ;;
            ..) rooted_turn='' rooted_path=${rooted_path%/*} ;;
            *) break ;;
            esac
        done
        case $rooted_links:/$rooted_turn/ in
        40:* | *:*/../*)
            rooted_why="$rooted_at leads by too many turns"
            return 1
            ;;
        esac
        rooted_path=$rooted_path${rooted_turn:+/$rooted_turn}$rooted_rest
    done
}
# The same of $1, or of the place where it would be made.
rooted_may() {
    rooted_absent=1
    rooted "$1" || set -- ''
    rooted_absent=''
    [ -n "$1" ]
}
# The same of the interpreter of the script that $rooted_path is, and of each path in its first line: `env` runs one too.
# $rooted_line is that line.
rooted_script() {
    rooted_line=''
    case $rooted_last in -*) ;; *) return 0 ;; esac
    { IFS= read -r rooted_line <"${rooted_path:-/}"; } 2>/dev/null || :
    rooted_first "$rooted_line" "$rooted_path"
}
# Whether first line $1 of program $2 names nothing that others can change.
rooted_first() {
    case $1 in '#!'*) ;; *) return 0 ;; esac
    rooted_deep=$((${rooted_deep:-0} + 1))
    # The kernel follows four.
    if [ "$rooted_deep" -gt 5 ]; then
        rooted_why="the first line of $2 leads by too many turns"
        rooted_deep=0
        return 1
    fi
    case ${1#??} in
    # `env` reads these in its own way, and can be given another PATH.
    *[\'\"\\\$]* | *PATH=*)
        rooted_why="the first line of $2 is not read here: $1"
        rooted_deep=0
        return 1
        ;;
    esac
    set -- "${1#??} " "$2"
    while [ -n "$1" ]; do
        case ${1%%[ 	]*} in
        # From the first slash on, as in --split-string=/usr/bin/python3.
        */*)
            rooted_list "/${1#*/}" "$2" || {
                rooted_deep=0
                return 1
            }
            ;;
        esac
        set -- "${1#*[ 	]}" "$2"
    done
    rooted_deep=$((rooted_deep - 1))
}
# Whether each path of the list with colons that $1 begins with can be changed by nobody else.
rooted_list() {
    set -- "${1%%[ 	]*}:" "$2"
    while [ -n "$1" ]; do
        case $1 in
        /*) rooted "${1%%:*}" || return ;;
        *)
            rooted_why="the first line of $2 is not read here"
            return 1
            ;;
        esac
        set -- "${1#*:}" "$2"
    done
}
# Whether others than root and the user can change what has mode $1, owner $2 and group $3. In a directory with the sticky bit
# they can add names, and change none of root's. With an access list, the bits of the group are its mask. Who is not root
# may share directories.
rooted_foreign() {
    case $2 in 0 | "$rooted_me") ;; *) return 0 ;; esac
    [ "$rooted_me" = 0 ] || return
    case $1 in
    l* | d????????[tT]*) return 1 ;;
    ????????w*) return 0 ;;
    ?????w????+*) return 0 ;;
    ?????w*) [ "$3" != 0 ] ;;
    *) return 1 ;;
    esac
}
# Sets $rooted_why and $rooted_by for $rooted_at.
# shellcheck disable=SC2034 # for who asks
rooted_say() {
    case $rooted_uid in
    0 | "$rooted_me") rooted_why="others than root may change $rooted_at ($rooted_mode, user $rooted_uid, group $rooted_gid)" ;;
    *)
        rooted_by=$rooted_uid
        rooted_why="$rooted_at belongs to user $rooted_uid"
        # Without a program: it may be the one that is in question.
        rooted_name=''
        while IFS=: read -r rooted_user _ rooted_number _; do
            [ "$rooted_number" != "$rooted_uid" ] || rooted_name=$rooted_user
        done </etc/passwd
        [ -z "$rooted_name" ] || rooted_why="$rooted_at belongs to $rooted_name"
        ;;
    esac
}
