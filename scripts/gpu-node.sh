#!/usr/bin/env bash
# Proves on one machine with GPUs that what provision builds is what runs: Open MPI, NCCL and nccl-tests
# from archives, a second apply that changes nothing, mpirun and all_reduce with what was built, and that
# `verify` notices when another copy comes first or when a job has a GPU. No network is needed. As root, on the machine itself,
# which needs the driver, CUDA with nvcc, gcc, g++, make, perl, git and python3, and for Open MPI 5 an ssh client:
#
#   scripts/gpu-node.sh NCCL.tar.gz NCCL_TESTS.tar.gz OPENMPI.tar.xz [STEP...]
#
# The archives are those of a tag or a release, with one directory inside. PROVISION names the program
# (target/release/provision), WORK a folder for everything else (/root/gpu-node), CUDA the toolkit
# (/usr/local/cuda), GENCODE the kernels that are built (those of Hopper). STEP is one of prepare apply
# again verify active busy other; all of them by default. Exit status 0: all was as it should be.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

if [ $# -lt 3 ]; then
    sed -n '2,/^set /{/^#/p}' "${BASH_SOURCE[0]}"
    exit 2
fi
nccl=$(realpath "$1") tests=$(realpath "$2") openmpi=$(realpath "$3")
shift 3
provision=$(realpath "${PROVISION:-target/release/provision}")
work=${WORK:-/root/gpu-node}
cuda=${CUDA:-/usr/local/cuda}
gencode=${GENCODE:--gencode=arch=compute_90,code=sm_90}
inventory=$work/inventory.yaml
# By another name mpirun would take it for another machine.
host=$(hostname)
export XDG_STATE_HOME=$work/state
mkdir -p "$work" || exit
wrong=0
good() { printf 'ok     %s\n' "$*"; }
bad() {
    printf 'WRONG  %s\n' "$*"
    wrong=1
}

# The version stands in makefiles/version.mk of NCCL, and in the name of the directory of Open MPI.
nccl_version=$(tar -xOf "$nccl" --wildcards '*/makefiles/version.mk' |
    awk -F ' *:= *' '/^NCCL_MAJOR/ { a = $2 } /^NCCL_MINOR/ { b = $2 } /^NCCL_PATCH/ { c = $2 } END { print a "." b "." c }')
# A pager would end before tar does.
listing=$(tar -tf "$openmpi")
openmpi_version=${listing%%/*}
openmpi_version=${openmpi_version#openmpi-}

prepare() {
    # nccl-tests come from a repository: one is made of the archive.
    local repository=$work/nccl-tests
    rm -rf "$repository"
    mkdir "$repository" && tar -xf "$tests" --strip-components 1 -C "$repository" || exit
    git -C "$repository" init -q
    git -C "$repository" add -A
    git -C "$repository" -c user.name=gpu-node -c user.email=gpu-node@localhost commit -qm 'as it came'
    git -C "$repository" tag v0
    cat >"$work/account.yaml" <<END
name: who starts jobs
tasks:
  - name: account
    user: { name: gpu-node }
END
    cat >"$inventory" <<END
cluster: gpu-node
hosts: { "$host": { transport: local } }
expect: { unknown: warn, software: { mpi_user: gpu-node } }
playbooks:
  - ./account.yaml
  - use: openmpi
    with: { version: "$openmpi_version", url: "file://$openmpi", sha256: "$(sha256 "$openmpi")", packages: [make] }
  - use: nccl
    with:
      version: "$nccl_version-1"
      url: file://$nccl
      sha256: "$(sha256 "$nccl")"
      cuda: $cuda
      gencode: "$gencode"
      packages: [make]
  - use: nccl-tests
    with: { version: "0", url: "file://$repository", cuda: $cuda, mpi: /opt/openmpi, gencode: "$gencode", packages: [make] }
  - use: nccl-env
    with: { nic: none, variables: { NCCL_DEBUG: WARN } }
END
    "$provision" validate "$inventory" || bad 'the inventory is not valid'
}
sha256() {
    local sum
    sum=$(sha256sum <"$1")
    echo "${sum%% *}"
}
apply() {
    if "$provision" apply "$inventory" --yes; then good apply; else bad "apply ended with $?"; fi
}
again() {
    "$provision" apply "$inventory" --yes --quiet --json "$work/again.json"
    if python3 -c '
import json, sys
tasks = json.load(open(sys.argv[1]))["summary"]["tasks"]
print(tasks)
sys.exit(any(tasks.get(word, 0) for word in ("changed", "ran", "failed")))
' "$work/again.json"; then
        good 'a second apply changes nothing'
    else
        bad 'a second apply changes something'
    fi
}
# look NAME OPTION...: verifies, into NAME.json.
look() {
    local name=$1
    shift
    "$provision" verify "$inventory" --quiet --json "$work/$name.json" "$@" >/dev/null
    echo "verify $* ended with $?"
}
# says NAME CHECK STATUS TEXT...: the check has this status, and all these texts in message or evidence.
says() {
    if python3 -c '
import json, sys
path, host, name, status, *texts = sys.argv[1:]
check = next(it for it in json.load(open(path))["hosts"][host]["checks"] if it["check"] == name)
lines = [check["message"]] + [it["from"] + ": " + it["line"] for it in check.get("evidence", [])]
print(check["status"], name, "\n       ".join(lines))
sys.exit(check["status"] != status or not all(any(text in line for line in lines) for text in texts))
' "$work/$1.json" "$host" "${@:2}"; then
        good "$1: $2 is $3"
    else
        bad "$1: $2 is not $3 with ${*:4}"
    fi
}
verify() {
    look idle
    says idle software.nccl pass
    says idle software.nccl_tests pass
}
active() {
    look active --active
    # Open MPI 5 starts nothing without it, not even on its own machine.
    if command -v ssh >/dev/null || [ "${openmpi_version%%.*}" -lt 5 ]; then
        says active active.mpirun pass
    else
        says active active.mpirun fail 'is an ssh client installed there?'
    fi
    says active active.all_reduce pass "NCCL $nccl_version" /usr/local/nccl/lib/libnccl.so.2
}
# A job has the last GPU: it is not tested.
busy() {
    local last job
    last=$(nvidia-smi --query-gpu=index --format=csv,noheader | tail -n 1)
    CUDA_VISIBLE_DEVICES=$last setsid /opt/nccl-tests/build/all_reduce_perf -b 1G -e 1G -g 1 -n 1000000000 \
        >"$work/job.log" 2>&1 &
    job=$!
    sleep 15
    nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv
    nvidia-smi --query-compute-apps=pid,used_memory --format=csv
    look busy --active
    says busy active.all_reduce skip "its GPUs are in use"
    kill "$job" 2>/dev/null
    wait "$job" 2>/dev/null
}
# Another libnccl comes first, by a line before everything in ld.so.conf; then nothing is in its place again.
other() {
    mkdir -p /opt/gpu-node-other && cp -p /etc/ld.so.conf "$work/ld.so.conf" || exit
    trap mend EXIT
    echo 'int other;' | gcc -shared -fPIC -x c -Wl,-soname,libnccl.so.2 -o /opt/gpu-node-other/libnccl.so.2 -
    sed -i '1i /opt/gpu-node-other' /etc/ld.so.conf
    ldconfig
    look other
    says other software.nccl_tests fail /opt/gpu-node-other/libnccl.so.2 /usr/local/nccl
    look other-active --active
    says other-active active.all_reduce fail 'undefined symbol'
    mend
    trap - EXIT
    look mended
    says mended software.nccl_tests pass
}
mend() {
    cp -p "$work/ld.so.conf" /etc/ld.so.conf
    rm -rf /opt/gpu-node-other
    ldconfig
}

[ $# -gt 0 ] || set -- prepare apply again verify active busy other
for step; do
    printf '== %s\n' "$step"
    case $step in
    prepare) prepare ;;
    apply) apply ;;
    again) again ;;
    verify) verify ;;
    active) active ;;
    busy) busy ;;
    other) other ;;
    *)
        echo "there is no such step" >&2
        exit 2
        ;;
    esac
done
exit "$wrong"
