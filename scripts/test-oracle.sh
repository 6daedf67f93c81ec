#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holds the core against the kernel's own compiled scheduler: scripts/test-oracle.sh [SERIES...]. Needs an x86-64 machine, a C
# compiler, python3 and the Debian archive (the first time); no root. See docs/ci.md and docs/rules/oracle.md.
# PELTON_ORACLE_CASES sets the states for each operation, PELTON_ORACLE_SEED the first of them.
# Exit 1 when something differs or a wrong rule is not noticed, 4 when no release could be measured.
set -euo pipefail
cd "$(dirname "$0")/.."

series=("$@")
[ "${#series[@]}" -gt 0 ] || series=(5.10 6.1 6.12 7.2)
cases=${PELTON_ORACLE_CASES:-300000}
seed=${PELTON_ORACLE_SEED:-1}
# Wrong constants of tests/conformance/canary.h: number, where they are compiled in, the operation that must notice.
wrong_constants='1:pelt:__update_load_avg_cfs_rq 2:pelt:__update_load_avg_cfs_rq 3:pelt:__update_load_avg_cfs_rq
6:newidle:update_newidle_stats 7:newidle:update_newidle_stats'
# States for what must be noticed.
canary_cases=50000
# At most so many states until another release's value of a switch is noticed that the proofs say is proved here.
proof_cases=400000
answers=tests/oracle/answers.tsv

work=${CARGO_TARGET_DIR:-target}/oracle
begin=$SECONDS
say() { printf 'oracle: [%d s] %s\n' "$((SECONDS - begin))" "$*"; }
nothing() {
    echo "not measured: the kernel's own code: $*"
    exit 4
}

[ "$(uname -m)" = x86_64 ] || nothing "it is compiled for x86-64, this machine is $(uname -m)"
for tool in gcc ld objcopy readelf make python3 xz apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || nothing "$tool is missing"
done
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || nothing "the keys of the Debian archive are missing (debian-archive-keyring)"
mkdir -p "$work"
work=$(cd "$work" && pwd)

code=0
scripts/oracle/fetch.sh "$work" "${series[@]}" || code=$?
[ "$code" != 4 ] || nothing "the Debian archive cannot be reached"
[ "$code" = 0 ] || exit "$code"
say "sources are here"

present=()
for one in "${series[@]}"; do
    if [ -e "$work/$one/package" ]; then
        present+=("$one")
    else
        echo "not measured: Linux $one: the Debian archive does not carry linux-source-$one"
    fi
done
[ "${#present[@]}" -gt 0 ] || nothing "no release of the kernel could be had"

compile() { # TO FLAG... -- FILE...
    local to=$1 flags=() file
    shift
    mkdir -p "$to"
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    for file in "$@"; do
        printf '%s\0' "$file"
    done | xargs -0 -P "$(nproc)" -I '{}' sh -c 'gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -fno-pie -Icore/include -Itests/oracle \
        -Itests/conformance -Icore/include/pelton '"${flags[*]-}"' -c -o "'"$to"'/$(basename {} .c).o" {}'
}

link() { # SERIES NAME OBJECT...
    local out=$work/$1/out name=$2
    shift 2
    gcc -no-pie -o "$out/$name" "$@" "$out/kernel.o" -Wl,-T,tests/oracle/kernel/oracle.lds \
        -Wl,-z,noexecstack,--no-warn-rwx-segments
}

compile "$work/host" -- tests/oracle/host/*.c
for wrong in $wrong_constants; do
    IFS=: read -r n unit _ <<<"$wrong"
    compile "$work/host-$n" "-DPELTON_CANARY=$n" -- "tests/oracle/host/ops_$unit.c"
done
for one in "${present[@]}"; do
    scripts/oracle/build.sh "$work" "$one"
    link "$one" oracle "$work"/host/*.o
    for wrong in $wrong_constants; do
        IFS=: read -r n unit _ <<<"$wrong"
        # shellcheck disable=SC2046 # words
        link "$one" "oracle-$n" $(ls "$work"/host/*.o | grep -v "/ops_$unit.o") "$work/host-$n/ops_$unit.o"
    done
done
say "kernel code of ${present[*]} is compiled"

# Numbers that stand for the core's answers where the kernel answers the same: tests/oracle/answers.tsv, which is asked again
# where no kernel is (kernel_answers of the core's tests).
check_answers() { # SERIES
    local out=$work/$1/out code=0
    "$out/oracle" list | awk -F'\t' -v series="$1" '$4 { print series "\t" $2 }' | "$out/oracle" answers >"$out/answers" || code=1
    [ "$code" = 0 ] || echo "oracle: Linux $1: the core and the kernel differ in a state of answers.tsv"
    [ -n "${PELTON_ORACLE_WRITE:-}" ] || awk -F'\t' -v series="$1" '$1 == series' "$answers" | cmp -s - "$out/answers" || {
        echo "oracle: Linux $1: $answers is not what the core answers; PELTON_ORACLE_WRITE=1 make test-oracle writes it"
        code=1
    }
    return "$code"
}

# All operations of a release, then everything that must be noticed.
measure() { # SERIES
    local out=$work/$1/out code=0 wrong n operation
    rm -f "$out/results.jsonl"
    export ORACLE_RESULTS=$out/results.jsonl
    "$out/oracle" run "$cases" "$seed" || code=1
    "$out/oracle" canaries "$canary_cases" "$seed" || code=1
    check_answers "$1" || code=1
    python3 scripts/oracle/proofs.py "$1" docs/rules/proofs/*.toml | "$out/oracle" proofs "$proof_cases" "$seed" || code=1
    unset ORACLE_RESULTS
    for wrong in $wrong_constants; do
        IFS=: read -r n _ operation <<<"$wrong"
        # Only 7.2 has the rate, and 5.10 no dice at all.
        case $n:$1 in 6:5.10 | 7:5.10 | 7:6.1 | 7:6.12) continue ;; esac
        if "$out/oracle-$n" run "$canary_cases" "$seed" "$operation" >/dev/null; then
            echo "oracle: Linux $1: wrong constant $n was not noticed"
            code=1
        fi
    done
    return "$code"
}

pids=() code=0
for one in "${present[@]}"; do
    if [ "${#pids[@]}" -ge 2 ]; then
        wait "${pids[0]}" || code=1
        pids=("${pids[@]:1}")
    fi
    measure "$one" >"$work/$one/out/log" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || code=1; done
: >"$work/results.jsonl"
for one in "${present[@]}"; do
    grep -v ' 0 different ' "$work/$one/out/log" || true
    cat "$work/$one/out/results.jsonl" >>"$work/results.jsonl"
done
python3 scripts/oracle/table.py "$work/results.jsonl"

# The page of operations, when all releases of it are here.
if [ "${present[*]}" = "5.10 6.1 6.12 7.2" ]; then
    lists=()
    for one in "${present[@]}"; do
        "$work/$one/out/oracle" list >"$work/$one/out/list"
        lists+=("$work/$one/out/list")
    done
    python3 scripts/oracle/reference.py "${lists[@]}" >"$work/oracle.md"
    [ -z "${PELTON_ORACLE_WRITE:-}" ] || cp "$work/oracle.md" docs/reference/oracle.md
    [ -z "${PELTON_ORACLE_WRITE:-}" ] || for one in "${present[@]}"; do cat "$work/$one/out/answers"; done >"$answers"
    cmp -s "$work/oracle.md" docs/reference/oracle.md || {
        echo "oracle: docs/reference/oracle.md is not what the table says; PELTON_ORACLE_WRITE=1 make test-oracle writes it" >&2
        code=1
    }
fi
# Whole runs by the kernels' own code, every event of which is compared (tests/tests/kernel_images.rs).
scripts/oracle/images.sh "$work" "${present[@]}" || code=1
say "images of ${present[*]} are made"

[ "$code" = 0 ] || { echo "oracle: the core and the kernel differ, or a wrong rule was not noticed" >&2; exit 1; }
say "the core computes what the kernel's own code does"
