#!/bin/sh
# chaos-step: work that keeps a book of when it began and ended, and leaves a mark when it is done.
# Parameters: name version seconds
book() { printf '%s %s %s %s\n' "$1" "$2" "$3" "$(date +%s.%N)" >>/var/chaos/book; }
exec 8>>"/var/chaos/lock.$1"
if ! flock -n 8; then
    book overlap "$1" "$2"
    exit 1
fi
book start "$1" "$2"
# A command that says it did what it did not: only a proof sees it, and handlers have none.
if [ "$1" != reload ] && [ "$1" != report ] && rm /var/chaos/lie 2>/dev/null; then
    book lied "$1" "$2"
    exit 0
fi
sleep "$3" 8>&-
if ! printf '%s\n' "$2" 2>/dev/null >"/srv/chaos/done.$1"; then
    book failed "$1" "$2"
    echo 'No space left on device' >&2
    exit 1
fi
book end "$1" "$2"
