# What the kernel said since it was booted, newest last: the lines in which a sign stands.
# Parameters: signs, signs of the boot before: extended expressions.
now=$1
before=$2
# A later line of a message goes with the first one, in front of it: a program can have a line break in its name
# and in that of its file, and looks like the kernel there.
indented='/^[[:space:]]/{
G
s/^[[:space:]]*\(.*\)\n\(.*\)$/\2\\x0a\1/
b
}'
# Where each line has the time, those of one message have the same; while the kernel starts there are no programs.
timed=$indented'
/^\[ *0\.0*\]/b
G
/^\(\[[^]]*\]\).*\n\1/{
s/^\[[^]]*\] *\(.*\)\n\(.*\)$/\2\\x0a\1/
b
}
s/\n.*//
h'
indented=$indented'
h'
# Programs write to /dev/kmsg as well, with another facility.
set -- dmesg
case $(dmesg -V 2>&1) in *util-linux*) set -- dmesg -k ;; esac
fold=$indented
[ "$#" = 2 ] && [ -r /dev/kmsg ] || fold=$timed
sift_as dmesg "$now" 10 "$@"
fold=$indented
# A kernel that ran for long has overwritten the beginning of its own log; the journal may still have it.
case "$status ${text-}" in
'0 '*'Linux version '*) ;;
*) sift "$now" 15 journalctl -k -b --no-pager -o short-iso ;;
esac
# What was serious the day before and was mended by a reboot may come again.
sift "$before|not seeing messages" 10 journalctl -k -b -1 --since=-1d --no-pager -o short-iso
:
