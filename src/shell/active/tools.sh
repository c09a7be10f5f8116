# tools NAME ...: what the host calls itself, and which of these commands are there.
printf 'hostname=%s\n' "$(uname -n)"
for tool; do
    ! command -v "$tool" >/dev/null 2>&1 || printf 'tool=%s\n' "$tool"
done
