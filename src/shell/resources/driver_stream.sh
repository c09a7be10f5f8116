# Enables a module stream of dnf. Parameters: the tool, the stream.
"$1" -y -q module reset "${2%%:*}" && "$1" -y -q module enable "$2"
