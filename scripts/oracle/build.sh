#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the kernel's side of the oracle: scripts/oracle/build.sh FOLDER SERIES [SUFFIX]
# FOLDER/SERIES is what fetch.sh prepared; FOLDER/SERIES/out/kernel.o is the result. Nothing is done when nothing changed.
# With a suffix the configured headers are in obj-SUFFIX, and the result is in out-SUFFIX.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
folder=$(readlink -m "$1") series=$2 suffix=${3:+-$3}
tree=$folder/$series/tree obj=$folder/$series/obj$suffix out=$folder/$series/out$suffix
# shellcheck source=scripts/oracle/drivers.sh
. "$root/scripts/oracle/drivers.sh"

# What the result depends on.
stamp() {
    cat "$folder/$series/package"
    find tests/oracle/kernel tests/oracle/state.h core/include scripts/oracle/{build,drivers}.sh scripts/oracle/stubs.py -type f |
        LC_ALL=C sort | xargs cksum
}

# Warnings about the kernel's text are the kernel's; those about ours are errors.
driver() { # NAME
    local log=$out/$1.log
    compile_driver "$1" || { grep -m5 'error' "$log" >&2; return 1; }
    if grep -A3 'tests/oracle/.*warning:' "$log" >&2; then return 1; fi
}

mkdir -p "$out"
now=$(stamp)
if [ -e "$out/kernel.o" ] && [ "$(cat "$out/stamp" 2>/dev/null)" = "$now" ]; then exit 0; fi
rm -f "$out/stamp"
# shellcheck disable=SC1091 # written by fetch.sh
(. "$folder/env" && compile_plain "$obj.make.log") ||
    { echo "oracle: Linux $series: kernel objects were not built, see $obj.make.log" >&2; exit 1; }
mapfile -t names < <(cd "$drivers" && ls k_*.c | sed 's/\.c$//')
pids=()
for name in "${names[@]}"; do
    driver "$name" &
    pids+=($!)
done
code=0
for pid in "${pids[@]}"; do wait "$pid" || code=1; done
[ "$code" = 0 ] || { echo "oracle: Linux $series: a driver does not compile, see $out" >&2; exit 1; }
link_drivers "${names[@]}"
kernel_version >"$out/version"
printf '%s\n' "$now" >"$out/stamp"
