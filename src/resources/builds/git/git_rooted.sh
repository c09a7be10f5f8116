# Needs rooted and rooted_below. git of the checkout that is here, without what it would run by itself: hooks, a watcher of
# files, upkeep, what a URL says. It takes no other repository where this one is damaged: those above may be of anybody.
our_git() {
    git --git-dir=.git --work-tree=. -c core.hooksPath=/dev/null -c core.fsmonitor= -c gc.auto=0 -c maintenance.auto=false \
        -c protocol.ext.allow=never "$@"
}
# Whether directory $1 is a repository that was cut: git writes HEAD last, and works in none without it.
git_cut() {
    [ -d "$1" ] && [ ! -s "$1/HEAD" ] && [ ! -L "$1/HEAD" ]
}
# Whether git may work in a checkout whose `.git` is $1: nobody else can change what is in it, nor a file that git has settings
# from, nor a program that these name. Else $rooted_why says who can.
git_rooted() {
    rooted "$1" || return
    git_directory=$1
    if [ -f "$1" ]; then
        # Of a worktree: a file that names the directory.
        IFS= read -r git_directory <"$1"
        git_directory=${git_directory#gitdir: }
        case $git_directory in
        /*) ;;
        *) git_directory=${1%/*}/$git_directory ;;
        esac
    fi
    rooted_below "$git_directory" || return
    git_common=$git_directory
    if [ -f "$git_directory/commondir" ]; then
        git_common=''
        IFS= read -r git_common <"$git_directory/commondir" || [ -n "$git_common" ] || return
        case $git_common in
        /*) ;;
        *) git_common=$git_directory/$git_common ;;
        esac
        rooted_below "$git_common" || return
    fi
    git_objects "$git_common/objects" 1 || return
    ! git_cut "$git_directory" || return 0
    # For who is not root, git knows whose repository may be used. It says so only where it looks for it.
    if [ "$rooted_me" != 0 ] && ! git_said=$(git -C "${1%/*}" rev-parse --git-dir 2>&1 >/dev/null); then
        rooted_why=${git_said%%'
'*}
        return 1
    fi
    git_settings "$1"
}
# Whether the objects that are added to those in directory $1 can be changed by nobody else. $2 of such turns were taken.
git_objects() {
    [ -s "$1/info/alternates" ] || return 0
    # git takes five.
    if [ "$2" -gt 5 ]; then
        rooted_why="$1/info/alternates leads too far"
        return 1
    fi
    while IFS= read -r git_other || [ -n "$git_other" ]; do
        case $git_other in
        '' | '#'*) ;;
        /*) rooted_below "$git_other" && git_objects "$git_other" $(($2 + 1)) || return ;;
        *)
            rooted_why="$1/info/alternates is not read here"
            return 1
            ;;
        esac
    done <"$1/info/alternates"
}
# The same of the settings. To list them runs nothing.
git_settings() {
    # Two lines for each of them: where it is from, and its name and value.
    git_list=$(git --git-dir="$1" config --list -z --show-origin 2>/dev/null | tr '\n\000' '\r\n')
    [ -n "$git_list" ] || {
        rooted_why="git cannot read the settings of $1"
        return 1
    }
    git_return=$(printf '\r')
    git_known=''
    while IFS= read -r git_origin && IFS= read -r git_line; do
        git_name=${git_line%%"$git_return"*} git_value=${git_line#*"$git_return"}
        case $git_origin in
        "$git_known" | "command line:") ;;
        # What is relative is in the repository.
        file:/*) rooted "${git_origin#file:}" || return ;;
        file:*) ;;
        *)
            rooted_why="settings of git from $git_origin are not read here"
            return 1
            ;;
        esac
        git_known=$git_origin
        case $git_name in
        include.path | includeif.*.path)
            case $git_value in
            /*) ;;
            [~]/*) git_value=${HOME:-/root}/${git_value#*/} ;;
            [~]*)
                rooted_why="$git_name of git: \`$git_value\` is not read here"
                return 1
                ;;
            *)
                # Beside the file that names it.
                git_file=${git_origin#file:}
                git_value=${git_file%/*}/$git_value
                ;;
            esac
            case $git_value in /*) rooted_may "$git_value" || return ;; esac
            ;;
        # They decide what is written to files, and which are written over.
        core.attributesfile | core.excludesfile)
            case $git_value in
            '') ;;
            /*) rooted_may "$git_value" || return ;;
            [~]/*) rooted_may "${HOME:-/root}/${git_value#*/}" || return ;;
            *)
                rooted_why="$git_name of git: \`$git_value\` is not read here"
                return 1
                ;;
            esac
            ;;
        core.worktree)
            rooted_why="core.worktree of git: its files would be written elsewhere"
            return 1
            ;;
        filter.*.clean | filter.*.smudge | filter.*.process | credential.*helper | uploadpack.packobjectshook | remote.*.uploadpack | \
            remote.*.vcs | core.sshcommand | core.gitproxy | core.askpass | core.alternaterefscommand | gc.recentobjectshook | \
            hook.*.command | lfs.customtransfer.*.path | lfs.extension.*)
            git_words || {
                rooted_why="$git_name of git: $rooted_why"
                return 1
            }
            ;;
        esac
    done <<END
$git_list
END
}
# Whether each path in $git_value, which a shell will read, is one that nobody else can change.
git_words() {
    git_old=$IFS
    set -f
    IFS=";&|:=()<>\"' 	$git_return"
    # shellcheck disable=SC2086
    set -- $git_value
    IFS=$git_old
    set +f
    case $git_value in
    *[\$\`\\*?[]* | *PATH=*)
        rooted_why="\`$git_value\` is not read here"
        return 1
        ;;
    esac
    for git_word; do
        case $git_word in
        # A shell may make several words of it.
        *"{"*[,.]*)
            rooted_why="\`$git_word\` is not read here"
            return 1
            ;;
        /*) rooted_may "$git_word" || return ;;
        !/*) rooted_may "${git_word#!}" || return ;;
        [~]/*) rooted_may "${HOME:-/root}/${git_word#*/}" || return ;;
        [~]* | */*)
            rooted_why="\`$git_word\` is not read here"
            return 1
            ;;
        esac
    done
}
