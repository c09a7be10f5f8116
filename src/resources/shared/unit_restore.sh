# Makes a unit run (`restart`) or not run (`stop`), as it did.
# Parameters: action unit
systemctl unmask -- "$2" 2>/dev/null || :
systemctl reset-failed -- "$2" 2>/dev/null || :
exec systemctl "$1" -- "$2"
