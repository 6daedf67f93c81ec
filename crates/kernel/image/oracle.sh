#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the program that compares a kernel tree's scheduler with the core, operation by operation:
# oracle.sh ROOT TREE OBJ OUT [HOST]. ROOT, TREE and OBJ as for build.sh, and of ROOT tests/oracle/host, too. OUT gets
#   oracle    the program
#   left_out  lines "file of a driver<tab>reason": its operations are not compared
# HOST is a folder for objects that no tree has a part in; those that are there are taken as they are (`oracle.sh host
# ROOT HOST` makes them). Of a driver that does not compile the files are left out that its errors name, then the whole.
# JOBS: compilers at a time.
set -euo pipefail
jobs=${JOBS:-$(nproc)}
export LC_ALL=C

complain() {
    printf 'kernel diff: %s\n' "$*" >&2
    exit 1
}

# The program's own side.
compile_host() { # ROOT TO
    local root=$1 to=$2
    mkdir -p "$to"
    # shellcheck disable=SC2016 # the inner shell's
    find "$root/tests/oracle/host" -name '*.c' -print0 | sort -z | xargs -0 -P "$jobs" -I '{}' sh -c '
        to=$2/$(basename "$3" .c).o
        [ -e "$to" ] || { gcc -std=gnu11 -O2 -w -fno-pie -I"$1/core/include" -I"$1/core/include/pelton" \
            -I"$1/tests/oracle" -I"$1/tests/conformance" -c -o "$to.$$" "$3" && mv "$to.$$" "$to"; }' \
        sh "$root" "$to" '{}'
}

if [ "$1" = host ]; then
    compile_host "$(readlink -f "$2")" "$3"
    exit 0
fi

root=$(readlink -f "$1") tree=$(readlink -f "$2") obj=$(readlink -f "$3")
mkdir -p "$4"
out=$(readlink -f "$4")
host=${5:-$out/host}
# shellcheck source=scripts/oracle/drivers.sh
. "$root/scripts/oracle/drivers.sh"

first_error() { # DRIVER
    grep -m1 'error:' "$out/$1.log" | sed "s#$root/##g; s#$tree/##g; s/\t/ /g" || true
}

# First error of a file.
first_of() { # FILE DRIVER
    grep -m1 "$1.*error:" "$out/$2.log" | sed 's/.*error: //; s/\t/ /g' || true
}

# Files below tests/oracle/kernel that a driver's errors name, but not those that others need.
files_in_error() { # DRIVER
    grep 'error:' "$out/$1.log" | sed -n 's#.*tests/oracle/kernel/\([a-z]*_[a-z]*\)\.h:[0-9:]* error:.*#\1#p' |
        grep -v -E '^(fair_records|fair_running|util_state|core_.*)$' | sort -u || true
}

# A driver with all of its files, or with those that compile. DRIVER.left gets a line for each other.
build_driver() { # DRIVER
    local driver=$1 flags='' files one round
    : >"$out/$driver.left"
    for round in 1 2 3 4 5 6; do
        # shellcheck disable=SC2086 # words
        if compile_driver "$driver" $flags; then return 0; fi
        files=$(files_in_error "$driver")
        [ -n "$files" ] && [ "$round" != 6 ] || break
        for one in $files; do
            printf '%s\t%s\n' "$one" "$(first_of "$one.h:" "$driver")" >>"$out/$driver.left"
            flags="$flags -DWITHOUT_${one^^}"
        done
    done
    rm -f "$out/$driver.o"
    printf '%s\t%s\n' "$driver" "$(first_error "$driver")" >>"$out/$driver.left"
}

rm -f "$out"/{oracle,left_out,k_*}
[ -e "$obj/kernel/sched/.fair.o.cmd" ] || compile_plain "$out/make.log" ||
    complain "objects of the kernel were not built"
mapfile -t drivers_all < <(cd "$drivers" && ls k_*.c | sed 's/\.c$//')
pids=()
for name in "${drivers_all[@]}"; do
    if [ "${#pids[@]}" -ge "$jobs" ]; then
        wait "${pids[0]}" || true
        pids=("${pids[@]:1}")
    fi
    build_driver "$name" &
    pids+=($!)
done
wait
compile_host "$root" "$host"

names=()
for name in "${drivers_all[@]}"; do
    [ ! -e "$out/$name.o" ] || names+=("$name")
done
[ -e "$out/k_core.o" ] || complain "the part that all others need does not compile: $(first_error k_core)"
link_drivers "${names[@]}"
gcc -no-pie -o "$out/oracle" "$host"/*.o "$out/kernel.o" -Wl,-T,"$drivers/oracle.lds" \
    -Wl,-z,noexecstack,--no-warn-rwx-segments
strip --strip-debug "$out/oracle"
cat "$out"/*.left >"$out/left_out"
