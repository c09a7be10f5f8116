# Makes a unit run, or not run, as it did. Parameters: `restart` or `stop`, the unit.
systemctl unmask -- "$2" 2>/dev/null || :
systemctl reset-failed -- "$2" 2>/dev/null || :
exec systemctl "$1" -- "$2"
