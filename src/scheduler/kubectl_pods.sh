# Prints the pods on some nodes.
# Parameters: kubeconfig, columns, nodes...
columns=$1
shift
one() {
	kubectl get pods --all-namespaces --no-headers --field-selector "spec.nodeName=$1" -o "custom-columns=$columns"
}
each_node "$@"
