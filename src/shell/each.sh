# Runs the scripts of a task that makes several changes; they are packed.
# Parameters: scripts
text=$(unpack "$1") || exit 1
say "$text" | sh -s
