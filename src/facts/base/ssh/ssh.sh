# Prints the public host keys of sshd; they may be read by everyone.
for file in /etc/ssh/ssh_host_*_key.pub; do
    [ -r "$file" ] || continue
    key=''
    read -r key <"$file"
    printf '%s\n' "$key"
done
printf 'end\n'
