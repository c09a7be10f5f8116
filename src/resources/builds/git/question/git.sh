# Asks about checkouts of git. Parameters: paths.
# Nothing is written, not even what git would remember for the next time. What the files of git say is run: hooks, and
# programs of its configuration. So git is asked only where nobody else can change them, whatever it allows by itself.
export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1
newline='
'
for path; do
    if ! command -v git >/dev/null 2>&1; then
        printf 'tool %s\n' "$path"
        continue
    fi
    if [ ! -e "$path" ] && [ ! -L "$path" ]; then
        printf 'absent %s\n' "$path"
        continue
    fi
    if [ ! -e "$path/.git" ]; then
        entries=.
        if [ -d "$path" ]; then
            entries=$(ls -A "$path") || exit
        fi
        if [ -z "$entries" ]; then
            printf 'absent %s\n' "$path"
        else
            printf 'other %s\n' "$path"
        fi
        continue
    fi
    printf 'tree %s\n' "$path"
    if ! git_rooted "$path/.git"; then
        printf 'refused git is not run here: %s\n' "$rooted_why"
        printf 'end\n'
        continue
    fi
    if head=$(our_git -C "$path" rev-parse -q --verify HEAD 2>/dev/null); then
        printf 'head %s\n' "$head"
        our_git -C "$path" for-each-ref --points-at HEAD --format 'ref %(refname)' 2>/dev/null || exit 1
        changes=$(our_git -C "$path" status --porcelain --untracked-files=no --ignore-submodules=all 2>/dev/null) || exit 1
        [ -z "$changes" ] || printf '%s\n' "$changes" | while IFS= read -r line; do printf 'changed %s\n' "$line"; done
    elif ! git_cut "$path/.git" && ! errors=$(our_git -C "$path" rev-parse --git-dir 2>&1 >/dev/null); then
        printf 'refused %s\n' "${errors%%"$newline"*}"
    fi
    printf 'url %s\n' "$(our_git -C "$path" config --get remote.origin.url 2>/dev/null)"
    printf 'end\n'
done
