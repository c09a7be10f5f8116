# What a new login of the user gets: it is asked in a session of its own, without becoming root.
begin login
# shellcheck disable=SC3045 # dash, bash and busybox have it
printf 'memlock=%s\n' "$(ulimit -l 2>/dev/null)"
# shellcheck disable=SC3045
printf 'nofile=%s\n' "$(ulimit -n 2>/dev/null)"
user=$(id -un 2>/dev/null) || user=$(id -u 2>/dev/null) || lost id
printf 'user=%s\n' "$user"
printf 'path=%s\n' "$PATH"
finish 0
