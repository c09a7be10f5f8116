# mesh NAME ...: logs in to each of these hosts with strict host keys and says how that ended.
for name; do
    status=0
    text=$(ssh -n -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=5 -o LogLevel=ERROR "$name" uname -n 2>&1) || status=$?
    # The last line.
    printf '%s %s %s\n' "$name" "$status" "${text##*
}"
done
