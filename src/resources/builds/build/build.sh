# Builds software from source. It always begins with a fresh copy of the source, so a build that was
# killed is repeated cleanly; the prefix is switched at the end, whole. `directory` may be empty, `jobs`
# are at most so many (0: as many as fit), `memory` is MiB for each, `staging` is the variable that leads
# `make install` elsewhere, the stamp is packed. Then lists, each behind its length: the environment,
# options, words for make, words for its install (none: nothing is installed), results.
# Parameters: name source prefix directory system jobs memory staging stamp variables variable... options option... words word... install_words install_word... results result...
name=$1 source=$2 prefix=$3 system=$5 most=$6 each=$7 staging=$8 stamp=$9
directory=$(build_directory "$name" "$4")
shift 9
umask 022
log=$directory/log
reach "$log" '' make && spot_alone closed && spot_plain || exit 1
exec 3>&1 >"$log" 2>&1 || exit 1
# Ends the build with its last lines.
fail() {
    tail -n 17 "$log" >&3
    printf 'the whole log is %s\n%s\n' "$log" "$1" >&3
    exit 1
}
# Runs a command that must succeed.
run() {
    printf '+ %s\n' "$*"
    "$@" || fail "\`$1\` ended with status $?"
}
# Calls function $1 with the words of the list that begins at $2.
first() {
    call=$1 count=$2
    shift 2
    place=0 total=$#
    while [ "$place" -lt "$total" ]; do
        [ "$place" -ge "$count" ] || set -- "$@" "$1"
        shift
        place=$((place + 1))
    done
    "$call" "$@"
}
# As many jobs as processors and memory allow.
choose_jobs() {
    jobs=$(nproc 2>/dev/null) || jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || jobs=1
    available='' balloon=0
    while read -r key value _; do
        case $key in
        MemAvailable:) available=$((value / 1024)) ;;
        Balloon:) balloon=$((value / 1024)) ;;
        esac
    done </proc/meminfo
    # What the balloon of a virtual machine holds counts where it gives it back when memory runs out (the
    # third feature of the device); elsewhere only the host decides.
    for file in /sys/bus/virtio/drivers/virtio_balloon/virtio*/features; do
        features=''
        { read -r features <"$file"; } 2>/dev/null
        case $features in ??1*) available=$((${available:-0} + balloon)) balloon=0 ;; esac
    done
    limit=''
    { read -r limit </sys/fs/cgroup/memory.max && read -r used </sys/fs/cgroup/memory.current; } 2>/dev/null
    case $limit in
    *[!0-9]* | '') ;;
    *)
        limit=$(((limit - used) / 1048576))
        [ "$limit" -ge "${available:-$limit}" ] || available=$limit
        ;;
    esac
    fit=$((${available:-$each} / each))
    [ "$jobs" -le "$fit" ] || jobs=$fit
    [ "$most" -eq 0 ] || [ "$jobs" -le "$most" ] || jobs=$most
    [ "$jobs" -ge 1 ] || jobs=1
}
# By the name, because not every tar looks into the archive for its compression.
extract() {
    case $source in
    *.gz | *.tgz) gzip -dc "$source" | tar -xof - ;;
    *.bz2 | *.tbz) bzip2 -dc "$source" | tar -xof - ;;
    *.xz | *.txz) xz -dc "$source" | tar -xof - ;;
    *) tar -xof "$source" ;;
    esac
}
environment() {
    for pair; do
        # shellcheck disable=SC2163 # the parameter is NAME=VALUE
        export "$pair"
    done
}
configure() {
    case $system in
    autotools)
        [ -x configure ] || [ ! -x autogen.sh ] || run ./autogen.sh
        [ -x configure ] || fail "there is no \`configure\` in $source: is it another build system?"
        run ./configure "--prefix=$prefix" "$@"
        ;;
    cmake) run cmake -S . -B provision-build "-DCMAKE_INSTALL_PREFIX=$prefix" "$@" ;;
    esac
}
compile() {
    case $system in
    cmake) run cmake --build provision-build --parallel "$jobs" -- "$@" ;;
    *) run make "-j$jobs" "$@" ;;
    esac
}
install() {
    [ $# -gt 0 ] || return 0
    case $system in
    cmake) run env "DESTDIR=$stage" cmake --install provision-build ;;
    *)
        target=$stage
        [ "$staging" = DESTDIR ] || target=$stage$prefix
        run make "$@" "$staging=$target"
        ;;
    esac
}
collect() {
    for result; do
        [ -e "$result" ] || fail "the build did not make $result"
        run mkdir -p "$stage$prefix"
        run cp -a "$result" "$stage$prefix/"
    done
}
began=$(date +%s)
choose_jobs
rm -rf "$directory/tree"
# Modes in an archive, those of its own top among them, let nobody else in meanwhile.
{ mkdir -m 700 "$directory/tree" && mkdir "$directory/tree/source"; } || fail "cannot write $directory"
cd "$directory/tree/source" || fail "cannot enter $directory/tree"
(reach "$prefix" '' make && spot_alone sticky && [ -w . ]) || fail "cannot write beside $prefix"
# What builds it is in it, and runs as we do.
look=rooted
[ ! -d "$source" ] || look=rooted_below
"$look" "$source" ||
    fail "$rooted_why, and a build runs what is in its source: give it to the user who builds, or say \`become_user\`"
if [ -d "$source" ]; then
    run cp -a "$source/." .
else
    run extract
    # Most archives have one directory with everything in it.
    for entry in * .[!.]*; do
        [ -e "$entry" ] || continue
        [ "$entry" != "${only:-$entry}" ] && only=. && break
        only=$entry
    done
    [ ! -d "${only:-.}" ] || cd "${only:-.}" || fail "cannot enter ${only:-.}"
fi
list=$1
first environment "$@"
shift $((list + 1))
list=$1
first configure "$@"
shift $((list + 1))
list=$1
first compile "$@"
shift $((list + 1))
# Only now: a build that is killed before leaves nothing beside the prefix.
stage "$name" "$prefix" || fail "cannot write beside $prefix"
list=$1
first install "$@"
shift $((list + 1))
first collect "$@"
if ! cd "$stage$prefix" 2>/dev/null || [ -z "$(ls -A .)" ]; then
    fail "the install put nothing into $staging=$stage: \`staging\` names the variable that this makefile knows, \`results\` what is to be taken without an install"
fi
close_modes || fail 'cannot take from others the right to change what was built'
rm -rf .provision
mkdir .provision || fail "cannot write $stage"
files >.provision/sha256 || fail 'cannot list what was built'
links >.provision/links || fail 'cannot list what was built'
# What people write in `etc` does not damage a build.
find . -path ./.provision -prune -o -path ./etc -prune -o -type f -exec stat -c '%s %n' {} + >.provision/sizes ||
    fail 'cannot list what was built'
result=$(cat .provision/sha256 .provision/links | sha256sum) || fail 'cannot take the digest of what was built'
{
    unpack "$stamp" &&
        printf 'result %s\nfrom %s\n' "${result%% *}" "$source"
} >.provision/stamp || fail "cannot write $stage"
cd / || exit
switch "$stage$prefix" || fail "cannot put the result in the place of $prefix: is it a mount point?"
rm -rf "$directory/tree"
printf 'built in %s s with %s jobs; the log is %s\n' "$(($(date +%s) - began))" "$jobs" "$log" >&3
