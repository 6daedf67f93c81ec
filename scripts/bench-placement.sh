#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts the instructions of one wake-up placement, the kernel's compiled function and the core's, on the same machines
# of 8, 64 and 384 CPUs: scripts/bench-placement.sh [SERIES...]. Needs what scripts/test-oracle.sh needs, and valgrind.
# Prints one JSON line for each count, then "not measured: ..." for what could not be counted.
# PELTON_BENCH_PLACEMENTS sets the placements for each count. Exit 1 when the two sides choose different CPUs.
set -euo pipefail
cd "$(dirname "$0")/.."

series=("$@")
[ "${#series[@]}" -gt 0 ] || series=(5.10 6.1 6.12 7.2)
count=${PELTON_BENCH_PLACEMENTS:-400}
# Placements that are compared before any is counted.
compared=4000
config=tests/oracle/kernel/config.fragment

nothing() {
    echo "not measured: instructions of placements: $*"
    exit 0
}
[ "$(uname -m)" = x86_64 ] || nothing "the kernel is compiled for x86-64, this machine is $(uname -m)"
for tool in gcc ld objcopy readelf make python3 xz apt-get dpkg-deb valgrind; do
    command -v "$tool" >/dev/null || nothing "$tool is missing"
done

work=${CARGO_TARGET_DIR:-target}/oracle
mkdir -p "$work/bench"
work=$(cd "$work" && pwd)
code=0
scripts/oracle/fetch.sh "$work" "${series[@]}" >&2 || code=$?
[ "$code" = 0 ] || nothing "no source of the kernel could be had"

# The oracle's configuration with room for many CPUs.
configure() { # SERIES
    local obj=$work/$1/obj-large
    [ "$(cat "$obj/.from" 2>/dev/null)" != "$(cat "$work/$1/package")" ] || return 0
    rm -rf "$obj"
    scripts/oracle/configure.sh "$work" "$work/$1/tree" "$obj" "$config" 512 ||
        { echo "bench: Linux $1: not configured, see $obj.log" >&2; return 1; }
    cp "$work/$1/package" "$obj/.from"
}

compile() { # FILE [OBJECT FLAG]
    # shellcheck disable=SC2086 # a flag or none
    gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -fno-pie -Icore/include -Itests/oracle -Itests/oracle/host \
        -Icore/include/pelton ${3:-} -c -o "$work/bench/${2:-$(basename "$1" .c)}.o" "$1"
}

link() { # SERIES OBJECT PROGRAM
    gcc -no-pie -o "$work/$1/out-large/$3" "$work/bench/$2.o" "$work/bench/trap.o" "$work/$1/out-large/kernel.o" \
        -Wl,-T,tests/oracle/kernel/oracle.lds -Wl,-z,noexecstack,--no-warn-rwx-segments
}

build() { # SERIES
    configure "$1"
    scripts/oracle/build.sh "$work" "$1" large
    link "$1" main bench
    link "$1" main-large bench-large
}

# Instructions of a side's function, for each placement.
counted() { # PROGRAM SIDE FUNCTION CASE
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$3" "$1" "$2" "$4" "$count" 2>&1 |
        awk -v n="$count" '/Collected :/ { printf "%d", $4 / n }'
}

line() { # SERIES SIDE CASE INSTRUCTIONS
    printf '{"bench": "placement/%s/%s/%s", "ops": %d, "ns": 0, "instructions_per_op": %d, "hash": ""}\n' \
        "$1" "$2" "$3" "$count" "$4"
}

measure() { # SERIES
    local program=$work/$1/out-large/bench one n
    for one in $("$program" list); do
        if ! "$program" both "$one" "$compared" >/dev/null; then
            echo "bench: Linux $1: $one: the core chooses other CPUs" >&2
            return 1
        fi
        line "$1" kernel "$one" "$(counted "$program" kernel k_bench_call "$one")"
        n=$(counted "$program" core core_call "$one")
        [ "$n" = 0 ] || line "$1" core "$one" "$n"
    done
}

# The machines of more than 64 CPUs once more, by records with room for all of them.
measure_large() { # SERIES
    local program=$work/$1/out-large/bench-large one
    for one in $("$program" list); do
        if ! "$program" both "$one" "$compared" >/dev/null; then
            echo "bench: Linux $1: $one: the core chooses other CPUs from a record of all" >&2
            return 1
        fi
        line "$1" core-large "$one" "$(counted "$program" core core_call "$one")"
    done
}

compile tests/oracle/bench/main.c
compile tests/oracle/bench/main.c main-large -DPELTON_PLACE_CPUS_MAX=1024u
compile tests/oracle/host/trap.c
for one in "${series[@]}"; do
    if [ ! -e "$work/$one/package" ]; then
        echo "not measured: placements of Linux $one: no source package"
        continue
    fi
    build "$one" >&2
    measure "$one"
    measure_large "$one"
done
