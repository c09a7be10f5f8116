# Prints the pods on some nodes.
# Parameters: kubeconfig, columns, nodes...
columns=$1
shift
for node; do
	kubectl get pods --all-namespaces --no-headers --field-selector "spec.nodeName=$node" \
		-o "custom-columns=$columns" || exit
done
