# Holds the packages of the driver whose version starts so against upgrades.
# Parameters: version
# The list is short and its names hold no white space.
set -f
# A pattern that fits nothing is status 1, and so is much else.
listed=$(dpkg-query -W -f '${Package} ${Version}\n' '*nvidia*' libcuda1 'cuda-drivers*' 2>/dev/null)
if [ $? -gt 1 ] || [ -z "$listed" ]; then
    printf 'dpkg-query lists no package of the driver\n' >&2
    exit 1
fi
# shellcheck disable=SC2046
set -- $(printf '%s\n' "$listed" |
    while read -r name version; do
        case ${version#*:} in "$1"*) printf '%s\n' "$name" ;; esac
    done)
if [ $# -eq 0 ]; then
    printf 'dpkg-query lists no package of the driver of this version\n' >&2
    exit 1
fi
apt-mark hold -- "$@"
