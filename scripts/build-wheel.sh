#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Python package as a wheel, out/pelton-*.whl, tried in an empty environment without a network.
# scripts/build-wheel.sh [PYTHON]: the interpreter to try it with (3.11 or newer; python3).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}

scripts/setup.sh python
if ! [ -x .venv/bin/maturin ]; then
    echo "wheel: maturin is not there (scripts/setup.sh python): not built" >&2
    exit 4
fi
mkdir -p out
rm -f out/pelton-*.whl
# The program's own build flags, so that nothing that both are made of is built twice.
(cd python && ../.venv/bin/maturin build --release --quiet --interpreter python3 --out ../out)
wheel=$(ls out/pelton-*.whl)

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
"$python" -m venv "$empty/venv"
"$empty/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
cd "$empty"
"$empty/venv/bin/python" - <<'PY'
import time

begin = time.perf_counter()
import pelton

imported = time.perf_counter()
by_max, by_sum = (pelton.run("pixel6-gs101", "ui-frames", policy, duration="10s") for policy in ("7.2", "7.2,uclamp=sum"))
first = time.perf_counter()
begun = time.process_time()
run = pelton.run("pixel6-gs101", "hackbench:groups=4,loops=1000000", duration="6s", events=["sched_switch"])
ran = time.process_time()
rows = len(run.events("sched_switch"))
print(f"wheel: import {(imported - begin) * 1e3:.1f} ms; two policies of 10 s {(first - imported) * 1e3:.0f} ms")
print(f"wheel: energy {by_max.summary['energy_mj']} and {by_sum.summary['energy_mj']} mJ; {rows} switches kept in {ran - begun:.2f} s of CPU")
assert imported - begin < 0.5 and first - imported < 2
PY
printf 'wheel: %s, %s bytes, installs into an empty environment of %s\n' "$wheel" "$(stat -c %s "$OLDPWD/$wheel")" "$("$python" --version)"
