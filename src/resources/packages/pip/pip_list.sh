# Prints what a virtual environment of Python has, from the names of its metadata: no Python is started.
# Variables: VENV, PYTHON (what it would be made with).
if [ -x "$VENV/bin/python" ]; then
    printf 'venv\n'
elif [ -e "$VENV" ] || [ -L "$VENV" ]; then
    # Something else, or the Python that it was made with is gone.
    printf 'broken\n'
fi
command -v "$PYTHON" >/dev/null 2>&1 || printf 'nopython\n'
for entry in "$VENV"/lib/python*/site-packages/*.dist-info; do
    [ ! -d "$entry" ] || printf 'dist=%s\n' "${entry##*/}"
done
printf 'end\n'
