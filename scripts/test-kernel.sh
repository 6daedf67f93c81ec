#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records every small load on the running kernel, reads the files back and validates them; gives it the core's placement as a
# program, and compares. Needs root, the kernel's type information, and what the recorder is built with.
set -u
cd "$(dirname "$0")/.." || exit 70

if [ "$(id -u)" != 0 ] || [ ! -r /sys/kernel/btf/vmlinux ]; then
    echo "not measured: recording the running kernel (needs root and /sys/kernel/btf/vmlinux)"
    exit 0
fi
if [ -n "$(scripts/build-flags.sh)" ]; then
    echo "not measured: recording the running kernel (the recorder cannot be built)"
    exit 0
fi

# The loads put this back themselves; a killed test would not.
autogroup=/proc/sys/kernel/sched_autogroup_enabled
before=$(cat "$autogroup" 2>/dev/null)
restore() { [ -z "$before" ] || echo "$before" >"$autogroup" 2>/dev/null || true; }
trap restore EXIT
trap 'exit 130' INT TERM HUP

export PELTON_TEST_KERNEL=1
failed=0
cargo test --quiet --workspace --test live_tests kernel:: -- --nocapture || failed=1
cargo test --quiet --workspace --test live_tests decide:: -- --nocapture --test-threads 1 || failed=1
cargo test --quiet --workspace --test cli_tests record:: -- --nocapture --test-threads 1 || failed=1
exit "$failed"
