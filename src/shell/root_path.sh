# Prints the PATH that root uses here: directories that nobody else can change, as whoever can puts programs there that
# root would run. A program in them that somebody else can change is not run either: another one of its name is taken, else a
# stand-in that says why and ends with 126. Asks seven programs where all is as usual, and more for an interpreter that is
# none of root's. No answer is kept for the next login: too much changes what a path leads to without a trace in its times.
root_path() {
    root_newline='
'
    set -f
    # shellcheck disable=SC2034 # for rooted.sh
    rooted_me=0
    root_all=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
    export PATH LC_ALL
    root_dirs='' root_ways=$root_newline
    IFS=:
    for root_dir in $root_all; do
        root_dir=${root_dir%/}
        # An empty or relative one is wherever we are.
        case $root_dir in /*) ;; *) continue ;; esac
        case :$root_dirs: in *":$root_dir:"* | *"$root_newline"*) continue ;; esac
        root_dirs=${root_dirs:+$root_dirs:}$root_dir
        while [ -n "$root_dir" ]; do
            case $root_ways in *"$root_newline$root_dir$root_newline"*) break ;; esac
            root_ways=$root_ways$root_dir$root_newline
            root_dir=${root_dir%/*}
        done
    done
    IFS=$root_newline
    # shellcheck disable=SC2086
    root_seen=$(ls -ldn -- / $root_ways 2>/dev/null)
    root_there=$root_newline root_open=$root_newline root_links=$root_newline
    for root_line in $root_seen; do
        root_at=/${root_line#* /}
        IFS=' '
        # shellcheck disable=SC2086
        set -- $root_line
        IFS=$root_newline
        case $1 in
        l*)
            root_links=$root_links$root_at$root_newline
            root_at=${root_at%%' -> '*}
            ;;
        esac
        root_there=$root_there$root_at$root_newline
        if rooted_foreign "$1" "$3" "$4"; then
            root_open=$root_open$root_at$root_newline
        fi
        case $1 in d????????[tT]*) root_open=$root_open$root_at/$root_newline ;; esac
    done
    root_good='' root_bad=''
    IFS=:
    for root_dir in $root_dirs; do
        case $root_there in *"$root_newline$root_dir$root_newline"*) ;; *) continue ;; esac
        root_verdict=good
        case $root_open in *"$root_newline$root_dir/$root_newline"*) root_verdict=bad ;; esac
        root_up=$root_dir
        while [ -n "$root_up" ]; do
            case $root_links in
            *"$root_newline$root_up -> "*)
                root_verdict='link'
                break
                ;;
            esac
            case $root_open in *"$root_newline$root_up$root_newline"*) root_verdict=bad ;; esac
            root_up=${root_up%/*}
        done
        case $root_open in *"$root_newline/$root_newline"*) root_verdict=bad ;; esac
        if [ "$root_verdict" = 'link' ]; then
            root_to=${root_links#*"$root_newline$root_dir -> "}
            root_to=/${root_to%%"$root_newline"*}
            # /bin and /sbin, where /usr has all.
            case $root_dir$root_to in /bin/usr/bin | /sbin/usr/sbin | /sbin/usr/bin) continue ;; esac
            root_verdict=bad
            IFS=' '
            if rooted "$root_dir" && root_dir=$(cd -P "$root_dir" && pwd -P) && rooted "$root_dir"; then
                case ${rooted_last:?} in d????????[tT]*) ;; *) root_verdict=good ;; esac
            fi
            IFS=:
            case :$root_good: in *":$root_dir:"*) continue ;; esac
        fi
        case $root_verdict in
        good) root_good=${root_good:+$root_good:}$root_dir ;;
        *) root_bad=${root_bad:+$root_bad:}$root_dir ;;
        esac
    done
    # Programs that somebody else can change, and links of others than the system's packages that lead to such.
    root_outer=''
    for root_dir in $root_good; do
        root_outer=$root_outer:$root_dir
    done
    [ ! -d /etc/alternatives ] || root_outer=$root_outer:/etc/alternatives
    # shellcheck disable=SC2086
    root_found=$(find -L $root_good -maxdepth 1 -type f \( ! -user 0 -o -perm -2 -o -perm -20 ! -group 0 \) -print -o -type f -perm -20 -exec ls -Lldn {} + 2>/dev/null)
    root_led=''
    if [ -n "$root_outer" ]; then
        # The find of GNU reads only where they lead; `ls` asks three things of each.
        # shellcheck disable=SC2086
        root_led=$(find ${root_outer#:} -maxdepth 1 -type l -printf ' %p -> %l\n' 2>/dev/null)
        # shellcheck disable=SC2086
        [ -n "$root_led" ] || root_led=$(find ${root_outer#:} -maxdepth 1 -type l -exec ls -ldn {} + 2>/dev/null)
    fi
    IFS=$root_newline
    root_foreign='' root_beside=''
    for root_line in $root_found; do
        case $root_line in
        /*) root_foreign=$root_foreign$root_newline$root_line ;;
        # With an access list the bits of the group are its mask.
        ?????w????+*) root_foreign=$root_foreign$root_newline/${root_line#* /} ;;
        esac
    done
    for root_line in $root_led; do
        root_line=/${root_line#* /}
        root_to=${root_line#*' -> '}
        root_line=${root_line%%' -> '*}
        case $root_line:$root_to in
        # Packages lead their own programs to their own files.
        /usr/bin/*:../lib* | /usr/sbin/*:../lib* | /usr/bin/*:../share/* | /usr/sbin/*:../share/*) continue ;;
        esac
        root_near=''
        case $root_to in
        /usr/bin/* | /usr/sbin/* | /bin/* | /sbin/* | /usr/lib* | /usr/share/* | /lib*) continue ;;
        /etc/alternatives/*) root_near=1 ;;
        /*) ;;
        */*) root_to=${root_line%/*}/$root_to ;;
        *) root_near=1 root_to=${root_line%/*}/$root_to ;;
        esac
        if [ -n "$root_near" ]; then
            root_beside="$root_beside$root_line -> $root_to$root_newline"
            continue
        fi
        IFS=' '
        # What is not there yet may come.
        if [ -e "$root_line" ]; then rooted "$root_line"; else rooted_may "$root_to"; fi || root_foreign=$root_foreign$root_newline$root_line
        IFS=$root_newline
    done
    root_scripts
    root_neighbours
    if [ -n "$root_foreign$root_bad" ]; then
        root_stand_ins
    fi
    printf '%s\n' "$root_good"
}
# Adds links to $root_foreign that lead to one of it in the same directory or in that of alternatives, by way of others too.
root_neighbours() {
    [ -n "$root_foreign" ] || return 0
    root_more=1
    while [ -n "$root_more" ]; do
        root_more=''
        for root_line in $root_beside; do
            root_to=${root_line#*' -> '}
            root_line=${root_line%%' -> '*}
            case $root_newline$root_foreign$root_newline in
            *"$root_newline$root_line$root_newline"*) ;;
            *"$root_newline$root_to$root_newline"*) root_more=1 root_foreign=$root_foreign$root_newline$root_line ;;
            esac
        done
    done
}
# Adds scripts to $root_foreign whose interpreter somebody else can change. Each first line is looked at once. All that a file
# begins with is seen here, and it may hold such lines and names too: so it counts only that a file may be a script.
root_scripts() {
    IFS=:
    # shellcheck disable=SC2086
    root_found=$(find -L $root_good -maxdepth 1 -type f -exec head -c 256 /dev/null {} + 2>/dev/null |
        sed -n -e '/^==> /{' -e h -e d -e '}' -e '/^#!/{' -e x -e p -e x -e p -e '}')
    IFS=$root_newline root_well=$root_newline root_ill=$root_newline root_fit=$root_newline
    for root_line in $root_found; do
        case $root_line in
        '==> '*)
            root_program=${root_line#==> }
            root_program=${root_program% <==}
            continue
            ;;
        esac
        case $root_well in *"$root_newline$root_line$root_newline"*) continue ;; esac
        root_runs "$root_program" || continue
        root_line=''
        { IFS= read -r root_line <"$root_program"; } 2>/dev/null || :
        case $root_newline$root_line in "$root_newline#!"*) ;; *) continue ;; esac
        case $root_well in *"$root_newline$root_line$root_newline"*) continue ;; esac
        case $root_ill in
        *"$root_newline$root_line$root_newline"*) ;;
        *)
            IFS=' '
            if root_usual "${root_line#??}" || rooted_first "$root_line" "$root_program"; then
                root_well=$root_well$root_line$root_newline
                IFS=$root_newline
                continue
            fi
            root_ill=$root_ill$root_line$root_newline
            IFS=$root_newline
            ;;
        esac
        root_foreign=$root_foreign$root_newline$root_program
    done
}
# Whether first line $1 names one program and no other path, in a directory of root's, and that has been found to be its own
# already and to be no script. `env` looks in directories that are looked at here as well.
root_usual() {
    root_by=${1#"${1%%[! ]*}"}
    root_words=$root_by' '
    root_by=${root_by%% *}
    case ${root_words#"$root_by"} in *[/\'\"\\\$=]* | *'	'*) return 1 ;; esac
    case $root_fit in *"$root_newline$root_by$root_newline"*) return ;; esac
    root_dir=${root_by%/*} root_as=$root_by
    case $root_dir:$root_links in
    "/bin:"*"$root_newline/bin -> usr/bin$root_newline"*) root_as=/usr$root_by root_dir=/usr/bin ;;
    esac
    case :$root_good: in *":$root_dir:"*) ;; *) return 1 ;; esac
    if ! root_own_file "$root_as"; then
        # A link to a neighbour, such as sh to dash.
        root_to=$(readlink "$root_as" 2>/dev/null)
        case $root_to in */* | '') return 1 ;; esac
        root_own_file "$root_dir/$root_to" || return
    fi
    root_fit=$root_fit$root_by$root_newline
}
# Whether $1, in a directory of root's, is a program itself, no script, and nobody else can change it.
root_own_file() {
    case $root_newline$root_foreign$root_newline in *"$root_newline$1$root_newline"*) return 1 ;; esac
    case $root_newline$root_found$root_newline in *"$root_newline==> $1 <==$root_newline"*) return 1 ;; esac
    [ ! -L "$1" ] && root_runs "$1"
}
root_runs() { [ -f "$1" ] && [ -x "$1" ]; }
# Prints where a program called $1 is that root may run; fails where there is none.
root_own() {
    IFS=:
    for root_dir in $root_good; do
        root_runs "$root_dir/$1" || continue
        case $root_newline$root_foreign$root_newline in
        *"$root_newline$root_dir/$1$root_newline"* | *"$root_newline/etc/alternatives/$1$root_newline"*) continue ;;
        esac
        printf '%s\n' "$root_dir/$1"
        return
    done
    return 1
}
# Puts something in the place of programs that root does not run. Where that cannot be, their directories are left out.
root_stand_ins() {
    root_place=/run/provision/stand-ins
    if ! (umask 077 && mkdir -p "$root_place") 2>/dev/null || ! rooted "$root_place" || [ ! -O "$root_place" ]; then
        root_leave_out
        return
    fi
    root_made=/
    IFS=$root_newline
    for root_program in $root_foreign; do
        root_stand_in "$root_program" || {
            root_leave_out
            return
        }
    done
    IFS=:
    for root_dir in $root_bad; do
        set +f
        set -- "$root_dir"/*
        set -f
        # What has thousands is an environment of its own and no place for tools of the system.
        [ $# -le 500 ] || continue
        for root_program; do
            root_runs "$root_program" || continue
            # It is out of the path anyway.
            root_stand_in "$root_program" || break 2
        done
    done
    set +f
    for root_program in "$root_place"/*; do
        case $root_made in */"${root_program##*/}"/*) ;; *) rm -f "$root_program" ;; esac
    done
    set -f
    [ "$root_made" = / ] || root_good=$root_place${root_good:+:$root_good}
}
# Leaves only directories without a program of others; none, which no program is in, where that cannot be told.
root_leave_out() {
    IFS=:
    root_left=''
    for root_dir in $root_good; do
        case $root_newline$root_foreign in
        *"$root_newline$root_dir/"* | *"$root_newline/etc/alternatives/"*) ;;
        *) root_left=$root_left:$root_dir ;;
        esac
    done
    root_good=${root_left#:}
    root_good=${root_good:-/dev/null}
}
root_stand_in() {
    root_name=${1##*/}
    case $root_made in */"$root_name"/*) return ;; esac
    if root_taken=$(root_own "$root_name"); then
        # It comes first anyway, unless one of this name stands before it.
        case $root_newline$root_foreign$root_newline in *"/$root_name$root_newline"*) ;; *) return ;; esac
        root_text="#!/bin/sh
exec '$root_taken' \"\$@\""
    else
        IFS=' '
        rooted "$1" || :
        root_text="#!/bin/sh
cat >&2 <<'END'
$root_name is not run as root: ${rooted_why:-others can change it}
END
exit 126"
    fi
    root_old=$(cat "$root_place/$root_name" 2>/dev/null)
    [ "$root_old" = "$root_text" ] ||
        (umask 077 && printf '%s\n' "$root_text" >"$root_place/.new" && chmod 0755 "$root_place/.new" && mv -f "$root_place/.new" "$root_place/$root_name") ||
        return
    root_made=$root_made$root_name/
}
