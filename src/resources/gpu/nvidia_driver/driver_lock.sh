# Locks the packages of the NVIDIA driver to the versions that match a pattern, such as `580.*`, so that dnf and yum
# see no others: "Version Locking" of NVIDIA's Driver Installation Guide. Without a pattern the locks go.
# Parameters: tool version name...
tool=$1 wanted=$2
shift 2
set -f
old=''
for name; do
    old="$old $name-[0-9]*:*"
done
new=''
if [ -n "$wanted" ]; then
    # A pattern of versionlock's own counts only what is installed, where something is.
    available=$("$tool" -q --disableplugin=versionlock repoquery --available \
        --qf '%{name} %{epoch}:%{version}-%{release}\n' "*nvidia*-$wanted" "cuda-drivers-$wanted") || exit
    while read -r name version; do
        # They have their versions from tasks of their own.
        case $name in '' | nvidia-imex* | *fabric*manager*) continue ;; esac
        new="$new $name-$version"
        old="$old $name-[0-9]*:*"
    done <<END
$available
END
    if [ -z "$new" ]; then
        printf 'the repositories have no NVIDIA driver in version %s\n' "$wanted" >&2
        exit 1
    fi
fi
# That of yum fails where nothing was locked yet. What else stays locked beside the new ones is seen when it is proven.
# shellcheck disable=SC2086 # names without white space
if ! said=$("$tool" -y -q versionlock delete $old 2>&1) && [ -z "$new" ]; then
    printf '%s\n' "$said" >&2
    exit 1
fi
# shellcheck disable=SC2086
[ -z "$new" ] || "$tool" -y -q versionlock add $new
