# Changes some nodes, one after another.
# Parameters: kubeconfig, patch, nodes...
patch=$1
shift
for node; do
	kubectl patch node "$node" -p "$patch" || exit
done
