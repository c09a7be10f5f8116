# Runs the scripts of a task that makes several changes; they are packed.
# Parameters: scripts
case $1 in
=*) printf '%s' "${1#=}" ;;
*) printf '%s' "$1" | base64 -d ;;
esac | sh -s
