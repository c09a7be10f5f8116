# Runs the scripts of a task that makes several changes. Parameters: packed scripts.
for script; do
    case $script in
    =*) printf '%s' "${script#=}" ;;
    *) printf '%s' "$script" | base64 -d ;;
    esac | sh -s || exit
done
