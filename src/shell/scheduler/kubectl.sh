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
		{ one "$node" >"$said/$number.well" 2>&1 || mv "$said/$number.well" "$said/$number.bad"; } &
		number=$((number + 1))
		[ $((number % 16)) -ne 0 ] || wait
	done
	wait
	status=0
	for file in "$said"/*.well "$said"/*.bad; do
		[ -e "$file" ] || continue
		cat "$file" || status=1
		[ "$file" = "${file%.bad}" ] || status=1
	done
	rm -r "$said"
	return "$status"
}
