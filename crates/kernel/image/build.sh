#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles a kernel tree's scheduler to an image that pelton can load: build.sh ROOT TREE OBJ OUT
# ROOT: a checkout, or a folder with these of its files: core/include, crates/core/src/kernel_ops.h,
# crates/kernel/image, scripts/oracle/{drivers.sh,stubs.py}, tests/oracle/{state.h,kernel}. TREE: kernel source. OBJ:
# configured from it by scripts/oracle/configure.sh, with tests/oracle/kernel/config.fragment and 64 CPUs. OUT gets
#   image        a program linked to a fixed place below 2 GB, whose entry is a pelton_kernel_entry
#   kernel.o     what of it is the kernel's
#   version      6.12.118 = 612
#   operations   name<tab>present|missing<tab>reason, a line for each operation of kernel_ops.h
# An operation whose code does not compile with this tree is missing; exit 1 when a file of the kernel's does not.
# JOBS: compilers at a time. Tools that the kernel's make needs are in PATH (fetch.sh of the oracle unpacks some).
set -euo pipefail
root=$(readlink -f "$1") tree=$(readlink -f "$2") obj=$(readlink -f "$3")
mkdir -p "$4"
out=$(readlink -f "$4")
jobs=${JOBS:-$(nproc)}
export LC_ALL=C
# shellcheck source=scripts/oracle/drivers.sh
. "$root/scripts/oracle/drivers.sh"
image=$root/crates/kernel/image
includes="-I'$image' -I'$root/crates/core/src' -I'$drivers'"

# Drivers, and the operations that are in each.
operations='k_core
k_cpufreq
k_cpumask
k_cpudeadline
k_deadline
k_util sugov_start sugov_hook sugov_work sugov_limits
k_fair select_task_rq_fair util_fits_cpu cpu_overutilized misfit_load should_we_balance find_src need_active_balance can_migrate_task util_est_update
k_menu menu_select
k_teo teo_select
k_policy update_load_sum update_load_avg pelt_divider'

# Text with names of files from the tree's or our folder on.
relative() { sed "s#$root/##g; s#$tree/##g; s#include/uapi/\.\./\.\./##g; s/\t/ /g"; }

# First error of a driver's log.
first_error() { # DRIVER
    grep -m1 'error:' "$out/$1.log" | relative || true
}

# Flags that leave out all operations of a list but one.
without_but() { # OPERATION OPERATIONS
    local one
    for one in $2; do
        # Hooks are of what was started.
        [ "$one" = "$1" ] || { [ "$one" = sugov_start ] && [ -n "$1" ]; } || printf -- '-DWITHOUT_%s ' "${one^^}"
    done
}

# Each function gets a section, so that all calls are relocations, and DRIVER.inlined the calls that are none any more.
compile() { # DRIVER FLAG...
    local driver=$1
    shift
    rm -f "$out/$driver.inlined"
    compile_driver "$driver" -DPELTON_IMAGE "$includes" -ffunction-sections \
        "-fopt-info-inline-optimized='$out/$driver.inlined'" "$@"
}

# A driver with all of its operations, or with those that compile each by itself. DRIVER.ops gets a line for each.
build_driver() { # DRIVER OPERATION...
    local driver=$1 one flags=''
    shift
    : >"$out/$driver.ops"
    if compile "$driver"; then
        for one in "$@"; do printf '%s\tpresent\t\n' "$one"; done >"$out/$driver.ops"
        return 0
    fi
    # Menu and teo are their operation.
    case $driver in k_menu | k_teo)
        rm -f "$out/$driver.o"
        printf '%s\tmissing\t%s\n' "$1" "$(first_error "$driver")" >"$out/$driver.ops"
        return 0
        ;;
    esac
    for one in "$@"; do
        if compile "$driver" "$(without_but "$one" "$*")"; then
            printf '%s\tpresent\t\n' "$one" >>"$out/$driver.ops"
        else
            printf '%s\tmissing\t%s\n' "$one" "$(first_error "$driver")" >>"$out/$driver.ops"
            flags="$flags -DWITHOUT_${one^^}"
        fi
    done
    compile "$driver" "$flags" && return
    { grep 'error:' "$out/$driver.log" || tail -1 "$out/$driver.log"; } | head -3 | relative >"$out/$driver.failed"
    return 1
}

rm -f "$out"/{image,kernel.o,version,operations} "$out"/k_*
compile_plain "$out/make.log" || {
    { grep -m3 'error:' "$out/make.log" || grep -m1 -E 'error|\*\*\*' "$out/make.log" || tail -1 "$out/make.log"; } |
        relative >&2
    exit 1
}

pids=() code=0
while read -r -a words; do
    if [ "${#pids[@]}" -ge "$jobs" ]; then
        wait "${pids[0]}" || code=1
        pids=("${pids[@]:1}")
    fi
    build_driver "${words[@]}" &
    pids+=($!)
done <<<"$operations"
for pid in "${pids[@]}"; do wait "$pid" || code=1; done
[ "$code" = 0 ] || { cat "$out"/*.failed 2>/dev/null | head -3 >&2; exit 1; }

names=() ops=()
while read -r -a words; do
    [ ! -e "$out/${words[0]}.o" ] || names+=("${words[0]}")
    ops+=("$out/${words[0]}.ops")
done <<<"$operations"
link_drivers "${names[@]}"
eval "gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -ffreestanding -fno-pie -fno-builtin -fno-stack-protector" \
    "-fcf-protection=none -fno-tree-loop-distribute-patterns -mgeneral-regs-only $includes -I'$root/core/include'" \
    "-I'$root/tests/oracle' -DIMAGE_RELEASE=$(kernel_version)u -c -o '$out/plug.o' '$image/plug.c'"
# Relocations stay: several images are there at the same time, one for each run.
ld -static -N --emit-relocs -e image_entry -Ttext=0x20000000 -z noexecstack --no-warn-rwx-segments \
    -T "$drivers/oracle.lds" -o "$out/image" "$out/plug.o" "$out/kernel.o"
kernel_version >"$out/version"
cat "${ops[@]}" >"$out/operations"
