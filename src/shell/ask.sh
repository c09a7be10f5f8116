# Runs a command of a playbook. The directory may be empty; so many variables `NAME=VALUE` follow as their
# number says. The kind is `argv`, with its words, or `script`, with its interpreter and its text (base64).
# Variables are exported by the shell itself: nothing of them is ever seen in a process list.
# Parameters: directory variables variable... kind [interpreter] [text] word...
directory=$1
variables=$2
shift 2
while [ "$variables" -gt 0 ]; do
    # shellcheck disable=SC2163 # the parameter is NAME=VALUE
    export "$1"
    shift
    variables=$((variables - 1))
done
if [ -n "$directory" ]; then
    cd "$directory" || exit 1
fi
kind=$1
shift
if [ "$kind" = argv ]; then
    unset directory variables kind
    # `exec` takes programs only, never a function or builtin of this shell.
    exec "$@"
fi
interpreter=$1
if [ -z "$interpreter" ]; then
    unset directory variables kind interpreter
    sh -c "$(base64 -d <<END
$2
END
    )"
    exit $?
fi
umask=$(umask)
umask 077
file=$(mktemp) || exit 1
base64 -d >"$file" <<END || exit 1
$2
END
umask "$umask"
unset directory variables kind umask
# shellcheck disable=SC2086 # the line after `#!` is split at white space
$interpreter "$file"
status=$?
rm -f "$file"
exit $status
