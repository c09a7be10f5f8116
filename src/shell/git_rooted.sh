# Needs rooted and rooted_below. git without what it would run by itself: hooks, a watcher of files, upkeep.
our_git() {
    git -c core.hooksPath=/dev/null -c core.fsmonitor= -c gc.auto=0 -c maintenance.auto=false "$@"
}
# Whether git may work in a checkout whose `.git` is $1: nobody else can change what is in it, nor a file that git has settings
# from, nor a program that these name. Else $rooted_why says who can.
git_rooted() {
    rooted "$1" || return
    git_directory=$1
    if [ -f "$1" ]; then
        # Of a worktree: a file that names the directory.
        git_directory=''
        read -r _ git_directory <"$1"
        case $git_directory in
        /*) ;;
        *) git_directory=${1%/*}/$git_directory ;;
        esac
    fi
    rooted_below "$git_directory" || return
    git_common=$git_directory
    if [ -f "$git_directory/commondir" ]; then
        git_common=''
        read -r git_common <"$git_directory/commondir" || [ -n "$git_common" ] || return
        case $git_common in
        /*) ;;
        *) git_common=$git_directory/$git_common ;;
        esac
        rooted_below "$git_common" || return
    fi
    # Objects are those of the common directory.
    git_file=$git_common/objects/info/alternates
    [ ! -s "$git_file" ] || while IFS= read -r git_other; do
        case $git_other in
        /*) rooted_below "$git_other" || return ;;
        *)
            rooted_why="$git_file is not read here"
            return 1
            ;;
        esac
    done <"$git_file"
    git_settings "$1"
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
    *[\$\`\\]* | *PATH=*)
        rooted_why="\`$git_value\` is not read here"
        return 1
        ;;
    esac
    for git_word; do
        case $git_word in
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
