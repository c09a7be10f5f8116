# Looks once whether something is there. Variables: WANT (port, file, gone, unit), WHAT, WHERE (host of a
# port; empty: this one). Status 0: it is; 9: it cannot be told, with the reason; other: it is not.
case $WANT in
file) [ -e "$WHAT" ] ;;
gone) [ ! -e "$WHAT" ] && [ ! -L "$WHAT" ] ;;
unit)
    command -v systemctl >/dev/null 2>&1 || { echo 'no systemctl on the host'; exit 9; }
    systemctl is-active --quiet -- "$WHAT"
    ;;
port)
    if [ -z "$WHERE" ]; then
        # State 0A is LISTEN; the port stands in hex behind the address.
        wanted=$(printf '%04X' "$WHAT") read=''
        for table in /proc/net/tcp /proc/net/tcp6; do
            [ -r "$table" ] || continue
            read=1
            while read -r _ local _ state _; do
                [ "$state" != 0A ] || [ "${local##*:}" != "$wanted" ] || exit 0
            done <"$table"
        done
        [ -n "$read" ] || { echo '/proc/net/tcp cannot be read on the host'; exit 9; }
        exit 1
    elif command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
        # shellcheck disable=SC2016 # bash fills them in
        timeout 3 bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    elif command -v nc >/dev/null 2>&1; then
        # That of busybox knows no -z.
        nc -z -w 3 "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1 || nc -w 3 "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    elif command -v perl >/dev/null 2>&1; then
        # Each Debian has one, and no module is needed but Socket.
        # shellcheck disable=SC2016 # of perl
        perl -e 'use Socket qw(:all); $SIG{ALRM} = sub { exit 1 }; alarm 3;
            my (undef, @found) = getaddrinfo($ARGV[0], $ARGV[1], { socktype => SOCK_STREAM });
            for (@found) { my $s; socket($s, $_->{family}, $_->{socktype}, $_->{protocol}) && connect($s, $_->{addr}) && exit 0 }
            exit 1' "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    elif command -v python3 >/dev/null 2>&1; then
        python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)' \
            "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    elif command -v ssh >/dev/null 2>&1; then
        # What it says before a server greets is about the connection; a server of another kind never greets.
        said=$(LC_ALL=C ssh -F none -p "$WHAT" -o BatchMode=yes -o ConnectTimeout=3 -o StrictHostKeyChecking=yes \
            -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null -o PreferredAuthentications=none \
            "$WHERE" true </dev/null 2>&1)
        case $said in *'ssh: '*) exit 1 ;; esac
    else
        echo 'a port of another host cannot be asked for: none of bash with timeout, nc, perl, python3 and ssh is on the host'
        exit 9
    fi
    ;;
*) exit 9 ;;
esac
