# Runs a command of a playbook. The directory may be empty; so many variables `NAME=VALUE` follow as their
# number says. The kind is `argv`, with its words, or `script`, with its interpreter and its packed text.
# Variables are exported by the shell itself: nothing of them is ever seen in a process list.
# Parameters: directory variables variable... kind [interpreter] [text] word...
provision_directory=$1
provision_count=$2
shift 2
while [ "$provision_count" -gt 0 ]; do
    # shellcheck disable=SC2163 # the parameter is NAME=VALUE
    export "$1"
    shift
    provision_count=$((provision_count - 1))
done
if [ -n "$provision_directory" ]; then
    cd "$provision_directory" || exit 1
fi
unset provision_directory provision_count
if [ "$1" = argv ]; then
    shift
    # `exec` takes programs only, never a function or builtin of this shell.
    exec "$@"
fi
# Ends what could not even begin, which is no answer of the command.
provision_failed() {
    printf 'this could not be run: %s\n' "$1"
    exit 126
}
if [ -z "$2" ]; then
    provision_text=$(unpack "$3") || provision_failed "$(unpack "$3" 2>&1 >/dev/null)"
    # Through a pipe: a word of a program holds 128 KiB at most, and everybody sees it.
    # shellcheck disable=SC2016 # expands in the inner shell
    say "$provision_text" | sh -c 'provision_text=$(cat) && exec </dev/null || {
    echo "this could not be run: cat failed"
    exit 126
}
eval "unset provision_text
$provision_text"'
    exit $?
fi
provision_mask=$(umask)
umask 077
# In a directory of its own: Python looks for modules beside its script before anywhere else. tidy.sh takes away what was
# killed before it could.
provision_own=$(mktemp -d "${TMPDIR:-/tmp}/provision-script.$$.XXXXXX" 2>&1) || provision_failed "$provision_own"
trap 'rm -rf "$provision_own"' EXIT
trap 'exit 1' HUP INT TERM
provision_error=$(unpack "$3" 2>&1 >"$provision_own/script") || provision_failed "$provision_error"
umask "$provision_mask"
# shellcheck disable=SC2086 # the line after `#!` is split at white space
$2 "$provision_own/script"
