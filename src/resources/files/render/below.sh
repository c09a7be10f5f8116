# What is written on the controller is written below the inventory's directory, whatever links there are.
# The other parameters are those of what follows.
# Parameters: base
spot_base=$1
shift
