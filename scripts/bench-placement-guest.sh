#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks scripts/bench-placement.sh in a guest: scripts/bench-placement-guest.sh [CPUS [STATE...]], states none, half, all.
# Boots Debian's 7.2 in QEMU without KVM, where an instruction takes 2 ns of the guest's clock (-icount shift=1), and lets the
# kernel's function_graph tracer time select_task_rq_fair. What the tracer itself takes is the same for a system call whose
# length is known: umask. Needs qemu-system-x86_64, cpio, gcc with a static libc; no root.
set -euo pipefail
cd "$(dirname "$0")/.."

cpus=${1:-8}
shift || true
states=${*:-none half all}
times=${PELTON_BENCH_WAKEUPS:-100}
# Longest time that the guest may take; with busy CPUs they execute in turns.
limit_s=1500
# Instructions of __x64_sys_umask behind the call of the tracer, in Debian's builds for x86-64 without mitigations: three loads,
# and, xchg, cltq, ret.
umask_length=7

nothing() {
    echo "not measured: placements in a guest: $*"
    exit 0
}
for tool in qemu-system-x86_64 cpio gcc python3; do command -v "$tool" >/dev/null || nothing "$tool is missing"; done
work=${CARGO_TARGET_DIR:-target}/live
mkdir -p "$work"
work=$(cd "$work" && pwd)
scripts/live/fetch.sh "$work/kernels" 7.2 >&2 || nothing "the Debian archive cannot be reached"
[ -e "$work/kernels/7.2/vmlinuz" ] || nothing "the Debian archive does not carry Linux 7.2"

root=$work/placement/root
rm -rf "$root" && mkdir -p "$root/bin"
gcc -O2 -Wall -Wextra -Werror -static -o "$root/bin/wake" tests/oracle/bench/wake.c
cp "$work/kernels/busybox" "$root/bin/busybox"
cat >"$root/init" <<INIT
#!/bin/busybox sh
b=/bin/busybox t=/sys/kernel/tracing
\$b mkdir -p /proc /sys /dev
\$b mount -t proc p /proc && \$b mount -t sysfs s /sys && \$b mount -t devtmpfs d /dev && \$b mount -t tracefs t \$t
echo "guest \$(\$b uname -r) \$(\$b nproc)"
echo 0 >\$t/tracing_on
echo 2000 >\$t/buffer_size_kb
for state in $states; do
    echo >\$t/trace
    /bin/wake \$state $times
    \$b sed -nE "s/^.* ([0-9.]+) us .*[| ]([a-z_0-9]+)\(\);.*/took \$state \2 \1/p" \$t/trace
    echo nop >\$t/current_tracer
done
\$b poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$work/placement/initramfs.gz"

case $cpus in
8) topology='8,sockets=1,cores=4,threads=2' ;;
*) topology="$cpus,sockets=1,dies=$((cpus / 16)),cores=8,threads=2" ;;
esac
timeout -k 5 "$limit_s" qemu-system-x86_64 -machine pc,hpet=off -cpu 'max,vendor=GenuineIntel,family=6,model=23' \
    -accel tcg,thread=single -smp "$topology" -m 1024 -icount shift=1,sleep=off -nodefaults -nographic -no-reboot \
    -serial stdio -kernel "$work/kernels/7.2/vmlinuz" -initrd "$work/placement/initramfs.gz" \
    -append "console=ttyS0 mitigations=off tsc=reliable no_timer_check nokaslr numa_balancing=disable quiet panic=-1" \
    >"$work/placement/console" || echo "not measured: all states (the guest did not end)"

python3 - "$work/placement/console" "$umask_length" <<'PYTHON'
"""Instructions of the placement: its time less that of umask, 2 ns each, and umask's own."""
import re
import statistics
import sys

took = {}
with open(sys.argv[1], encoding="utf-8", errors="replace") as console:
    for line in console:
        found = re.search(r"took (\w+) (\w+) ([0-9.]+)", line)
        if found:
            took.setdefault(found[1], {}).setdefault(found[2], []).append(float(found[3]) * 1000)
for state, times in took.items():
    # The tracer's own path has rare longer forms: its shortest usual one is meant, of umask of all states.
    usual = statistics.mode(t for rows in took.values() for t in rows.get("__x64_sys_umask", []))
    counts = sorted((t - usual) / 2 + int(sys.argv[2]) for t in times.get("select_task_rq_fair", []))
    print(f"{state}: {len(counts)} wake-ups, instructions: median {statistics.median(counts):.0f}, "
          f"mean {statistics.mean(counts):.0f}, {counts[0]:.0f} to {counts[-1]:.0f}")
PYTHON
