# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. Every target says what it needs, installs it where that is wished (scripts/setup.sh), and says what it could
# not do.
.PHONY: help demo test test-live test-oracle test-kernel check bench ceilings mutants fast playground wheel package \
	docs generate clean

help:
	@echo 'make demo      build, reproduce a published table, trace a run, compare two kernels as a page (out/)'
	@echo 'make test      every test that needs no special machine'
	@echo 'make test-live   boot kernels in QEMU, record inside them, validate (root); SERIES=7.2: one of them'
	@echo 'make test-oracle  compile the kernel'"'"'s own scheduler and compare the core with it; SERIES=7.2: one of them'
	@echo 'make test-kernel  record the running kernel and read it back (root)'
	@echo 'make check     formats, lints, house rules, generated files'
	@echo 'make bench     instruction counts, ns per update, simulated seconds per second (out/bench.jsonl)'
	@echo 'make ceilings  count the instructions of an activation; above bench/ceilings.toml it fails (a minute)'
	@echo 'make mutants   put faults into the core and judge some for 40 s: known answers must notice them'
	@echo 'make fast      the program built with profiles of typical runs, for large sweeps (target/fast/pelton)'
	@echo 'make playground  the simulator in one page that runs in any browser (out/playground.html)'
	@echo 'make wheel     the Python package, tried in an empty environment (out/pelton-*.whl)'
	@echo 'make package   static program, .deb, source package, wheel, bill of materials; each is tried (out/packages/)'
	@echo 'make docs      the pages as a site, with notebooks that are executed; every link is checked (out/site/index.html)'
	@echo 'make generate  write the generated files again'
	@echo
	@echo 'What is missing is said. As root a yes installs it; CI=true or PELTON_INSTALL=yes: without a question.'

demo:
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@cargo xtask test $$(scripts/build-flags.sh workspace)

test-live:
	@scripts/setup.sh live
	@scripts/test-live.sh $(SERIES)

test-oracle:
	@scripts/setup.sh oracle
	@scripts/test-oracle.sh $(SERIES) || [ $$? = 4 ]
	@PELTON_KERNEL_IMAGES=1 cargo test --quiet --workspace $$(scripts/build-flags.sh workspace) --test across -- kernel_images::

test-kernel:
	@scripts/setup.sh test
	@scripts/test-kernel.sh

check:
	@scripts/setup.sh check
	@scripts/check.sh

bench:
	@scripts/setup.sh bench
	@cargo xtask bench

ceilings:
	@scripts/setup.sh ceilings
	@cargo xtask bench --ceilings

# Another sample each day; `cargo xtask mutants` judges all, by all tests that look at the core.
mutants:
	@scripts/setup.sh base
	@cargo xtask mutants --quick --seed $$(date +%Y%j) --seconds 40

fast:
	@scripts/build-fast.sh

playground:
	@scripts/build-play.sh

wheel:
	@scripts/build-wheel.sh

package:
	@scripts/build-packages.sh

docs:
	@scripts/build-docs.sh

generate:
	@cargo xtask generate
	@cargo xtask vectors
	@PELTON_SNAPSHOTS=write cargo test --quiet --workspace --test cli_tests -- reference:: book:: schemas::

clean:
	cargo clean
	rm -rf out .venv
