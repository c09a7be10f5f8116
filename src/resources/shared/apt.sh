# Changes packages with apt. Needs package_holder. The preferences, of apt_preferences(5) or empty, are for this transaction
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
# Waits while another program changes packages, and says so: what is in the middle of its transaction is not cut.
await() {
    waited=0
    while package_holder && [ -n "$holder" ] && [ "$waited" -lt 600 ]; do
        [ $((waited % 30)) != 0 ] || printf 'waits for %s, which changes packages here\n' "$holder"
        sleep 2
        waited=$((waited + 2))
    done
}
# Finishes what was cut. dpkg does not wait for its lock, which another one may take in between.
configure() {
    await
    tries=0
    until dpkg --force-confdef --force-confold --configure -a; do
        package_holder
        [ -n "$holder" ] && [ "$tries" -lt 10 ] || return 1
        tries=$((tries + 1))
        await
    done
}
update() {
    # The lock of the lists knows no time-out of its own.
    tries=0
    until output=$(apt update "$@" 2>&1); do
        case $output in
        *'Could not get lock'*)
            [ $((tries % 6)) != 0 ] || printf '%s\n' "$output" | sed -n 's/.*It is held by/waits for the lists of packages, held by/p'
            tries=$((tries + 1))
            ;;
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
configure | install | pin | remove) await ;;
esac
case $action in
install | pin | remove)
    # What is left of a transaction that was cut while it was waited for stops apt.
    for file in /var/lib/dpkg/updates/[0-9]*; do
        [ ! -e "$file" ] || configure || exit
        break
    done
    ;;
esac
case $action in
update) update ;;
source | new-source)
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
        # apt would end with that error from now on, whoever calls it.
        if [ "$action" = new-source ] && rm -f "$source"; then
            printf '%s is gone again, or every apt-get update here would end with this error\n' "$source"
        fi
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
        configure
        apt install --reinstall -- "$@" || exit
    fi
    configure && apt install -f
    ;;
install) apt install --no-install-recommends -- "$@" ;;
# A pinned version may be older than the installed one, and its packages held.
pin) apt install --no-install-recommends --allow-downgrades --allow-change-held-packages -- "$@" ;;
remove) apt remove --allow-change-held-packages -- "$@" ;;
hold) apt-mark hold -- "$@" ;;
unhold) apt-mark unhold -- "$@" ;;
*) exit 2 ;;
esac
