# Prints all nodes, then the names of those that are counted.
# Parameters: kubeconfig, columns, selector
kubectl get nodes --no-headers -o "custom-columns=$1" || exit
kubectl get nodes --no-headers -l "$2" -o name
