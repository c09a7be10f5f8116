# Needs rooted. Whether nobody but root can change directory $1 and what is in it, nor where links in it lead; with more words
# only what these tests of `find` choose. Who is not root may share directories. Else $rooted_why says what is not so.
rooted_below() {
    rooted "$1" || return
    [ "$rooted_me" = 0 ] || return 0
    rooted_top=$1
    shift
    # Links have all bits. The find of busybox runs no `-exec +` within parentheses.
    rooted_seen=$(find -H "$rooted_top" "$@" ! -type l '(' ! -user 0 -o -perm -2 -o -perm -20 ! -group 0 ')' -print -o \
        "$@" -perm -20 -exec ls -ldn -- '{}' + 2>/dev/null) || {
        rooted_why="cannot look at all that is in $rooted_top"
        return 1
    }
    while IFS= read -r rooted_at; do
        case $rooted_at in
        '') ;;
        # With an access list the bits of the group are its mask.
        [!/l]????w????+*) rooted_why="others than root may change /${rooted_at#* /}" && return 1 ;;
        [!/l]*) ;;
        /*) rooted_why="others than root may change $rooted_at" && return 1 ;;
        # To a neighbour.
        *' -> '*/*)
            rooted_at=/${rooted_at#* /}
            rooted_at=${rooted_at%%' -> '*}
            [ ! -e "$rooted_at" ] || rooted "$rooted_at" || return
            ;;
        esac
    done <<END
$rooted_seen
END
}
