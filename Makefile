# `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo demo-down demo-vm demo-maintenance audit accept quick quick-lint quick-tests test test-build test-run test-doc test-years lint deny fuzz bench chaos dist dist-again dist-try docs outdated site pictures verify-matrix

PROVISION := target/release/provision
LAB := inventories/lab.yaml
# CARGO can be a wrapper, for machines that many builds share.
CARGO ?= cargo
# Programs of crates.io that the setup builds where the machine has none.
export PATH := $(CURDIR)/target/tools/bin:$(PATH)

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

demo-vm: build ## two virtual machines with RDMA between them, rebooted and power-cycled; RELEASE=trixie, JSON=1 prints the figures
	@scripts/setup.sh --vm
	@RELEASE='$(RELEASE)' scripts/demo-vm.sh $(PROVISION) inventories/lab-vm.yaml $(if $(JSON),--json -)

demo-maintenance: build ## a change rolls through a live Slurm cluster in the lab, under its jobs
	@scripts/demo-maintenance.sh $(PROVISION) inventories/lab-maintenance.yaml

audit: build ## what the audit of others (clustermax) says of a Slurm cluster in the lab, before and after; writes docs/evidence/audit.md
	@scripts/audit.sh $(PROVISION) inventories/lab-audit.yaml docs/evidence/audit.md

lint: setup ## formatting, clippy and shellcheck, warnings denied
	$(CARGO) fmt --check
	@# in a directory of its own, so that a build can run beside it
	$(CARGO) clippy --all-targets --locked --target-dir target/lint -- -D warnings
	@# the fuzzer has a lock of its own, which must know every dependency
	$(CARGO) metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml \
		--filter-platform "$$(rustc -vV | sed -n 's/^host: //p')" >/dev/null
	@# mistakes that chaos plants must fit the code they are planted in
	for plant in scripts/chaos-plants/*.patch; do git apply --check -C1 "$$plant"; done
	@# shell text of src is checked by tests/it/shell_texts.rs, as it is sent
	git ls-files -z --cached --others --exclude-standard '*.sh' .ci/run ':!src/[!l]*' | xargs -0 shellcheck

test: ## everything that must pass: lint, unit, case, property, snapshot and lab tests
	@scripts/setup.sh --test
	@$(MAKE) --no-print-directory --jobs=2 lint test-build
	@$(MAKE) --no-print-directory test-run test-doc

quick: ## what takes a moment after a change: lint of the program, units, cases, the engine, texts
	@cargo nextest show-config version >/dev/null || scripts/setup.sh --test
	@$(MAKE) --no-print-directory --jobs=2 quick-lint quick-tests

quick-lint:
	$(CARGO) fmt --check
	@# in the directory of `lint`, beside the build
	$(CARGO) clippy --locked --lib --bins --target-dir target/lint -- -D warnings

quick-tests:
	$(CARGO) nextest run --locked --profile quick --lib --test engine --test it

test-build:
	@scripts/setup.sh --test
	@# before tests with deadlines, and tests that run as another user, ask for them
	@scripts/other-tools.sh trixie target/other-tools/trixie
	$(CARGO) nextest run --locked --no-run $(TESTS)

# Words of cargo-nextest in TESTS choose some: TESTS='--test sshd init::'.
test-run:
	$(CARGO) nextest run --locked $(TESTS)

test-doc:
	$(CARGO) test --locked --doc

test-years: build ## each night: other years of Debian and Ubuntu, virtual machines, every shell, every case; not part of `test`
	@scripts/setup.sh --test
	$(CARGO) nextest run --locked --test lab --run-ignored only
	@# InfiniBand fabrics of 128 hosts
	$(CARGO) nextest run --locked --test it --run-ignored only fabric::
	@# our scripts with the tools of sid, where `make test` has those of Debian 13
	@scripts/other-tools.sh sid target/other-tools/sid
	EVERY_CASE=1 TOOLS_OF=sid $(CARGO) nextest run --locked --test shells facts:: resources:: state:: tools::
	EVERY_CASE=1 $(CARGO) nextest run --locked --test shells --test it rooted:: hostile::
	@scripts/setup.sh --vm
	for release in trixie sid; do RELEASE=$$release scripts/demo-vm.sh $(PROVISION) inventories/lab-vm.yaml; done

accept: ## write what tests found as what they expect: TESTS=output::, then read git diff
	INSTA_UPDATE=always $(CARGO) nextest run --locked --lib --test engine --test it $(TESTS)

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

outdated: setup ## versions of the playbooks that are past their day; DATE=2028-11-30 asks for that day
	@$(CARGO) run --locked --quiet -- generate outdated $(if $(DATE),--on $(DATE))

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
