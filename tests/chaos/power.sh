#!/bin/sh
# What a power cut leaves: of the state that outlives a boot only what `sync` was asked for. All else is as the
# kernel may have written it in time.
find /var/lib/provision -type f 2>/dev/null | while read -r f; do
    if [ -e "/var/chaos/synced$f" ]; then
        cat "/var/chaos/synced$f" >"$f"
    else
        rm "$f"
    fi
done
