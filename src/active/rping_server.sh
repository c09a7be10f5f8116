# rping_server ADDRESS PINGS: answers one client. Ends by itself when none comes.
timeout -k 2 40 rping -s -a "$1" -C "$2" -v 2>&1
