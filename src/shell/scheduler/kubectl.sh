# Takes the first parameter, the configuration of kubectl, which may be empty.
[ -z "$1" ] || {
	KUBECONFIG=$1
	export KUBECONFIG
}
shift
exec 2>&1
