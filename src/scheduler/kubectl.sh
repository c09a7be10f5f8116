# Takes the first parameter, the configuration of kubectl, which may be empty.
[ -z "$1" ] || {
	KUBECONFIG=$1
	export KUBECONFIG
}
shift
exec 2>&1
# Does `one NODE` for all nodes, sixteen at once, and prints what they say: what failed comes last, and fails.
each_node() {
	said=$(mktemp -d) || return
	number=0
	for node; do
		{ one "$node" >"$said/$number.bad" 2>&1 && mv "$said/$number.bad" "$said/$number.well"; } &
		number=$((number + 1))
		[ $((number % 16)) -ne 0 ] || wait
	done
	wait
	# One whose file could not be made has not been asked.
	for file in "$said"/*.well; do
		[ ! -e "$file" ] || ! cat "$file" || number=$((number - 1))
	done
	for file in "$said"/*.bad; do
		[ ! -e "$file" ] || cat "$file"
	done
	rm -r "$said"
	[ "$number" = 0 ]
}
