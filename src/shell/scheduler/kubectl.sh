# Takes the first parameter, the configuration of kubectl, which may be empty.
[ -z "$1" ] || {
	KUBECONFIG=$1
	export KUBECONFIG
}
shift
exec 2>&1
# Does `one NODE` for all nodes, sixteen at once, prints what they say, and fails where one fails.
each_node() {
	[ $# -gt 0 ] || return 0
	said=$(mktemp -d) || return
	number=0
	for node; do
		{ one "$node" >"$said/$number" || : >"$said/failed"; } &
		number=$((number + 1))
		[ $((number % 16)) -ne 0 ] || wait
	done
	wait
	[ ! -e "$said/failed" ]
	status=$?
	cat "$said"/*[0-9] || status=1
	rm -r "$said"
	return "$status"
}
