#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Records every small load on the running kernel and reads the files back. Needs root and the kernel's type information.
set -u
cd "$(dirname "$0")/.." || exit 70

if [ "$(id -u)" != 0 ] || [ ! -r /sys/kernel/btf/vmlinux ]; then
    echo "not measured: recording the running kernel (needs root and /sys/kernel/btf/vmlinux)"
    exit 0
fi
PELTON_TEST_KERNEL=1 cargo test --quiet -p pelton-live --test kernel -- --nocapture
