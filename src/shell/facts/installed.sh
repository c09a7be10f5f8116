# Prints the installed packages of some families. Parameters: names with `*`.
if command -v dpkg-query >/dev/null 2>&1; then
    dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' "$@" 2>/dev/null
elif command -v rpm >/dev/null 2>&1; then
    rpm -qa --qf 'ii  %{NAME} %{EVR}\n' "$@" 2>/dev/null
else
    printf 'no package manager\n'
    exit
fi
printf 'end\n'
