#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the program and shows it: one published table, one traced run of a real rt-app file, two policies as a page. Files
# go to out/.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh web
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
show report --platform "$platform" --workload "$workload" --policy 4.16 --policy 7.2 -o out/mp3-short.html

# look CHECK PAGE PICTURE ARGUMENTS...: opens a page as a person does; a finding is a failure.
look() {
    local code=0 check=$1 page=$2 picture=$3
    shift 3
    node "web/$check.mjs" "$page" --picture "$picture" "$@" >out/look.txt 2>&1 || code=$?
    case $code in
        0) return 0 ;;
        1) cat out/look.txt >&2; exit 1 ;;
        *) echo "demo: $page was not opened: node, npm and chromium do that" ;;
    esac
    return 1
}

built=0
scripts/build-play.sh || built=$?
[ $built = 0 ] || [ $built = 4 ] || exit $built

# promise FILE WHAT: names a file to look at; an empty one is a failure.
promise() {
    [ -s "$1" ] || { echo "demo: $1 is missing or empty" >&2; exit 1; }
    printf '  %-26s %8s bytes  %s\n' "$1" "$(wc -c <"$1")" "$2"
}

printf '\nFiles to look at:\n'
promise out/rt-utilization.json "the published rows, ours beside them, and the verdicts"
promise out/mp3-short.pftrace "every switch, wake-up and frequency; open it at https://ui.perfetto.dev"
promise out/mp3-short.json "energy, latency and time at each frequency of the same run"
promise out/mp3-short.html "kernel 4.16 against 7.2 on it: a page with time lines and explained decisions"
if look check out/mp3-short.html out/mp3-short.png; then
    promise out/mp3-short.png "that page in a browser"
fi
if [ $built = 0 ]; then
    promise out/playground.html "the simulator in one page: boards, workloads and policies to try"
    if look check_play out/playground.html out/playground.png --program "$pelton"; then
        promise out/playground.png "that page in a browser"
    fi
fi
