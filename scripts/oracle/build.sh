#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the kernel's side of the oracle: scripts/oracle/build.sh FOLDER SERIES [SUFFIX]
# FOLDER/SERIES is what fetch.sh prepared; FOLDER/SERIES/out/kernel.o is the result. Nothing is done when nothing changed.
# With a suffix the configured headers are in obj-SUFFIX, and the result is in out-SUFFIX.
# The kernel's own files are compiled by the kernel's own command line, each included by a driver (tests/oracle/kernel).
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
folder=$(readlink -m "$1") series=$2 suffix=${3:+-$3}
tree=$folder/$series/tree obj=$folder/$series/obj$suffix out=$folder/$series/out$suffix
drivers=$root/tests/oracle/kernel

# What the result depends on.
stamp() {
    cat "$folder/$series/package"
    find tests/oracle/kernel tests/oracle/state.h core/include scripts/oracle/build.sh scripts/oracle/stubs.py -type f |
        LC_ALL=C sort | xargs cksum
}

objects='rbtree find_bit bitmap sort plist list_sort'
split=0
lib=
for one in $objects; do [ ! -e "$tree/lib/$one.c" ] || lib="$lib lib/$one.o"; done
if [ ! -e "$tree/kernel/sched/build_policy.c" ]; then
    split=1
    for one in rt idle topology cpupri clock cpufreq stop_task loadavg wait swait completion cputime; do
        lib="$lib kernel/sched/$one.o"
    done
fi

# Objects of the kernel that need no driver, and the command line that all are compiled with.
plain() {
    # shellcheck disable=SC1091 # written by fetch.sh
    . "$folder/env"
    # shellcheck disable=SC2086 # words
    make -s -C "$obj" ARCH=x86_64 "-j$(nproc)" kernel/sched/fair.o $lib </dev/null >"$obj.make.log" 2>&1 || true
    [ -e "$obj/kernel/sched/.fair.o.cmd" ]
}

flags() { sed -n 's/^\(saved\)\?cmd_[^ ]* := gcc \(.*\) -c -o .*/\2/p' "$obj/kernel/sched/.fair.o.cmd"; }

version() { awk '/LINUX_VERSION_CODE/{v = $3; print int(v / 65536) * 100 + int(v / 256) % 256}' "$obj/include/generated/uapi/linux/version.h"; }

# Warnings about the kernel's text are the kernel's; those about ours are errors.
driver() { # NAME
    local log=$out/$1.log
    # The kernel's flags contain quotes for a shell.
    (cd "$obj" && eval "gcc -I$drivers/shadow -include $drivers/pre.h $(flags) -Wall -Wextra -Wno-unused-parameter" \
        "-Wno-missing-prototypes -Wno-missing-declarations -Werror=implicit-function-declaration" \
        "-I$root/core/include -I$root/tests/oracle -DORACLE_VERSION=$version -DORACLE_SPLIT=$split" \
        "-c -o $out/$1.o $drivers/$1.c" 2>"$log") || { grep -m5 'error' "$log" >&2; return 1; }
    if grep -A3 'tests/oracle/.*warning:' "$log" >&2; then return 1; fi
}

mkdir -p "$out"
now=$(stamp)
if [ -e "$out/kernel.o" ] && [ "$(cat "$out/stamp" 2>/dev/null)" = "$now" ]; then exit 0; fi
rm -f "$out/stamp"
plain || { echo "oracle: Linux $series: kernel objects were not built, see $obj.make.log" >&2; exit 1; }
version=$(version)
names=$(cd "$drivers" && ls k_*.c | sed 's/\.c$//')
pids=()
for name in $names; do
    driver "$name" &
    pids+=($!)
done
code=0
for pid in "${pids[@]}"; do wait "$pid" || code=1; done
[ "$code" = 0 ] || { echo "oracle: Linux $series: a driver does not compile, see $out" >&2; exit 1; }
cd "$obj"
# shellcheck disable=SC2046,SC2086 # words
ld -r -o "$out/k.o" $(printf "$out/%s.o " $names) $lib
python3 "$root/scripts/oracle/stubs.py" "$out/k.o" "$out/stubs.txt" >"$out/stubs.S"
gcc -c -o "$out/stubs.o" "$out/stubs.S"
ld -r -o "$out/kernel.o" "$out/k.o" "$out/stubs.o"
objcopy -w --keep-global-symbol='k_*' --keep-global-symbol='oracle_*' -R '.discard*' -R .comment "$out/kernel.o"
echo "$version" >"$out/version"
printf '%s\n' "$now" >"$out/stamp"
