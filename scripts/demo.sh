#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the program and shows it: one published table, one traced run of a real rt-app file. Files go to out/.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh base
mkdir -p out

echo "demo: building (release)"
# shellcheck disable=SC2046 # flags are words
cargo build --quiet --release -p pelton-cli $(scripts/build-flags.sh)
pelton="${CARGO_TARGET_DIR:-target}/release/pelton"

# show COMMAND...: prints the command as a user would type it, then runs it.
show() {
    printf '\n$ pelton %s\n' "$*"
    "$pelton" "$@"
}

# A claim that does not hold ends with code 1; the table says which, and the rest of the demo still runs.
reproduce() {
    local code=0
    "$@" || code=$?
    [ "$code" -le 1 ] || exit "$code"
}

platform=hikey-6220
workload=scenarios/workloads/rt-app/mp3-short.json

reproduce show reproduce rt-utilization
reproduce "$pelton" reproduce rt-utilization --format json --quiet >out/rt-utilization.json
show run --platform "$platform" --workload "$workload" --trace out/mp3-short.pftrace
"$pelton" run --platform "$platform" --workload "$workload" --format json --quiet >out/mp3-short.json

# promise FILE WHAT: names a file to look at; an empty one is a failure.
promise() {
    [ -s "$1" ] || { echo "demo: $1 is missing or empty" >&2; exit 1; }
    printf '  %-26s %8s bytes  %s\n' "$1" "$(wc -c <"$1")" "$2"
}

printf '\nFiles to look at:\n'
promise out/rt-utilization.json "the published rows, ours beside them, and the verdicts"
promise out/mp3-short.pftrace "every switch, wake-up and frequency; open it at https://ui.perfetto.dev"
promise out/mp3-short.json "energy, latency and time at each frequency of the same run"
