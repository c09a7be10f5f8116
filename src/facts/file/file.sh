# Asks about paths: one `stat` for all, one `sha256sum` for all files whose content matters.
# Parameters: triples of path, wanted digest (or empty), and what is asked: `a` attributes only,
# `d` a digest, `t` a digest and the text when the digest is not the wanted one, `s` a digest
# that is remembered by a stamp, `x` whether it is the text given in base64 as wanted. A path holds
# no newline, so lists of paths are texts split at newlines: appending to "$@" in a loop copies
# all of it every time.
paths='' plain='' known='' texts='' open='' shown='' special='' stats='' told='' links=''
while [ $# -gt 0 ]; do
    path=$1 wanted=$2 what=$3
    shift 3
    if [ -L "$path" ]; then
        paths=$paths$path$newline
        links=$links$path$newline
        continue
    fi
    if [ ! -e "$path" ]; then
        parent=${path%/*}
        while [ -n "$parent" ] && [ ! -e "$parent" ]; do parent=${parent%/*}; done
        if [ -d "${parent:-/}" ] && [ ! -x "${parent:-/}" ]; then
            told="${told}denied $path$newline"
        else
            told="${told}absent $path$newline"
        fi
        continue
    fi
    paths=$paths$path$newline
    if [ "$what" = a ] || [ ! -f "$path" ]; then
        continue
    fi
    if [ ! -r "$path" ]; then
        told="${told}unreadable $path$newline"
        continue
    fi
    case $what:$path in
    [sx]:* | *\\*) special=$special$path$newline$wanted$newline$what$newline ;;
    ?:*)
        if [ -n "$wanted" ]; then
            plain=$plain$path$newline
            known="$known$wanted  $path$newline"
            case $what in t) texts=$texts$path$newline ;; esac
        else
            open=$open$path$newline
            case $what in t) shown=$shown$path$newline ;; esac
        fi
        ;;
    esac
done
# From here on unquoted lists are split at newlines and nothing else happens to them.
IFS=$newline
set -f
if [ -n "$paths" ]; then
    if command -v stat >/dev/null 2>&1; then
        # Numbers only: names would cost `stat` a look into the user database for each path, and
        # most paths are root's. Where a link points is asked of `readlink`: %N quotes as each `stat` likes.
        # shellcheck disable=SC2086
        stats=$(stat -c 'stat %u:%g:%f:%s:%i:%Y:%Z:%n' $paths 2>/dev/null)$newline
        told=$told$stats
        # The names of the others: of each pair of owner and group, one path is asked about.
        pairs=' ' named=''
        for line in $stats; do
            case $line in 'stat 0:0:'*) continue ;; esac
            line=${line#stat }
            mode=${line#*:*:}
            pair=${line%":$mode"}
            case $pairs in *" $pair "*) continue ;; esac
            pairs="$pairs$pair "
            named=$named${line#*:*:*:*:*:*:*:}$newline
        done
        # shellcheck disable=SC2086
        [ -z "$named" ] || told=$told$(stat -c "user %u %U${newline}group %g %G" $named 2>/dev/null)$newline
        for path in $links; do
            # As text: a target of another user may hold newlines, and look like an answer of ours.
            target=$(readlink "$path" 2>/dev/null && printf .) || continue
            target=${target%"$newline."}
            case $target in *"$newline"*) target=$(printf '%s\n' "$target" | sed '2,$s/^/|/') ;; esac
            told="${told}target $path$newline|$target$newline.$newline"
        done
    else
        told="${told}no stat$newline"
    fi
fi
# Told at once: each piece would be a packet.
printf '%s' "$told"
# Prints the text of each of the paths.
show() {
    for path; do
        if held "$path"; then
            held_text "$path"
        else
            printf 'refused %s\n%s\n' "$path" "$held_why"
        fi
    done
}
if [ -n "$plain$open" ]; then
    if ! command -v sha256sum >/dev/null 2>&1; then
        printf 'no sha256sum\n'
    else
        # shellcheck disable=SC2086
        digests=$(sha256sum $plain $open 2>/dev/null)
        printf '%s\n' "$digests"
        # Where every file is as wanted, no line has to be looked at.
        case $digests$newline in
        "$known"*) ;;
        *)
            for line in $digests; do
                path=${line#*  }
                case $newline$known in *"$newline$line$newline"*) continue ;; esac
                case $newline$texts in *"$newline$path$newline"*) show "$path" ;; esac
            done
            ;;
        esac
        # shellcheck disable=SC2086
        show $shown
    fi
fi
[ -n "$special" ] || exit 0
# A list would lose the empty fields of a triple.
printf '%s' "$special" | while IFS= read -r path && IFS= read -r wanted && IFS= read -r what; do
    case $what in
    x)
        # Text with secrets: compared here, so that no digest of it is ever told.
        digest=$(
            {
                {
                    say "$wanted" | decode 2>/dev/null
                    printf '%s ' "$?" >&4
                } | sha256sum
            } 4>&1
        )
        decoded=${digest%% *} digest=${digest#* }
        if [ -z "$digest" ]; then
            printf 'no sha256sum\n'
        elif [ "$decoded" != 0 ]; then
            printf 'no base64\n'
        elif [ "$digest" = "$(sha256sum <"$path")" ]; then
            printf 'same %s\n' "$path"
        else
            printf 'differs %s\n' "$path"
        fi
        continue
        ;;
    s)
        # A large file: its digest is taken again only when it may have changed.
        stamp=$(stat -c '%i:%s:%Y:%Z' "$path" 2>/dev/null)
        provision_dir
        directory=$d/digests
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
    *)
        # sha256sum writes such names escaped: asked alone and by redirection.
        digest=$(sha256sum <"$path") || continue
        digest=${digest%% *}
        printf 'digest %s  %s\n' "$digest" "$path"
        if [ "$what" = t ] && [ "$digest" != "$wanted" ]; then
            show "$path"
        fi
        ;;
    esac
done
exit 0
