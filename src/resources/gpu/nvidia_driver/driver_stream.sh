# Enables a module stream of dnf.
# Parameters: tool stream
"$1" -y -q module reset "${2%%:*}" && "$1" -y -q module enable "$2"
