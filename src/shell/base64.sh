# Text that no shell word can hold travels as base64. What decodes it is not the same on all hosts.
# Prints $1; not by `printf` where that is a program, since nothing of it may be seen in a process list.
if [ -n "${KSH_VERSION-}" ]; then
    say() { print -rn -- "$1"; }
else
    say() { printf '%s' "$1"; }
fi
# Prints packed text $1: `=` and the text itself, or base64.
unpack() {
    case $1 in
    =*) say "${1#=}" ;;
    *) say "$1" | decode ;;
    esac
}
# Decodes what it reads.
decode() {
    if command -v base64 >/dev/null 2>&1; then
        base64 -d
    elif command -v openssl >/dev/null 2>&1; then
        openssl base64 -d -A
    elif command -v python3 >/dev/null 2>&1; then
        python3 -I -c 'import base64, sys; sys.stdout.buffer.write(base64.b64decode(sys.stdin.buffer.read()))'
    elif command -v perl >/dev/null 2>&1; then
        perl -MMIME::Base64 -0777 -ne 'print decode_base64($_)'
    elif command -v busybox >/dev/null 2>&1; then
        busybox base64 -d
    else
        printf 'base64, openssl, python3, perl or busybox is needed, and none of them is here\n' >&2
        return 127
    fi
}
# Prints what it reads as base64.
encode() {
    if command -v base64 >/dev/null 2>&1; then
        base64
    elif command -v openssl >/dev/null 2>&1; then
        openssl base64
    elif command -v python3 >/dev/null 2>&1; then
        python3 -I -c 'import base64, sys; sys.stdout.buffer.write(base64.encodebytes(sys.stdin.buffer.read()))'
    elif command -v perl >/dev/null 2>&1; then
        perl -MMIME::Base64 -0777 -ne 'print encode_base64($_)'
    elif command -v busybox >/dev/null 2>&1; then
        busybox base64
    else
        return 127
    fi
}
