# Prints the installed packages of some families. Parameters: names with `*`.
if command -v dpkg-query >/dev/null 2>&1; then
    dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' "$@" 2>/dev/null
    # With 1 it says that there is none of such a name.
    [ $? -lt 2 ] || exit 1
elif command -v rpm >/dev/null 2>&1; then
    rpm -qa --qf 'ii  %{NAME} %{EVR}\n' "$@" 2>/dev/null || exit 1
else
    printf 'no package manager\n'
    exit
fi
printf 'end\n'
