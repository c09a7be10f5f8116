# Prints the PATH that root uses here: directories that nobody else can change, as whoever can puts programs there that
# root would run. A program in them that somebody else can change is not run either: another one of its name is taken, else a
# stand-in that says why and ends with 126. Asks few programs where all is as usual, and more for an interpreter that is
# none of root's. No answer is kept for the next login: too much changes what a path leads to without a trace in its times. Only
# the first lines of root's own files are kept, as a file that was changed has another time or number.
root_path() {
    root_newline='
'
    set -f
    # shellcheck disable=SC2034 # for rooted.sh
    rooted_me=0
    root_all=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/mellanox/ethtool/sbin
    PATH=/usr/bin:/usr/sbin:/bin:/sbin LC_ALL=C
    export PATH LC_ALL
    root_kept=/run/provision/first-lines.1 root_dirs=''
    # Where links mostly lead is asked at once.
    root_ways='
/lib
/lib64
/run
/run/provision
/usr/lib
/usr/lib64
/usr/lib/systemd
/usr/lib/x86_64-linux-gnu
/usr/lib/aarch64-linux-gnu
'
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
    root_there=$root_newline root_open=$root_newline root_links=$root_newline root_asked=/$root_newline
    root_look
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
            if rooted "$root_dir" && root_dir=$(cd -P "$root_dir" && pwd -P) && rooted "$root_dir"; then root_verdict=good; fi
            IFS=:
            case :$root_good: in *":$root_dir:"*) continue ;; esac
        fi
        case $root_verdict in
        good) root_good=${root_good:+$root_good:}$root_dir ;;
        *) root_bad=${root_bad:+$root_bad:}$root_dir ;;
        esac
    done
    # Programs that somebody else can change, and where links lead.
    root_outer=$root_good
    [ ! -d /etc/alternatives ] || root_outer=$root_outer:/etc/alternatives
    root_foreign='' root_recalled=''
    root_recall || root_foreign
    [ -z "$root_foreign" ] || root_sum=''
    root_led=''
    # shellcheck disable=SC2086
    [ -z "$root_good" ] || root_led=$(root_leads 1 $root_outer)
    IFS=$root_newline
    root_far_links
    root_scripts
    root_neighbours
    if [ -n "$root_foreign$root_bad" ]; then
        root_stand_ins
        # Who adds directories of the system to a PATH, in case that it has none, does not to this one.
        root_good=$root_good:/dev/null
    fi
    printf '%s\n' "$root_good"
}
# Adds those of $root_ways that are there to $root_there, those that others can change to $root_open, and links to $root_links.
root_look() {
    IFS=$root_newline root_unasked=''
    for root_dir in $root_ways; do
        case $root_newline$root_asked in *"$root_newline$root_dir$root_newline"*) ;; *) root_unasked=$root_unasked$root_dir$root_newline ;; esac
    done
    [ -n "$root_unasked" ] || return 0
    root_asked=$root_asked$root_unasked
    # shellcheck disable=SC2086
    root_seen=$(ls -ldn -- / $root_unasked 2>/dev/null)
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
}
# Whether only root can change directory $1, one that it is in, and where it leads: there is no link on its way.
root_own_dir() {
    case $1/ in */./* | */../*) return 1 ;; esac
    root_dir=$1
    while :; do
        root_dir=${root_dir:-/}
        case $root_there in *"$root_newline$root_dir$root_newline"*) ;; *) return 1 ;; esac
        case $root_open in *"$root_newline$root_dir$root_newline"* | *"$root_newline$root_dir/$root_newline"*) return 1 ;; esac
        case $root_links in *"$root_newline$root_dir -> "*) return 1 ;; esac
        [ "$root_dir" != / ] || return 0
        root_dir=${root_dir%/*}
    done
}
# Sets $root_foreign: programs that somebody else can change.
root_foreign() {
    # shellcheck disable=SC2086
    root_found=$(find -L $root_good -maxdepth 1 -type f \( ! -user 0 -o -perm -2 -o -perm -20 ! -group 0 \) -print -o -type f -perm -20 -exec ls -Lldn {} + 2>/dev/null)
    IFS=$root_newline
    for root_line in $root_found; do
        case $root_line in
        /*) root_foreign=$root_foreign$root_newline$root_line ;;
        # With an access list the bits of the group are its mask.
        ?????w????+*) root_foreign=$root_foreign$root_newline/${root_line#* /} ;;
        esac
    done
    IFS=:
}
# Prints links of directories or links $2... that are $1 deep at most, and where they lead, as `ls` does. The find of GNU reads
# only that; `ls` asks three things of each.
root_leads() {
    root_deep=$1
    shift
    find "$@" -maxdepth "$root_deep" -type l -printf ' %p -> %l\n' 2>/dev/null ||
        find "$@" -maxdepth "$root_deep" -type l -exec ls -ldn {} + 2>/dev/null
}
# Adds links to $root_foreign that lead out of these directories to what somebody else can change. $root_beside has those that
# lead to a file here or to a link that is looked at by itself.
root_far_links() {
    root_beside=''
    while [ -n "$root_led" ]; do
        root_far='' root_ways='' root_next=''
        for root_line in $root_led; do
            root_line=/${root_line#* /}
            root_to=${root_line#*' -> '}
            root_line=${root_line%%' -> '*}
            # Most of alternatives are pages of manuals.
            case $root_line:$root_to in /etc/alternatives/*.gz:/usr/share/*.gz) continue ;; esac
            # The directory of such a link has none on its way.
            case $root_to in
            /*) ;;
            ../*) root_to=${root_line%/*/*}/${root_to#../} ;;
            *) root_to=${root_line%/*}/$root_to ;;
            esac
            # /bin, /sbin and /lib, where /usr has all.
            root_top=${root_to#/}
            root_top=/${root_top%%/*}
            case $root_links in
            *"$root_newline$root_top -> usr/"*)
                root_dir=${root_links#*"$root_newline$root_top -> "}
                root_to=/${root_dir%%"$root_newline"*}${root_to#"$root_top"}
                ;;
            esac
            root_dir=${root_to%/*}
            case :$root_outer: in
            *":$root_dir:"*)
                root_beside="$root_beside$root_line -> $root_to$root_newline"
                continue
                ;;
            esac
            root_far="$root_far$root_line -> $root_to$root_newline"
            while [ -n "$root_dir" ]; do
                case $root_newline$root_ways in *"$root_newline$root_dir$root_newline"*) break ;; esac
                root_ways=$root_ways$root_dir$root_newline
                root_dir=${root_dir%/*}
            done
        done
        [ -n "$root_far" ] || return 0
        root_look
        for root_line in $root_far; do
            root_to=${root_line#*' -> '}
            root_line=${root_line%%' -> '*}
            if root_own_dir "${root_to%/*}"; then
                if [ -L "$root_to" ]; then
                    case $root_newline$root_beside in
                    *" -> $root_to$root_newline"*) ;;
                    *) root_next=$root_next$root_to$root_newline ;;
                    esac
                    root_beside="$root_beside$root_line -> $root_to$root_newline"
                fi
                continue
            fi
            IFS=' '
            # What is not there yet may come.
            rooted_may "$root_line" || root_foreign=$root_foreign$root_newline$root_line
            IFS=$root_newline
        done
        root_led=''
        # shellcheck disable=SC2086
        [ -z "$root_next" ] || root_led=$(root_leads 0 $root_next)
    done
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
    if [ -n "$root_recalled" ]; then
        root_found=$root_recalled
    else
        # shellcheck disable=SC2086
        root_found=$({
            find -L $root_good -maxdepth 1 -type f -exec head -c 256 /dev/null {} + 2>/dev/null
            printf '\nended %s\n' $?
        } | sed -n -e '/^==> /{' -e h -e d -e '}' -e '/^#!/{' -e x -e p -e x -e p -e '}' -e '$p')
        root_keep
        root_found=${root_found%"$root_newline"ended*}
    fi
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
        # What somebody else wrote is not read: its first line may have no end.
        case $root_newline$root_foreign$root_newline in *"$root_newline$root_program$root_newline"*) continue ;; esac
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
# Sets $root_recalled to the first lines that an earlier login has kept of just these files, with these times of their last change,
# when it found that nobody else can change one. Sets $root_sum for what this login keeps, before it looks at anything: what
# changes meanwhile has another time then. The number in the name of the file counts up when more is to be found.
root_recall() {
    root_sum=''
    case $root_there in *"$root_newline/run/provision$root_newline"*) ;; *) return 1 ;; esac
    # Only a directory of root's, which a run has made.
    case $root_links$root_open in
    *"$root_newline/run"[\ /]*) return 1 ;;
    *"$root_newline/$root_newline"* | *"$root_newline//$root_newline"* | *"$root_newline/run$root_newline"*) return 1 ;;
    esac
    root_sum=$(root_listed | sha256sum 2>/dev/null) || root_sum=''
    [ -n "$root_sum" ] && [ -f "$root_kept" ] || return
    root_recalled=$(cat "$root_kept" 2>/dev/null) || root_recalled=''
    case $root_recalled in
    "$root_sum$root_newline"*"${root_newline}ended 0") ;;
    *)
        root_recalled=''
        return 1
        ;;
    esac
    root_recalled=${root_recalled#"$root_sum"}
    root_recalled=${root_recalled%"$root_newline"ended*}$root_newline
}
# Prints programs, those of test $1... of find, with what changes when they do. Only the find of GNU prints them. Ends this shell.
root_listed() {
    # shellcheck disable=SC2086
    exec find -L $root_good -maxdepth 1 -type f "$@" -printf '%D %i %s %C@ %p\n' 2>/dev/null
}
# Keeps $root_found for the next login, when all was read. A file system that counts whole seconds does not tell two changes of one
# second apart.
root_keep() {
    # The second one is the sum of nothing.
    case $root_sum in '' | e3b0c44298fc1c14*) return 0 ;; esac
    case $root_found in *"${root_newline}ended 0") ;; *) return 0 ;; esac
    ! root_listed -cmin -2 | grep -q '\.0* /' || return 0
    (umask 077 && printf '%s\n' "$root_sum" "$root_found" >"$root_kept.$$" && mv -f "$root_kept.$$" "$root_kept") 2>/dev/null ||
        rm -f "$root_kept.$$"
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
        root_to=$root_newline$root_beside
        case $root_to in *"$root_newline$root_as -> $root_dir/"*) ;; *) return 1 ;; esac
        root_to=${root_to#*"$root_newline$root_as -> $root_dir/"}
        root_to=${root_to%%"$root_newline"*}
        case $root_to in */*) return 1 ;; esac
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
