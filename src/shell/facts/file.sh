# Asks about paths: one `stat` for all, one `sha256sum` for all files whose content matters.
# Parameters: triples of path, wanted digest (or empty), and what is asked: `a` attributes only,
# `d` a digest, `t` a digest and the text when the digest is not the wanted one, `s` a digest
# that is remembered by a stamp, `x` whether it is the text given in base64 as wanted. A path holds no newline, so lines are unambiguous.
newline='
'
known=$newline
texts=$newline
count=$#
index=0
# First round: missing paths are answered, the others are kept, each with its two fields.
while [ "$index" -lt "$count" ]; do
    path=$1 wanted=$2 what=$3
    shift 3
    index=$((index + 3))
    if [ ! -e "$path" ] && [ ! -L "$path" ]; then
        parent=${path%/*}
        while [ -n "$parent" ] && [ ! -e "$parent" ]; do parent=${parent%/*}; done
        if [ -d "${parent:-/}" ] && [ ! -x "${parent:-/}" ]; then
            printf 'denied %s\n' "$path"
        else
            printf 'absent %s\n' "$path"
        fi
        continue
    fi
    if [ "$what" != a ] && [ -f "$path" ] && [ ! -L "$path" ]; then
        if [ ! -r "$path" ]; then
            printf 'unreadable %s\n' "$path"
            what=a
        fi
    else
        what=a
    fi
    set -- "$@" "$path" "$wanted" "$what"
done
[ $# -gt 0 ] || exit 0
# The list of paths alone, for `stat`; links are read one by one.
(
    count=$#
    index=0
    while [ "$index" -lt "$count" ]; do
        path=$1
        shift 3
        index=$((index + 3))
        set -- "$@" "$path"
        [ ! -L "$path" ] || printf 'link %s\n%s\n' "$path" "$(readlink -n "$path")"
    done
    if command -v stat >/dev/null 2>&1; then
        exec stat -c 'stat %f:%u:%g:%s:%i:%Y:%Z:%U:%G:%n' "$@" 2>/dev/null
    fi
    printf 'no stat\n'
)
# Digests.
count=$#
index=0
while [ "$index" -lt "$count" ]; do
    path=$1 wanted=$2 what=$3
    shift 3
    index=$((index + 3))
    case $what in
    a) continue ;;
    x)
        # Text with secrets: compared here, so that no digest of it is ever told.
        digest=$(
            base64 -d <<END | sha256sum
$wanted
END
        )
        if [ -z "$digest" ]; then
            printf 'no sha256sum\n'
        elif [ "$digest" = "$(sha256sum <"$path")" ]; then
            printf 'same %s\n' "$path"
        else
            printf 'differs %s\n' "$path"
        fi
        continue
        ;;
    t) texts=$texts$path$newline ;;
    esac
    [ -z "$wanted" ] || known="$known$wanted  $path$newline"
    case $what:$path in
    s:*)
        # A large file: its digest is taken again only when it may have changed.
        stamp=$(stat -c '%i:%s:%Y:%Z' "$path" 2>/dev/null)
        directory=/run/provision/digests
        [ -w /run ] || directory=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/provision/digests
        name=$(printf '%s' "$path" | sha256sum)
        name=$directory/${name%% *}
        old='' digest=''
        [ ! -r "$name" ] || read -r old digest <"$name"
        if [ -z "$stamp" ] || [ "$old" != "$stamp" ] || [ -z "$digest" ]; then
            digest=$(sha256sum <"$path") || continue
            digest=${digest%% *}
            # A change within the same second leaves the same times: what is that fresh is not
            # remembered.
            if [ -n "$stamp" ] && [ "$(($(date +%s) - ${stamp##*:}))" -gt 2 ]; then
                (umask 077 && mkdir -p "$directory" && printf '%s %s\n' "$stamp" "$digest" >"$name") 2>/dev/null
            fi
        fi
        printf 'digest %s  %s\n' "$digest" "$path"
        ;;
    *\\*)
        # sha256sum writes such names escaped: asked alone and by redirection.
        digest=$(sha256sum <"$path") || continue
        digest=${digest%% *}
        printf 'digest %s  %s\n' "$digest" "$path"
        if [ "$what" = t ] && [ "$digest" != "$wanted" ]; then
            printf 'text %s\n' "$path"
            head -c 65537 "$path" | base64
            printf '.\n'
        fi
        ;;
    *) set -- "$@" "$path" ;;
    esac
done
[ $# -gt 0 ] || exit 0
if ! command -v sha256sum >/dev/null 2>&1; then
    printf 'no sha256sum\n'
    exit 0
fi
sha256sum "$@" 2>/dev/null | while IFS= read -r line; do
    path=${line#*  }
    printf 'digest %s\n' "$line"
    case $known in *"$newline$line$newline"*) continue ;; esac
    case $texts in *"$newline$path$newline"*) ;; *) continue ;; esac
    printf 'text %s\n' "$path"
    head -c 65537 "$path" | base64
    printf '.\n'
done
exit 0
