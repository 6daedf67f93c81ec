#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the release program again for sweeps of many runs (docs/benchmarks.md): with what typical runs show the compiler
# (profile-guided optimization), and, where there is a clang of 19 or newer that this Rust's linker can read the code of, with
# the core and the engine as one program (link-time optimization over both languages). With the plain one three builds, fifteen
# minutes on two cores.
# Events of runs that were not shown must come out as from the plain build. Writes target/fast/pelton;
# scripts/build-fast.sh static: target/fast/pelton-static beside it, which needs no library of a machine (one more).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh fast web
host=$(rustc -vV | sed -n 's/^host: //p')
sysroot=$(rustc --print sysroot)/lib/rustlib/$host
newest=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
have() { command -v "$1" >/dev/null 2>&1; }

# The newest of Debian's names for a tool of LLVM whose files the LLVM of this Rust can read: NAME-22, NAME-21, ...
of_llvm() { # NAME
    local n
    for ((n = newest; n >= 19; n--)); do
        if have "$1-$n"; then echo "$1-$n"; return; fi
    done
    return 1
}

profdata=$sysroot/bin/llvm-profdata
[ -x "$profdata" ] || profdata=$(of_llvm llvm-profdata) || {
    echo "fast: llvm-profdata is missing (rustup component add llvm-tools, or apt-get install llvm-19)" >&2
    exit 4
}
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/fast"
work=$(cd "$target/fast" && pwd)
mapfile -t flags < <(scripts/build-flags.sh)
begin=$SECONDS
say() { printf 'fast: [%d s] %s\n' "$((SECONDS - begin))" "$*"; }

# One program over both languages: the core's code as clang leaves it for the linker, and Rust's own linker.
as_one=''
if clang=$(of_llvm clang) && ar=$(of_llvm llvm-ar) && [ -x "$sysroot/bin/gcc-ld/ld.lld" ]; then
    as_one="-Clinker-plugin-lto -Clinker=$clang -Clink-arg=-fuse-ld=lld -Clink-arg=-B$sysroot/bin/gcc-ld"
    say "the core is compiled by $clang, and linked as one program with the engine"
else
    say "without clang-19 or newer, or Rust's linker, calls between core and engine stay calls (apt-get install clang-19 llvm-19)"
fi

# A program that is handed on names no folders of the machine that built it.
paths="--remap-path-prefix=$PWD=pelton --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"

# With a target named, build scripts and macros are built without these flags.
build() { # FOLDER RUSTFLAGS
    local of=${host//-/_}
    if [ -n "$as_one" ]; then
        export "CC_$of=$clang" "AR_$of=$ar" "CFLAGS_$of=-flto=thin"
    fi
    RUSTFLAGS="$as_one $paths $2" cargo build --quiet --release -p pelton-cli "${flags[@]}" --target "$host" --target-dir "$work/$1"
}

# What is shown: machines with one clock for all CPUs, two kinds of CPUs, and threads under a turbo limit.
tasks='periodic:run_us=700,period_us=4900,threads=11 + periodic:run_us=1900,period_us=15700,threads=12'
tasks+=' + bursts:run_us=2500,sleep_us=17000,threads=9'
grouped='group:path=/a,cpu.weight=200 + bursts:run_us=900,sleep_us=2000,threads=4,group=/a'
show() { # PROGRAM
    local platform profile
    for platform in hikey-6220 pixel6-gs101 intel-i7-6700; do
        for profile in 7.2 6.1 5.10; do
            "$1" run --platform "$platform" --workload "$tasks" --profile "$profile" --duration 4s >"$work/shown"
        done
    done
    # The engine is there once for each shape of a run: with groups, and with a log.
    "$1" run --platform hikey-6220 --workload "$grouped + $tasks" --duration 4s >"$work/shown"
    "$1" run --platform hikey-6220 --workload "$grouped + $tasks" --duration 2s --log "$work/shown.plog" >"$work/shown"
    "$1" trace export --quiet --to perfetto -o "$work/shown.pftrace" "$work/shown.plog" >"$work/shown"
}

# Runs that are not shown, by both programs: their logs are the same.
same() { # PLAIN FAST
    local platform workload='hackbench:groups=1,fds=2,loops=30 + busy:nice=5'
    workload+=' + periodic:run_us=2000,budget_us=3000,period_us=16000,policy=deadline'
    for platform in juno-r0 rock-5b-rk3588 xeon-4309y-2s; do
        "$1" run --platform "$platform" --workload "$workload" --duration 1s --log "$work/plain.plog" >"$work/shown"
        "$2" run --platform "$platform" --workload "$workload" --duration 1s --log "$work/fast.plog" >"$work/shown"
        cmp "$work/plain.plog" "$work/fast.plog" || {
            echo "fast: $platform: other events than from the plain build" >&2
            return 1
        }
    done
}

cargo build --quiet --release -p pelton-cli "${flags[@]}"
say "the plain program is built"
rm -rf "$work/profile" "$work/pelton" "$work/pelton-static"
build watched "-Cprofile-generate=$work/profile"
say "the watched program is built"
show "$work/watched/$host/release/pelton"
"$profdata" merge -o "$work/profdata" "$work/profile"
build guided "-Cprofile-use=$work/profdata"
same "$target/release/pelton" "$work/guided/$host/release/pelton"
cp "$work/guided/$host/release/pelton" "$work/pelton"
say "$target/fast/pelton is built"
if [ "${1:-}" = static ]; then
    RUSTFLAGS="$as_one -Cprofile-use=$work/profdata" scripts/build-static.sh "$work/static"
    same "$target/release/pelton" "$work/static/$host/release/pelton"
    cp "$work/static/$host/release/pelton" "$work/pelton-static"
    say "$target/fast/pelton-static is built"
fi
rm -f "$work"/shown* "$work"/*.plog
