# Makes a virtual environment of Python where there is none, and has pip work in it. Parameters: its
# path, the Python, then the words for pip; without any, the environment is only made.
venv=$1
python=$2
shift 2
if [ ! -x "$venv/bin/python" ]; then
    mkdir -p "${venv%/*}" || exit 1
    # --clear: what an interrupted attempt or a Python that is gone left.
    "$python" -m venv --clear "$venv" || exit 1
fi
[ $# = 0 ] || "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"
