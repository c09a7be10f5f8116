# Locks the packages of the NVIDIA driver to the versions that match a pattern, such as `580.*`, so that dnf and yum
# see no others: "Version Locking" of NVIDIA's Driver Installation Guide.
# Parameters: tool version
"$1" -y -q versionlock delete '*nvidia*' 'cuda-drivers*' >/dev/null 2>&1
"$1" -y -q versionlock add "*nvidia*-$2" || exit
# The proprietary modules alone have it.
"$1" -y -q versionlock add "cuda-drivers-$2" >/dev/null 2>&1 || :
