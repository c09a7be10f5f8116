# The functions that probes share. Everything that is printed stands between a line that begins with
# the record separator (octal 036) and `ask`, and one with `end` and a status; what the command wrote
# to standard error follows that.

# begin NAME, done STATUS: around lines that the shell itself reads from files.
begin() {
    printf '\n\036ask %s\n' "$*"
}
# A section for which `lost` was called says so, whatever it ended with.
without=''
finish() {
    if [ -z "$without" ]; then
        printf '\n\036end %s\n' "$1"
    else
        printf '\n\036end 1\nmissing or failed:%s\n' "$without"
        without=''
    fi
}
# lost TOOL: a tool is missing or failed that lines of this section come from.
lost() {
    case "$without " in *" $1 "*) ;; *) without="$without $1" ;; esac
}
# value KEY FILE: the first line of a file as KEY=LINE, when it can be read.
value() {
    line=
    if { read -r line <"$2"; } 2>/dev/null || [ -n "$line" ]; then
        printf '%s=%s\n' "$1" "$line"
    fi
}
# ask SECONDS COMMAND ...: runs a command for at most so long. `timeout` waits in vain for a process
# that the kernel holds; the deadline of the whole part ends that.
ask() {
    seconds=$1
    shift
    begin "$@"
    if ! command -v "$1" >/dev/null 2>&1; then
        finish missing
        return 127
    fi
    status=0
    if command -v timeout >/dev/null 2>&1; then
        { errors=$(timeout -k 2 "$seconds" "$@" 2>&1 >&3 3>&-) || status=$?; } 3>&1
    else
        { errors=$("$@" 2>&1 >&3 3>&-) || status=$?; } 3>&1
    fi
    finish "$status"
    printf '%s\n' "$errors"
    return "$status"
}
# sift PATTERN SECONDS COMMAND ...: the same for a command that says much: only the lines that match, after sed did
# $fold to them, the last $most of them; of a command that fails, its first lines. All that it said is in $text, the
# exit status in $status.
sift() {
    pattern=$1
    seconds=$2
    shift 2
    sift_as "$*" "$pattern" "$seconds" "$@"
}
# sift_as NAME PATTERN SECONDS COMMAND ...: the same under another name, where the command has hundreds of words.
sift_as() {
    begin "$1"
    pattern=$2
    seconds=$3
    shift 3
    status=missing
    if command -v "$1" >/dev/null 2>&1; then
        status=0
        if command -v timeout >/dev/null 2>&1; then
            text=$(timeout -k 2 "$seconds" "$@" 2>&1) || status=$?
        else
            text=$("$@" 2>&1) || status=$?
        fi
        if [ "$status" = 0 ]; then
            found=$text
            [ -z "${fold-}" ] || found=$(printf '%s\n' "$text" | sed "$fold") || status=2
            # With 1 there is no such line.
            if found=$(printf '%s\n' "$found" | grep -E "$pattern") || [ $? = 1 ]; then
                [ -z "$found" ] || printf '%s\n' "$found" | tail -n "${most:-2000}" || status=2
            else
                status=2
            fi
        else
            printf '%s\n' "$text" | head -n 10
        fi
    fi
    finish "$status"
}
