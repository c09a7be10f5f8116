# What is written on the controller is written below the inventory's directory, whatever links there are.
# First parameter: that directory; the others are those of what follows.
spot_base=$1
shift
