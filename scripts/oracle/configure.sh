#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Configures a kernel's tree: scripts/oracle/configure.sh FOLDER TREE OBJ CONFIG [CPUS]
# FOLDER is what fetch.sh prepared. Which headers the compiler sees is decided by a small configuration of our own: CONFIG,
# with room for so many CPUs (64). What make says goes into OBJ.log.
set -euo pipefail
folder=$1 tree=$2 obj=$3 config=$4 cpus=${5:-64}
make="make -s -C $tree O=$obj ARCH=x86_64 -j$(nproc)"
mkdir -p "$obj"
{
    cat "$config"
    echo "CONFIG_NR_CPUS=$cpus"
} >"$obj.config"
# shellcheck disable=SC1091 # written by fetch.sh
. "$folder/env"
{
    KCONFIG_ALLCONFIG=$obj.config $make allnoconfig
    $make prepare
} </dev/null >"$obj.log" 2>&1
