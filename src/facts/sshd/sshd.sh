# Prints what sshd makes of its files. Asking needs root: it reads its host keys.
daemon=''
for candidate in /usr/sbin/sshd /usr/local/sbin/sshd /sbin/sshd; do
    if [ -x "$candidate" ]; then
        daemon=$candidate
        break
    fi
done
if [ -z "$daemon" ]; then
    printf 'missing\nend\n'
    exit 0
fi
# What stands behind `Match` holds for some logins only, and `sshd -T` leaves it out.
for file in /etc/ssh/sshd_config /etc/ssh/sshd_config.d/*.conf; do
    [ -r "$file" ] || continue
    while read -r key value _; do
        case $key in
        [Mm][Aa][Tt][Cc][Hh]) printf 'match\n' ;;
        [Ii][Nn][Cc][Ll][Uu][Dd][Ee])
            case $value in
            /etc/ssh/sshd_config.d/\*.conf | sshd_config.d/\*.conf) printf 'drop-ins\n' ;;
            # It may have any.
            *) printf 'match\n' ;;
            esac
            ;;
        esac
    done <"$file"
done
# Without /run/sshd some say nothing else; it is there wherever one runs.
if told=$("$daemon" -T 2>&1); then
    printf '%s\n' "$told" | while IFS= read -r line; do printf 'option %s\n' "$line"; done
else
    printf 'problem %s\n' "${told%%
*}"
fi
printf 'end\n'
