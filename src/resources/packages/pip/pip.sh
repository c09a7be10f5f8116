# Makes a virtual environment of Python where there is none, and has pip work in it; without words for
# pip, the environment is only made. From a directory of wheels, where that is not empty.
# Parameters: venv python wheels word...
venv=$1
python=$2
wheels=$3
shift 3
reach "$venv" '' make && spot_alone sticky || exit 1
case $spot_kind:$spot_owner in
none:*) mkdir -m 0755 "$spot" || exit 1 ;;
directory:0 | directory:"$spot_me") ;;
*)
    printf '%s is not a directory of ours: take another place, or give it to root\n' "$venv" >&2
    exit 1
    ;;
esac
# Python looks for modules where we are before it looks anywhere else.
cd / || exit 1
refuse() {
    printf '%s is not used here: %s\n' "$1" "$rooted_why" >&2
    exit 1
}
# Whether nobody else can change what is at path $1 and below it, or make it where nothing is.
own() {
    if [ -d "$1" ]; then rooted_below "$1"; else rooted_may "$1"; fi
}
# The same of the modules of a Python whose programs are in directory $1: it has them from a directory above. Those of the
# system are as its packages left them.
own_modules() {
    [ "$1" != "${own_seen-}" ] || return 0
    own_seen=$1 up=$1
    while [ -n "$up" ]; do
        rooted_may "$up/lib" && rooted_may "$up/lib64" || return
        for modules in "$up"/lib*/python3*; do
            case $up in /usr) rooted_may "$modules" ;; *) own "$modules" ;; esac || return
        done
        up=${up%/*}
    done
}
# The same of program $1, a Python: of where its links lead to, and of where an environment says that its modules are.
own_python() {
    rooted_may "$1" || return
    [ ! -e "$1" ] || own_modules "${rooted_path%/*}" || return
    for file in "${1%/*}/pyvenv.cfg" "${1%/*/*}/pyvenv.cfg"; do
        rooted_may "$file" || return
        [ -f "$file" ] || continue
        while IFS=' 	=' read -r key line || [ -n "$key" ]; do
            line=${line%"${line##*[![:space:]]}"}
            case $key:$line in
            [Hh][Oo][Mm][Ee]:*)
                rooted_may "/${line#/}" && real=$rooted_path && own_modules "/${line#/}" && own_modules "$real" || return
                ;;
            include-system-site-packages:[Tt]*)
                for modules in /usr/local/lib*/python3*/*-packages; do
                    own "$modules" && own_lines "$modules" || return
                done
                ;;
            esac
        done <"$file"
    done
}
# The same of what .pth files in directory $1 name, where Python then looks for modules, as it reads them.
own_lines() {
    for file in "$1"/*.pth "$1"/.*.pth; do
        [ -f "$file" ] || continue
        while IFS= read -r line || [ -n "$line" ]; do
            line=${line%"${line##*[![:space:]]}"}
            case $line in
            # Code, and the file is root's.
            '' | '#'* | import[' 	']*) continue ;;
            /*) rest=$line/ ;;
            *) rest=$1/$line/ ;;
            esac
            line=''
            while [ -n "$rest" ]; do
                part=${rest%%/*} rest=${rest#*/}
                case $part in '' | .) ;; ..) line=${line%/*} ;; *) line=$line/$part ;; esac
            done
            own "$line" || return
        done <"$file"
    done
}
# Modules and wheels are code.
[ -z "$wheels" ] || own "$wheels" || refuse "$wheels"
{ own "$venv" && own_python "$venv/bin/python"; } || refuse "$venv"
for directory in "$venv"/lib*/python*/site-packages; do
    own_lines "$directory" || refuse "$venv"
done
if [ ! -x "$venv/bin/python" ]; then
    program=$python
    case $python in */*) ;; *) program=$(command -v "$python") || program='' ;; esac
    [ -z "$program" ] || { own_python "$program" && own_modules "${program%/*}"; } || refuse "$program"
    # --clear: what an interrupted attempt or a Python that is gone left. -S: modules that were added to the system, which
    # others than root may have done, are not asked for.
    "$python" -S -m venv --clear "$venv" || {
        # Without python3-venv Debian's leaves a Python without pip, which would pass for an environment.
        rm -f "$venv/bin/python"
        exit 1
    }
fi
[ $# != 0 ] || exit 0
# A kill can have come between Python and pip.
"$venv/bin/python" -c 'import pip' 2>/dev/null || "$venv/bin/python" -m ensurepip || exit 1
"$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"
