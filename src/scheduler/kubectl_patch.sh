# Changes some nodes.
# Parameters: kubeconfig, patch, nodes...
patch=$1
shift
one() { kubectl patch node "$1" -p "$patch"; }
each_node "$@"
