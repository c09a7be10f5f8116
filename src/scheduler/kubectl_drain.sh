# Evicts what can be started elsewhere from some nodes, and prints why it is still there, `NODE|REASON`. Who waits
# looks again, so this does not wait long.
# Parameters: kubeconfig, nodes...
for node; do
	{
		said=$(kubectl drain "$node" --ignore-daemonsets --delete-emptydir-data --timeout=10s 2>&1) ||
			printf '%s|%s\n' "$node" "$(printf '%s\n' "$said" | grep -i 'error' | tail -n 1)"
	} &
done
wait
