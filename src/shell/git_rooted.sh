# Whether git may work in a checkout whose `.git` is $1: what it would run is named by files that nobody else can change.
# Else $rooted_why says who can.
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
    for git_file in HEAD commondir config config.worktree hooks info; do
        [ ! -e "$git_directory/$git_file" ] || rooted "$git_directory/$git_file" || return
    done
}
