#!/usr/bin/env bash
# Puts a Debian or Ubuntu machine with Rust in a state in which `make demo`, `make test` and
# `make bench` work. As root it installs what is missing and starts the Docker daemon when no
# container engine answers; otherwise it says exactly what is missing and how to get it.
# Run again it only looks, which takes a moment.
#   setup.sh [--test | --vm | --chaos | --dist | --site | --pictures]
#     --test   also what runs the tests
#     --vm     also what `provision lab up --vm` and `make demo-vm` need
#     --chaos  also what lets the clock jump in `make chaos`
#     --dist   also what `make dist` and `make dist-try` need
#     --site   also what `make site` needs
#     --pictures also what `make pictures` needs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
# Commands of root's PATH are looked for as well when a user asks.
have() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1; }
answers() { timeout 15 docker info >/dev/null 2>&1 || { have podman && timeout 15 podman info >/dev/null 2>&1; }; }

# What must be there, and the package that has it.
wanted=(
    cc:gcc
    ssh:openssh-client
    sshd:openssh-server
    sudo:sudo
    debootstrap:debootstrap
    shellcheck:shellcheck
    busybox:busybox-static
    dash:dash
    fish:fish
    zsh:zsh
    groff:groff
    tcsh:tcsh
    jq:jq
    flock:util-linux
    script:bsdutils
    /usr/bin/time:time
    pgrep:procps
    setfacl:acl
    strace:strace
    iptables:iptables
    nft:nftables
    make:make
    git:git
    curl:curl
    wget:wget
)
if [ "${1:-}" = --vm ]; then
    wanted+=(qemu-system-x86_64:qemu-system-x86 qemu-img:qemu-utils mkfs.ext4:e2fsprogs sfdisk:fdisk)
    wanted+=(mkfs.vfat:dosfstools mcopy:mtools)
fi
# Simulated InfiniBand: the package of ibsim brings what lets programs talk to it. That of opensm starts a manager, which
# nobody wants in a real fabric.
[ "${1:-}" != --test ] || [ -e /sys/class/infiniband ] || wanted+=(ibsim:ibsim-utils opensm:opensm iblinkinfo:infiniband-diags)
[ "${1:-}" != --chaos ] || wanted+=(faketime:faketime)
[ "${1:-}" != --pictures ] || wanted+=(tmux:tmux chromium:chromium pngquant:pngquant)
if [ "${1:-}" = --dist ]; then
    # Cryptography of TLS has parts in C.
    wanted+=(dpkg-deb:dpkg rpm:rpm strip:binutils musl-gcc:musl-tools)
    case $(uname -m) in
        aarch64) wanted+=(x86_64-linux-gnu-gcc:gcc-x86-64-linux-gnu) other=x86_64-linux-gnu headers=libc6-dev-amd64-cross ;;
        *) wanted+=(aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu) other=aarch64-linux-gnu headers=libc6-dev-arm64-cross ;;
    esac
fi
have docker || have podman || wanted+=(docker:docker.io)

missing=()
for pair in "${wanted[@]}"; do
    have "${pair%%:*}" || missing+=("${pair##*:}")
done
[ "${1:-}" != --vm ] || [ -e /usr/share/OVMF/OVMF_CODE_4M.ms.fd ] || missing+=(ovmf)
# Ansible and pyinfra of the benchmark go into a virtual environment. Having python3 is not
# enough: Debian splits ensurepip off.
python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3-venv)
[ -z "${other:-}" ] || [ -e "/usr/$other/include/stdint.h" ] || missing+=("$headers")
# Without recommended packages gcc comes without the files that every link needs.
[ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)
[ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)

problems=0
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        say "missing: ${missing[*]}"
        say "  sudo apt-get install -y ${missing[*]}     (or run this script as root)"
        problems=1
    elif ! have apt-get; then
        say "missing: ${missing[*]}"
        say "  this machine has no apt-get: install the equivalents with its package manager"
        problems=1
    else
        say "installing ${missing[*]}"
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update || say "apt-get update failed; going on with the package lists that are there"
        if [[ " ${missing[*]} " == *" qemu-system-x86 "* ]] && have qemu-img; then
            # Both are of one source. A qemu-utils of backports lets no other emulator in.
            version=$(apt-cache policy qemu-system-x86 | awk '$1 == "Candidate:" { print $2 }')
            missing+=("qemu-system-x86=$version" "qemu-utils=$version" --allow-downgrades)
        fi
        apt-get -qq -y install --no-install-recommends "${missing[@]}" >/dev/null
    fi
fi

start_docker() {
    if [ -d /run/systemd/system ]; then
        systemctl start docker && return
    elif have service && service docker start >/dev/null 2>&1; then
        # `service` is content when it has started something, whether or not that stays.
        for _ in 1 2 3 4 5; do
            answers && return
            sleep 1
        done
    fi
    local log=/var/log/dockerd.log
    say "starting dockerd in the background; its log is $log"
    PATH=$PATH:/usr/sbin:/sbin setsid dockerd </dev/null >>"$log" 2>&1 &
    local daemon=$!
    for _ in $(seq 30); do
        answers && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 1
    done
    say "dockerd does not answer; the end of $log:"
    tail -n 20 "$log" >&2 || true
    return 1
}

if ! answers; then
    if [ "$(id -u)" = 0 ] && have dockerd; then
        start_docker || problems=1
    elif have podman && [ "$(id -u)" != 0 ]; then
        say "podman does not answer; see: podman info"
        problems=1
    else
        say "no container engine answers. Start one and let this user use it:"
        say "  sudo systemctl start docker && sudo usermod -aG docker $(id -un) && newgrp docker"
        problems=1
    fi
fi

# Each lab host takes about five inotify instances, and all containers of root share one limit:
# with the 128 of most kernels systemd of the thirtieth host ends as it starts.
limit=/proc/sys/fs/inotify/max_user_instances
instances=1024
if [ "$(cat "$limit")" -lt "$instances" ]; then
    if [ "$(id -u)" != 0 ] || ! echo "$instances" 2>/dev/null >"$limit"; then
        say "fs.inotify.max_user_instances is $(cat "$limit"): enough for about $(($(cat "$limit") / 5)) lab hosts at once"
        say "  sudo sysctl -w fs.inotify.max_user_instances=$instances"
    fi
fi

if ! have cargo; then
    say "missing: Rust 1.95 (https://rustup.rs)"
    problems=1
else
    # rustup is asked only for what is not there: without a network it would fail for nothing.
    for tool in clippy:cargo-clippy rustfmt:rustfmt; do
        if ! "${tool##*:}" --version >/dev/null 2>&1; then
            if have rustup; then
                rustup component add "${tool%%:*}" || problems=1
            else
                say "missing: ${tool%%:*} (with rustup: rustup component add ${tool%%:*})"
                problems=1
            fi
        fi
    done
fi

# Programs of crates.io, in these versions, below target/tools: nothing of them reaches the machine.
crates=() options=()
case "${1:-}" in
    # One of the machine is as good, unless .config/nextest.toml wants a newer one.
    --test) PATH=$PWD/target/tools/bin:$PATH cargo nextest show-config version >/dev/null 2>&1 || crates=(cargo-nextest@0.9.143) options=(--no-default-features --features default-no-update) ;;
    --dist) crates=(cargo-deb@3.8.0 cargo-generate-rpm@0.21.1 cargo-cyclonedx@0.5.9) ;;
    --site) crates=(mdbook@0.5.4) ;;
esac
for crate in "${crates[@]}"; do
    if [ ! -e "target/tools/$crate" ] && have cargo; then
        say "building $crate"
        CARGO_TARGET_DIR=target/tools/build CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
            cargo install --quiet --locked --force "${options[@]}" --root target/tools "$crate" && touch "target/tools/$crate" || problems=1
    fi
done

# The standard library for programs that need nothing of the machine they run on.
if [ "${1:-}" = --dist ] && have cargo; then
    for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl; do
        [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] && continue
        if have rustup && rustup target add "$target"; then continue; fi
        say "missing: the standard library of Rust for $target (with rustup: rustup target add $target)"
        # The binary of this machine is the one that has to be.
        [ "${target%%-*}" != "$(uname -m)" ] || problems=1
    done
fi
exit "$problems"
