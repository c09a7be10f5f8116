# Changes packages with apt. The preferences, of apt_preferences(5) or empty, are for this transaction
# alone; the words are package names or `name=version`, for `source` its file and the files of its lists.
# Parameters: action preferences word...
DEBIAN_FRONTEND=noninteractive
# needrestart may restart dockerd under running jobs: it only lists, and not now.
NEEDRESTART_MODE=l
NEEDRESTART_SUSPEND=1
APT_LISTCHANGES_FRONTEND=none
UCF_FORCE_CONFFOLD=1
export DEBIAN_FRONTEND NEEDRESTART_MODE NEEDRESTART_SUSPEND APT_LISTCHANGES_FRONTEND UCF_FORCE_CONFFOLD
action=$1
pins=$2
shift 2
if [ -n "$pins" ]; then
    # The first stanza that matches counts, and this file is read before preferences.d.
    preferences=$(mktemp) || exit 1
    trap 'rm -f "$preferences"' EXIT
    {
        printf '%s\n\n' "$pins" && if [ -e /etc/apt/preferences ]; then cat /etc/apt/preferences; fi
    } >"$preferences" || exit 1
    # apt reads it as another user.
    chmod 644 "$preferences" || exit 1
fi
apt() {
    apt-get ${pins:+-o "Dir::Etc::Preferences=$preferences"} -y -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}
update() {
    # The lock of the lists knows no time-out of its own.
    tries=0
    until output=$(apt update "$@" 2>&1); do
        case $output in
        *'Could not get lock'*) tries=$((tries + 1)) ;;
        *) tries=120 ;;
        esac
        if [ "$tries" -ge 120 ]; then
            printf '%s\n' "$output" >&2
            return 1
        fi
        sleep 5
    done
    printf '%s\n' "$output"
}
case $action in
update) update ;;
source)
    source=$1
    shift
    # Two files that give one repository another key: apt reads no source at all any more.
    if ! told=$(apt indextargets 2>&1 >/dev/null); then
        case $told in
        *Signed-By*) ;;
        *)
            printf '%s\n' "$told" >&2
            rm -f "$@"
            exit 1
            ;;
        esac
        mv -f "$source" "$source.provision-new" || exit 1
        if apt indextargets >/dev/null 2>&1; then
            rm -f "$source.provision-new"
            printf '%s\nwith %s apt cannot read its sources, so it is gone again: another file there is about the same repository\n' \
                "$told" "$source" >&2
            exit 1
        fi
        mv -f "$source.provision-new" "$source" || exit 1
    fi
    # What could not be read is an error, not a warning. Lists of before would say that all was read.
    update -o "Dir::Etc::sourcelist=$source" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 \
        -o APT::Update::Error-Mode=any || {
        rm -f "$@"
        exit 1
    }
    ;;
configure)
    # What a kill left half unpacked is "reinst-required" (dpkg-query(1)): dpkg configures nothing of it or stops at
    # it, and `apt install -f` calls it mended and leaves it.
    # shellcheck disable=SC2046 # names of packages
    set -- $(dpkg-query -W -f '${db:Status-Abbrev}${binary:Package}\n' | sed -n 's/^..R//p')
    if [ $# != 0 ]; then
        # It may fail at these, and apt does nothing before it was tried.
        dpkg --force-confdef --force-confold --configure -a
        apt install --reinstall -- "$@" || exit
    fi
    dpkg --force-confdef --force-confold --configure -a && apt install -f
    ;;
install) apt install --no-install-recommends -- "$@" ;;
# A pinned version may be older than the installed one, and its packages held.
pin) apt install --no-install-recommends --allow-downgrades --allow-change-held-packages -- "$@" ;;
remove) apt remove --allow-change-held-packages -- "$@" ;;
hold) apt-mark hold -- "$@" ;;
unhold) apt-mark unhold -- "$@" ;;
*) exit 2 ;;
esac
