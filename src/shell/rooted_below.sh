# Needs rooted. Whether nobody but root can change directory $1 and what is in it, nor what links in it lead to. Who is not root
# may share directories. Else $rooted_why says what is not so.
rooted_below() {
    rooted_levels=0
    rooted_in "$1"
}
rooted_in() {
    rooted "$1" || return
    [ "$rooted_me" = 0 ] || return 0
    rooted_tries=0
    # Links have all bits. The find of busybox runs no `-exec +` within parentheses. What goes away meanwhile is no file.
    until rooted_seen=$(find -H "$1" ! -type l '(' ! -user 0 -o -perm -2 -o -perm -20 ! -group 0 ')' -print -o \
        -perm -20 -exec ls -ldn -- '{}' + 2>/dev/null); do
        rooted_tries=$((rooted_tries + 1))
        [ "$rooted_tries" -lt 5 ] || {
            rooted_why="cannot look at all that is in $1"
            return 1
        }
    done
    while IFS= read -r rooted_at; do
        case $rooted_at in
        '') ;;
        # With an access list the bits of the group are its mask.
        [!/l]????w????+*) rooted_why="others than root may change /${rooted_at#* /}" && return 1 ;;
        [!/l]*) ;;
        /*) rooted_why="others than root may change $rooted_at" && return 1 ;;
        *' -> '*' -> '*) rooted_why="a link in $1 is not read here" && return 1 ;;
        *' -> '*/* | *' -> ..') rooted_to "$1" "/${rooted_at#* /}" || return ;;
        # To a neighbour.
        *' -> '*) ;;
        # Its name has a line feed.
        *) rooted_why="a link in $1 is not read here" && return 1 ;;
        esac
    done <<END
$rooted_seen
END
}
# The same of what link $2, with its target behind an arrow, leads to, unless that is in directory $1.
rooted_to() {
    set -- "$1" "${2%%' -> '*}" "${2#*' -> '}"
    case $3 in
    /*) ;;
    *..*) set -- "$1" "$2" "${2%/*}/$3" ;;
    *) return 0 ;;
    esac
    case $3 in
    *..*) ;;
    "$1"/* | /dev/null) return 0 ;;
    esac
    if [ ! -d "$3" ]; then
        rooted_may "$3"
        return
    fi
    rooted "$3" || return
    set -- "$1" "$2" "$(cd -P "$3" && pwd -P)"
    case $3/ in "$1"/*) return 0 ;; esac
    if [ "$rooted_levels" -ge 3 ]; then
        rooted_why="links in $1 lead too far"
        return 1
    fi
    rooted_levels=$((rooted_levels + 1))
    rooted_in "$3" || return
    rooted_levels=$((rooted_levels - 1))
}
