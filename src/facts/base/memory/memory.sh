# Prints the lines of /proc/meminfo that matter.
while read -r name value _; do
    case $name in
    MemTotal: | SwapTotal: | HugePages_Total: | HugePages_Free: | Hugepagesize:)
        printf '%s%s\n' "$name" "$value"
        ;;
    esac
done </proc/meminfo
