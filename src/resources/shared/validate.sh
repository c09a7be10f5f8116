# The draft of a file is checked by its own tool before it is put in place: `put` asks for that. `words` are the
# tool and its arguments, one a line, `%s` in them the path of the draft; `missing` is what a missing tool means,
# `pass` or `fail`. The other parameters are those of what follows.
# Parameters: missing words
put_missing=$1 put_words=$2
shift 2
# Whether draft $1 may become $2.
put_passes() {
    # The tool goes by names.
    [ -n "${spot_base-}" ] || spot_alone sticky || return
    draft=$spot_way/${1#./} target=$spot_way/${2#./}
    set --
    while IFS= read -r word; do
        case $word in *%s*) word=${word%%"%s"*}$draft${word#*"%s"} ;; esac
        set -- "$@" "$word"
    done <<END
$put_words
END
    if ! command -v "$1" >/dev/null 2>&1; then
        [ "$put_missing" != pass ] || return 0
        printf '%s is not on the host, and nothing else can check %s, which was left as it was: install what has %s in an earlier task\n' \
            "$1" "$target" "$1" >&2
        return 1
    fi
    said=$("$@" 2>&1 </dev/null)
    status=$?
    [ "$status" != 0 ] || return 0
    printf '%s\n' "$said" | tail -n 5 | while IFS= read -r line; do
        case $line in *"$draft"*) line=${line%%"$draft"*}$target${line#*"$draft"} ;; esac
        printf '%s\n' "$line"
    done >&2
    printf '%s refuses what %s would be (status %s); it was left as it was\n' "$1" "$target" "$status" >&2
    return 1
}
