# Sets $owner to the number of the account of the process in directory $1 of /proc; to nothing where that cannot be
# told. Anybody can give a program any name: this says who started it.
owner_of() {
    owner=''
    while read -r key rest; do
        [ "$key" != Uid: ] || owner=${rest%%[!0-9]*}
    done 2>/dev/null <"$1/status"
}
