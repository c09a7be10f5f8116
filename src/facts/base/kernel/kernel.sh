# Prints what the running kernel says of itself; no process is started.
release='' version='' cmdline='' lockdown=''
read -r release </proc/sys/kernel/osrelease
read -r version </proc/sys/kernel/version
IFS= read -r cmdline </proc/cmdline
[ ! -r /sys/kernel/security/lockdown ] || read -r lockdown </sys/kernel/security/lockdown
headers=false
[ ! -e "/lib/modules/$release/build/Makefile" ] || headers=true
printf 'release=%s\nversion=%s\ncmdline=%s\nlockdown=%s\nheaders=%s\n' \
    "$release" "$version" "$cmdline" "$lockdown" "$headers"
