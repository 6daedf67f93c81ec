#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the device tree of a virtual arm64 board with CPUs of different size: scripts/live/board.sh OUT.dtb CLUSTER...
# CLUSTER is CPUS:DMIPS:PARENT_MHZ:COEFFICIENT, small ones first. QEMU's own board is the beginning. Each cluster gets a clock
# that only the kernel drives: one of eight steps of its parent, in a register that is plain memory kept out of the
# kernel's hands. Every second step is an operating point, with voltage, so that the kernel's own cpufreq-dt registers an
# energy model. No idle states: QEMU 7.2 does not come back from those of PSCI.
set -euo pipefail
out=$1
shift

# The address that the clocks' registers are at, 4 bytes each; inside the memory that the machine has.
registers=0x7f000000
memory_mib=1024
steps=(2 4 6 8)
microvolts=(600000 700000 850000 1000000)

put() { fdtput -t "$1" "$out" "$2" "$3" "${@:4}"; } # TYPE NODE PROPERTY VALUE...
node() { fdtput -p -c "$out" "$1"; }
cpus=0
for cluster in "$@"; do cpus=$((cpus + ${cluster%%:*})); done
qemu-system-aarch64 -machine "virt,gic-version=3,dumpdtb=$out" -cpu cortex-a72 -smp "$cpus" -m "$memory_mib" \
    -display none >/dev/null 2>&1

# Names by which nodes are referred to; QEMU's own are small.
handle=4096
name() { # NODE
    handle=$((handle + 1))
    put x "$1" phandle "$(printf %x $handle)"
}

# What would make two starts differ, and the clusters as QEMU has them.
fdtput -d "$out" /chosen kaslr-seed rng-seed 2>/dev/null || true
fdtput -r "$out" /cpus/cpu-map
node /reserved-memory
put x /reserved-memory '#address-cells' 2
put x /reserved-memory '#size-cells' 2
fdtput "$out" /reserved-memory ranges
node "/reserved-memory/clocks@${registers#0x}"
put x "/reserved-memory/clocks@${registers#0x}" reg 0 "$registers" 0 1000
fdtput "$out" "/reserved-memory/clocks@${registers#0x}" no-map

clock() { # INDEX PARENT_MHZ: sets clock to its name
    local parent=/clock-parent-$1 at
    at=$(printf %x $((registers + 4 * $1)))
    node "$parent"
    put s "$parent" compatible fixed-clock
    put x "$parent" '#clock-cells' 0
    put u "$parent" clock-frequency $(($2 * 1000000))
    put s "$parent" clock-output-names "parent$1"
    name "$parent"
    node "/clock@$at"
    put s "/clock@$at" compatible apm,xgene-pmd-clock
    put x "/clock@$at" reg 0 "$at" 0 4
    put x "/clock@$at" '#clock-cells' 0
    put u "/clock@$at" clocks $handle
    put s "/clock@$at" clock-output-names "cluster$1"
    name "/clock@$at"
    clock=$handle
}

points() { # INDEX PARENT_MHZ: sets points to its name
    local table=/opp-table-$1 i mhz
    node "$table"
    put s "$table" compatible operating-points-v2
    fdtput "$out" "$table" opp-shared
    for i in "${!steps[@]}"; do
        mhz=$(($2 * ${steps[$i]} / 8))
        node "$table/opp-$mhz"
        put u "$table/opp-$mhz" opp-hz 0 $((mhz * 1000000))
        put u "$table/opp-$mhz" opp-microvolt "${microvolts[$i]}"
    done
    name "$table"
    points=$handle
}

cpu=0 index=0
for cluster in "$@"; do
    IFS=: read -r number dmips parent coefficient <<<"$cluster"
    clock $index "$parent"
    points $index "$parent"
    for ((core = 0; core < number; core++, cpu++)); do
        at=$(printf '/cpus/cpu@%x' $cpu)
        put u "$at" capacity-dmips-mhz "$dmips"
        put u "$at" dynamic-power-coefficient "$coefficient"
        put u "$at" clocks $clock
        put u "$at" operating-points-v2 $points
        name "$at"
        node "/cpus/cpu-map/socket0/cluster$index/core$core"
        put u "/cpus/cpu-map/socket0/cluster$index/core$core" cpu $handle
    done
    index=$((index + 1))
done
