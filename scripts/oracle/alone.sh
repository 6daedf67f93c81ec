#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the core's side of the oracle without a kernel: scripts/oracle/alone.sh PROGRAM HEADERS [FLAG|FILE]...
# HEADERS is the folder that has pelton/pelton.h. The compiler is CC, or cc.
set -euo pipefail
program=$1 headers=$2
shift 2
cd "$(dirname "$0")/../.."
"${CC:-cc}" -std=gnu11 -w -I"$headers" -I"$headers/pelton" -Itests/conformance -Itests/oracle -Itests/oracle/host \
    "$@" tests/oracle/alone.c tests/oracle/host/*.c -o "$program"
