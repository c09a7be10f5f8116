# `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo demo-down demo-vm demo-maintenance test test-build test-working test-waiting test-lab test-years lint deny fuzz bench chaos dist dist-again dist-try docs site pictures verify-matrix

PROVISION := target/release/provision
LAB := inventories/lab.yaml
# CARGO can be a wrapper, for machines that many builds share.
CARGO ?= cargo

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: ## install and start what the other targets need (as root; otherwise say what is missing)
	@scripts/setup.sh

build: setup ## build the release binary, target/release/provision
	$(CARGO) build --release --locked

demo: build ## four throw-away hosts, brought to a declared state, twice
	@scripts/demo.sh $(PROVISION) $(LAB)

demo-down: ## remove the hosts of the demo
	$(PROVISION) lab down $(LAB)

demo-vm: build ## two virtual machines with RDMA between them, rebooted and power-cycled; JSON=1 prints the figures
	@scripts/setup.sh --vm
	@scripts/demo-vm.sh $(PROVISION) inventories/lab-vm.yaml $(if $(JSON),--json -)

demo-maintenance: build ## a change rolls through a live Slurm cluster in the lab, under its jobs
	@scripts/demo-maintenance.sh $(PROVISION) inventories/lab-maintenance.yaml

lint: setup ## formatting, clippy and shellcheck, warnings denied
	$(CARGO) fmt --check
	@# in a directory of its own, so that a build can run beside it
	$(CARGO) clippy --all-targets --locked --target-dir target/lint -- -D warnings
	@# the fuzzer has a lock of its own, which must know every dependency
	$(CARGO) metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml \
		--filter-platform "$$(rustc -vV | sed -n 's/^host: //p')" >/dev/null
	@# mistakes that chaos plants must fit the code they are planted in
	for plant in scripts/chaos-plants/*.patch; do git apply --check -C1 "$$plant"; done
	@# src/shell is checked by tests/shell_texts.rs, as it is sent
	git ls-files -z --cached --others --exclude-standard '*.sh' .ci/run ':!src/shell' | xargs -0 shellcheck

TESTS := $(patsubst tests/%.rs,%,$(wildcard tests/*.rs))
# These wait more than they work, so they run beside the others; so does `lab`, which makes the image of all labs.
WAITING := init links_real resources_real state_real tools_real transport transport_users transport_warm trust watch

test: setup ## everything that must pass: lint, unit, case, property, snapshot and lab tests
	@$(MAKE) --no-print-directory --jobs=2 lint test-build
	@echo "Three rows of tests run side by side; each shows what it said at its end."
	@$(MAKE) --no-print-directory --jobs=3 --output-sync test-working test-waiting test-lab
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-9} $(CARGO) test --locked --test lab_runs

test-build:
	@# before tests with deadlines, and tests that run as another user, ask for them
	@scripts/other-tools.sh trixie target/other-tools/trixie
	$(CARGO) test --locked --no-run

test-working:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-4} $(CARGO) test --locked --lib --bins \
		$(addprefix --test ,$(filter-out lab lab_runs $(WAITING),$(TESTS)))
	$(CARGO) test --locked --doc

test-lab:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} $(CARGO) test --locked --test lab

test-years: setup ## the same on what becomes the next Debian: sudo-rs, uutils and systemd of sid; not part of `test`
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-4} $(CARGO) test --locked --test lab --test lab_runs -- --ignored
	@# our scripts with the tools of sid, where `make test` has those of Debian 13
	@scripts/other-tools.sh sid target/other-tools/sid
	TOOLS_OF=sid $(CARGO) test --locked --test facts_real --test resources_real --test state_real --test tools_real

test-waiting:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} $(CARGO) test --locked $(addprefix --test ,$(WAITING))

deny: ## licences, sources and versions of dependencies by cargo-deny, and known advisories where the network lets it
	cargo deny --locked check bans licenses sources
	cargo deny --locked check advisories

fuzz: ## fuzz every parser, ten minutes each; adds to docs/evidence/fuzz.md; SECONDS_EACH=60 TARGETS="wire hosts" JOBS=2
	@SECONDS_EACH="$(SECONDS_EACH)" TARGETS="$(TARGETS)" JOBS="$(JOBS)" CARGO="$(CARGO)" scripts/fuzz.sh

verify-matrix: setup ## try every fault of every hardware profile; writes docs/evidence/verify-matrix.md; JSON=1 prints its rows
	@$(CARGO) run --locked --quiet -- lab matrix --markdown docs/evidence/verify-matrix.md $(if $(JSON),--json -)

bench: build ## compare with ssh, a script, Ansible and pyinfra; writes docs/evidence/benchmarks.md
	scripts/bench.sh

chaos: $(if $(PLANT),setup,build) ## break 200 runs on lab hosts; writes docs/evidence/chaos.md; ROUNDS=n SEED=n JOBS=n ROUND=seed FAULTS=a,b PLANT=name
	@scripts/setup.sh --chaos
	@CARGO='$(CARGO)' scripts/chaos.py --provision $(PROVISION) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) \
		$(if $(FAULTS),--faults "$(FAULTS)") $(if $(PLANT),--plant $(PLANT)) $(if $(ROUND),--round $(ROUND)) \
		$(if $(FAULTS)$(PLANT)$(ROUND),,--markdown docs/evidence/chaos.md)

docs: setup ## docs/reference/ from the code; Rust documentation into target/doc
	$(CARGO) run --locked --quiet -- generate docs docs/reference
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --no-deps --locked

site: setup ## the documentation as pages with a search, in target/site
	@scripts/setup.sh --site
	@scripts/site.sh

pictures: build ## a recording of an apply and the page of a report; writes docs/pictures
	@scripts/setup.sh --pictures
	@scripts/pictures.sh $(PROVISION) $(LAB)

dist: ## static binaries, .deb, .rpm, checksums and the list of what is inside, in target/packages
	@scripts/setup.sh --dist
	@CARGO='$(CARGO)' scripts/dist.sh

dist-again: dist ## make all of it a second time from a copy of the tree elsewhere, and compare the digests
	@CARGO='$(CARGO)' scripts/dist-again.sh

dist-try: dist ## install each package in a bare root (as root) and use it there
	@scripts/dist-try.sh
