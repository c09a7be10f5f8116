# tools NAME ...: which of these commands are there.
for tool; do
    ! command -v "$tool" >/dev/null 2>&1 || printf 'tool=%s\n' "$tool"
done
