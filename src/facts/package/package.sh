# Needs package_holder.
# Asks about packages: one query of the package database for all names; the repositories only for
# those that are missing, have another version, or shall be the latest. What provides a missing one is
# told as `provides NAME PROVIDER`, with the version of the provider where apt says it.
# Parameters: triples of name, wanted version (or empty), and `latest` or empty.
newline='
'
wanted() {
    # Sets `names` to those that the repositories must be asked about, from `installed` and the triples.
    names=''
    while [ $# -gt 0 ]; do
        case $installed in
        *"i  $1 $2 "*) [ -z "$3" ] || names="$names$1$newline" ;;
        *"i  $1 "*) [ -z "$2$3" ] || names="$names$1$newline" ;;
        *) names="$names$1$newline" ;;
        esac
        shift 3
    done
}
# Both tell of what is installed: ` status  name version architecture`, one a line. The status of an
# installed package ends with `i` and a blank. The first one prints it.
from_query() {
    count=$#
    index=0
    while [ "$index" -lt "$count" ]; do
        name=$1
        shift 3
        index=$((index + 3))
        set -- "$@" "$name"
    done
    exec dpkg-query -W -f ' ${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\n' "$@" 2>/dev/null
}
# `dpkg-query` reads the whole database into memory, 6 ms for 750 packages; `grep` finds some names
# in a fifth of that. The order of the fields is fixed, so Version ends what is wanted of a stanza.
# Fails where only dpkg-query can tell: names with an architecture, a package that is neither
# absent nor installed, updates that are not merged yet. Sets `installed`: a subshell is a process.
from_status() {
    [ -r /var/lib/dpkg/status ] || return
    for file in /var/lib/dpkg/updates/[0-9]*; do
        [ ! -e "$file" ] || return
    done
    count=$#
    index=0
    while [ "$index" -lt "$count" ]; do
        case $1 in *[!a-z0-9+.-]*) return 1 ;; esac
        name=$1
        shift 3
        index=$((index + 3))
        set -- "$@" -e "Package: $name"
    done
    stanzas=$(grep -x -F -A 13 "$@" /var/lib/dpkg/status 2>/dev/null)
    [ $? -lt 2 ] || return
    set -f
    IFS=$newline
    installed=''
    for line in $stanzas; do
        case $line in
        'Package: '*) name=${line#*: } status='' architecture='' ;;
        'Status: install ok installed') status='ii ' ;;
        'Status: hold ok installed') status='hi ' ;;
        'Status: '*) return 1 ;;
        'Architecture: '*) architecture=${line#*: } ;;
        'Version: '*)
            [ -n "$status" ] && [ -n "$architecture" ] || return
            installed="$installed $status $name ${line#*: } $architecture$newline"
            ;;
        esac
    done
    installed=${installed%"$newline"}
}
# Sets `providers` to the packages that provide one of `names`, and tells of them. It has only dpkg's own
# state and the lists on disk to read.
from_showpkg() {
    providers='' name=''
    IFS=$newline
    # shellcheck disable=SC2086 # names hold no white space
    for line in $(apt-cache showpkg $names 2>/dev/null |
        sed -n -e '/^Package: /p' -e '/^Reverse Provides:/,/^Package: /{/ (/p;}'); do
        by=${line%% *} rest=${line#* }
        case $by in
        Package:) name=$rest ;;
        *:*) ;; # of another architecture
        *)
            printf 'provides %s %s %s\n' "$name" "$by" "${rest%% *}"
            case $newline$providers in
            *"$newline$by$newline"*) ;;
            *) providers="$providers$by$newline" ;;
            esac
            ;;
        esac
    done
}
if command -v dpkg-query >/dev/null 2>&1; then
    printf 'manager apt\n'
    # A transaction that was cut, and packages that it or a failed script left half-done. While somebody is in the
    # middle of one, that is not known.
    cut=''
    for file in /var/lib/dpkg/updates/[0-9]*; do
        [ ! -e "$file" ] || cut=interrupted
        break
    done
    if [ -n "$cut" ] || grep -q -E '^Status: [a-z]+ ([a-z]+ (half-|unpacked|triggers-)|reinstreq )' /var/lib/dpkg/status 2>/dev/null; then
        package_holder
        if [ -n "$holder" ]; then
            printf 'busy %s\n' "$holder"
        else
            [ -z "$cut" ] || printf 'interrupted\n'
            dpkg-query -W -f 'unfinished ${db:Status-Status} ${db:Status-Eflag} ${binary:Package}\n' 2>/dev/null |
                grep -E '^unfinished (half-|unpacked|triggers-|[a-z-]+ reinstreq )' | head -n 20
        fi
    fi
    lists=none
    for file in /var/lib/apt/lists/*_Packages*; do
        [ ! -e "$file" ] || lists=there
        break
    done
    installed=''
    if [ $# -gt 0 ]; then
        # With 1 it says that there is none of such a name.
        from_status "$@" || installed=$(from_query "$@") || [ $? = 1 ] || exit 1
        printf '%s\n' "$installed"
        wanted "$@"
        if [ -n "$names" ]; then
            set -f
            from_showpkg
            if [ -n "$providers" ]; then
                set --
                for name in $providers; do
                    set -- "$@" "$name" '' ''
                done
                installed=''
                from_status "$@" || installed=$(from_query "$@") || [ $? = 1 ] || exit 1
                printf '%s\n' "$installed"
            fi
            if [ "$lists" = there ] && [ -z "$(find /var/lib/apt/lists -maxdepth 0 -mmin -1440 2>/dev/null)" ] &&
                [ -z "$(find /var/lib/apt/periodic/update-success-stamp -mmin -1440 2>/dev/null)" ]; then
                lists=old
            fi
            printf 'lists %s\npolicy\n' "$lists"
            # shellcheck disable=SC2086 # names hold no white space
            apt-cache policy -- $names $providers 2>/dev/null || exit 1
        fi
    fi
elif command -v rpm >/dev/null 2>&1; then
    manager=rpm
    for tool in dnf yum; do
        if command -v "$tool" >/dev/null 2>&1; then
            manager=$tool
            break
        fi
    done
    printf 'manager %s\n' "$manager"
    for file in /etc/dnf/plugins/versionlock.list /etc/yum/pluginconf.d/versionlock.list; do
        [ -r "$file" ] || continue
        while read -r line; do
            case $line in '' | '#'* | '!'*) ;; *) printf 'lock %s\n' "$line" ;; esac
        done <"$file"
        printf 'locks\n'
        break
    done
    if [ $# -gt 0 ]; then
        installed=$(
            count=$#
            index=0
            while [ "$index" -lt "$count" ]; do
                name=$1
                shift 3
                index=$((index + 3))
                set -- "$@" "$name"
            done
            exec rpm -q --qf ' ii  %{NAME} %{EVR} %{ARCH}\n' "$@" 2>/dev/null
        ) || case $installed in
        *' is not installed'*) ;;
        *) exit 1 ;;
        esac
        printf '%s\n' "$installed"
        latest='' unknown=''
        while [ $# -gt 0 ]; do
            [ -z "$3" ] || latest="$latest $1"
            case $installed in
            *" ii  $1 "*) ;;
            *)
                # A name holds nothing that a format would take for something else.
                if providers=$(rpm -q --whatprovides --qf "provides $1 %{NAME}\\n ii  %{NAME} %{EVR} %{ARCH}\\n" "$1" 2>/dev/null); then
                    printf '%s\n' "$providers"
                else
                    unknown="$unknown $1"
                fi
                ;;
            esac
            shift 3
        done
        # What is known without going out: a plan does not wait for metadata of repositories.
        # shellcheck disable=SC2086 # names hold no white space
        [ -z "$unknown" ] || [ "$manager" = rpm ] || dnf_providers "$manager -C" $unknown
        if [ -n "$latest" ] && [ "$manager" != rpm ]; then
            printf 'updates\n'
            # shellcheck disable=SC2086 # names hold no white space
            "$manager" -q check-update $latest 2>/dev/null
        fi
    fi
else
    printf 'manager none\n'
fi
printf 'end\n'
