# Needs rooted. No hook is run, and no program that watches files.
git() {
    command git -c core.hooksPath=/dev/null -c core.fsmonitor= "$@"
}
# Whether git may work in a checkout whose `.git` is $1: all that it would run is named by files that nobody else can
# change, and is such a file itself. Else $rooted_why says who can.
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
        rooted "$git_directory" || return
    fi
    git_files "$git_directory" || return
    if [ -f "$git_directory/commondir" ]; then
        read -r git_common <"$git_directory/commondir"
        case $git_common in
        /*) ;;
        *) git_common=$git_directory/$git_common ;;
        esac
        rooted "$git_common" && git_files "$git_common" || return
    fi
    git_settings "$1"
}
git_files() {
    for git_file in HEAD commondir config config.worktree hooks info; do
        [ ! -e "$1/$git_file" ] || rooted "$1/$git_file" || return
    done
}
# The same of each file that git has settings from, and of the programs that they name. To list them runs none.
git_settings() {
    git_list=$(command git --git-dir="$1" config --list --show-origin 2>&1) || {
        rooted_why="git cannot read the settings of $1: $git_list"
        return 1
    }
    git_tab='	'
    git_origin=''
    while IFS= read -r git_line; do
        case $git_line in
        "file:"*"$git_tab"*)
            git_file=${git_line%%"$git_tab"*}
            git_file=${git_file#file:}
            # Each of them once. What is relative is in the repository.
            case $git_file in
            "$git_origin") ;;
            /*) git_may "$git_file" || return ;;
            esac
            git_origin=$git_file
            git_line=${git_line#*"$git_tab"}
            ;;
        esac
        git_value=${git_line#*=}
        case $git_line in
        include.path=* | includeif.*.path=*)
            case $git_value in
            /*) git_may "$git_value" || return ;;
            [~]/*) git_may "${HOME:-/root}/${git_value#*/}" || return ;;
            *) case $git_origin in /*) git_may "${git_origin%/*}/$git_value" || return ;; esac ;;
            esac
            ;;
        filter.*.clean=* | filter.*.smudge=* | filter.*.process=* | credential.*helper=* | diff.*.command=* | diff.*.textconv=* | \
            diff.external=* | merge.*.driver=* | gpg.*program=* | uploadpack.packobjectshook=* | remote.*.uploadpack=* | \
            remote.*.vcs=* | core.sshcommand=* | core.gitproxy=* | core.editor=* | core.pager=* | core.askpass=* | \
            core.alternaterefscommand=* | sequence.editor=*)
            git_words "$git_value" || {
                rooted_why="${git_line%%=*} of git: $rooted_why"
                return 1
            }
            ;;
        esac
    done <<END
$git_list
END
}
# Whether each path among words $1 is one that nobody else can change.
git_words() {
    set -- "$1 "
    while [ -n "$1" ]; do
        case ${1%%[ 	]*} in
        */*)
            git_word=/${1#*/}
            git_may "${git_word%%[ 	:\'\"\;\&\|]*}" || return
            ;;
        esac
        set -- "${1#*[ 	]}"
    done
}
# Whether nobody else can change $1, or make it where it is not there.
git_may() {
    git_path=$1
    while [ ! -e "$git_path" ] && [ -n "$git_path" ]; do
        git_path=${git_path%/*}
    done
    rooted "${git_path:-/}"
}
