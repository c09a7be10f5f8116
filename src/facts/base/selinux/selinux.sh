# Prints what the kernel says of SELinux; no process is started.
enforce=none
if [ -r /sys/fs/selinux/enforce ]; then
    # The file ends without a newline, which `read` takes for a failure.
    read -r enforce </sys/fs/selinux/enforce || :
fi
printf 'selinux=%s\n' "$enforce"
