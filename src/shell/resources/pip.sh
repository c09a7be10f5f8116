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
case $python in /*) set -- "$venv" "$python" "$@" ;; *) set -- "$venv" "$venv" "$@" ;; esac
for program in "$1/bin/python" "$2"; do
    if [ -x "$program" ] && ! rooted "$program"; then
        printf '%s is not run here: %s\n' "$program" "$rooted_why" >&2
        exit 1
    fi
done
shift 2
# Whether nobody else can change modules and wheels, which are code, and what the environment names outside of itself: its
# Python, and modules of a development install.
own() {
    for directory in "$wheels" "$venv"; do
        [ ! -d "$directory" ] || rooted_below "$directory" || return
    done
    for file in "$venv/pyvenv.cfg" "$venv"/lib*/python*/site-packages/*.pth; do
        [ -f "$file" ] || continue
        while IFS= read -r line || [ -n "$line" ]; do
            case $line in
            'home = '*) line=${line#'home = '} && rooted_may "$line" && rooted_may "${line%/*}/lib" || return ;;
            /*) [ ! -d "$line" ] || rooted_below "$line" || return ;;
            esac
        done <"$file"
    done
}
own || {
    printf '%s is not used here: %s\n' "$directory" "$rooted_why" >&2
    exit 1
}
if [ ! -x "$venv/bin/python" ]; then
    # --clear: what an interrupted attempt or a Python that is gone left.
    "$python" -m venv --clear "$venv" || {
        # Without python3-venv Debian's leaves a Python without pip, which would pass for an environment.
        rm -f "$venv/bin/python"
        exit 1
    }
fi
[ $# != 0 ] || exit 0
# A kill can have come between Python and pip.
"$venv/bin/python" -c 'import pip' 2>/dev/null || "$venv/bin/python" -m ensurepip || exit 1
"$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"
