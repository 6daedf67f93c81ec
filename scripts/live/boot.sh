#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a kernel in QEMU without KVM, lets it record, and unpacks what it recorded:
# scripts/live/boot.sh KERNEL_FOLDER PELTON BUSYBOX JOBS OUT [BOARD]
# pair: two CPUs. pair-counted: their time goes by with what is executed, 2 ns an instruction.
# server: two packages with memory of their own, of two cores with two threads each; its time goes by with what
# is executed, so that its CPUs are as idle as their load leaves them, however slow this machine is. It has idle states
# (idle.asl) for as long as init.sh leaves them. Linux 6.1 does not get through its start that way: server-real-time.
# big-little, three-clusters: arm64 boards of four small and two large CPUs, and of two in between besides, with an energy
# model; time as on the server.
set -euo pipefail
kernel=$1 pelton=$2 busybox=$3 jobs=$4 out=$5 board=${6:-pair}
here=$(cd "$(dirname "$0")" && pwd)

# Longest time a guest may take, and may say nothing: the longest recording takes 90 s beside two other guests.
limit_s=${PELTON_LIVE_LIMIT_S:-1200} silence_s=300

rm -rf "$out" && mkdir -p "$out/recordings"
root=$out/root
mkdir -p "$root/bin" "$root/modules"
cp "$busybox" "$root/bin/busybox"
cp "$here/init.sh" "$root/init"
cp "$jobs" "$root/jobs"
cp "$here/governors.sh" "$root/governors.sh"
cp "$pelton" "$root/bin/pelton"
cp "$kernel"/modules/*.ko "$root/modules/" 2>/dev/null || true
clusters=()
case $board in
big-little) clusters=(4:669:1600:100 2:1024:2400:400) ;;
three-clusters) clusters=(4:669:1600:100 2:864:2000:220 2:1024:2400:400) ;;
esac
# The program's libraries, and the loader that finds them, at the same places.
if [ "${#clusters[@]}" -gt 0 ]; then
    mkdir -p "$root/lib"
    for library in ld-linux-aarch64.so.1 libc.so.6 libgcc_s.so.1 libm.so.6; do
        cp -L "$(aarch64-linux-gnu-gcc -print-file-name=$library)" "$root/lib/"
    done
else
    for library in $(ldd "$pelton" | grep -o '/[^ ]*'); do
        mkdir -p "$root/$(dirname "$library")"
        cp -L "$library" "$root/$library"
    done
fi
# What paths of the kernel take is measured by a program of its own.
if [ -n "${PELTON_LIVE_PATHS:-}" ]; then
    compiler=gcc
    [ "${#clusters[@]}" = 0 ] || compiler=aarch64-linux-gnu-gcc
    "$compiler" -O2 -static -pthread -o "$root/bin/paths" "$here/paths.c"
fi
# The core's placement as a program of the kernel is tested by a program of its own, which is for this machine.
if [ -n "${PELTON_LIVE_DECIDE:-}" ] && [ "${#clusters[@]}" = 0 ]; then
    cp "$PELTON_LIVE_DECIDE" "$root/bin/decide"
    for library in $(ldd "$PELTON_LIVE_DECIDE" | grep -o '/[^ ]*'); do
        mkdir -p "$root/$(dirname "$library")"
        cp -L "$library" "$root/$library"
    done
fi
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$out/initramfs.gz"
rm -rf "$root"
# What the firmware tells of frequencies, and of idle states where there are CPUs for all of its entries.
tables=()
table() { # NAME
    iasl -p "$out/$1" "$here/$1.asl" >>"$out/iasl.log"
    tables+=(-acpitable "file=$out/$1.aml")
}
table pstates
case $board in server*) table idle ;; esac

# A processor of which the kernel knows that its time stamps do not depend on the frequency.
qemu=(qemu-system-x86_64 -machine pc,hpet=off -cpu "max,vendor=GenuineIntel,family=6,model=23" "${tables[@]}")
console='ttyS0 mitigations=off tsc=reliable no_timer_check'

# CPUs that take turns do not notice one tick at the same time: those before the one that counts ticks (jiffies) look at the
# count of the tick before, and balance a tick late. With ticks of their own (skew_tick=1) they see the same count each time.
parameters=${PELTON_LIVE_PARAMETERS:-}
case $board in
pair | pair-counted)
    cpus='-smp 2 -m 2048' options='' clock=''
    [ "$board" = pair ] || clock='-icount shift=1,sleep=off'
    ;;
big-little | three-clusters)
    "$here/board.sh" "$out/board.dtb" "${clusters[@]}"
    qemu=(qemu-system-aarch64 -machine virt,gic-version=3 -cpu cortex-a72 -dtb "$out/board.dtb")
    console='ttyAMA0 nokaslr sched_verbose'
    cpus="-m 1024 -smp $(fdtget -l "$out/board.dtb" /cpus | grep -c '^cpu@')"
    options=$parameters clock='-icount shift=1,sleep=off -rtc base=2026-01-01,clock=vm'
    ;;
server | server-real-time)
    cpus='-smp 8,sockets=2,cores=2,threads=2 -m 2048'
    for node in 0 1; do
        cpus="$cpus -object memory-backend-ram,id=memory$node,size=1G"
        cpus="$cpus -numa node,nodeid=$node,cpus=$((4 * node))-$((4 * node + 3)),memdev=memory$node"
    done
    cpus="$cpus -numa dist,src=0,dst=1,val=20"
    clock=''
    [ "$board" = server-real-time ] || clock='-icount shift=1,sleep=off'
    # Pages that move by themselves would change where tasks prefer to be.
    options="numa_balancing=disable $parameters"
    ;;
*)
    echo "live: no board $board" >&2
    exit 2
    ;;
esac

: >"$out/console.log"
# A busy host must not make the guest doubt its timer (no_timer_check). One thread for all CPUs.
# shellcheck disable=SC2086 # words
timeout -k 5 "$limit_s" "${qemu[@]}" -accel tcg,thread=single $cpus $clock -nodefaults -nographic -no-reboot \
    -serial "file:$out/console.log" \
    -device virtio-serial-pci -chardev "file,id=out,path=$out/out.tar" -device virtserialport,chardev=out,name=out \
    -kernel "$kernel/vmlinuz" -initrd "$out/initramfs.gz" \
    -append "console=$console panic=-1 loglevel=4 $options" </dev/null 2>"$out/qemu.log" &
guest=$!

trap 'kill "$guest" 2>/dev/null || true' EXIT

end_when_silent() {
    while sleep 5 && kill -0 "$guest" 2>/dev/null; do
        if [ $(($(date +%s) - $(stat -c %Y "$out/console.log"))) -gt "$silence_s" ]; then
            echo "live: ended after $silence_s s without a word" >>"$out/qemu.log"
            kill "$guest"
        fi
    done
}
end_when_silent &

tail --pid="$guest" -n +1 -f "$out/console.log" | sed -u 's/\r//g' | grep --line-buffered -a -o 'guest: .*' || true
wait

if ! tar -x -f "$out/out.tar" -C "$out/recordings" 2>/dev/null || [ ! -e "$out/recordings/complete" ]; then
    echo "live: the guest did not finish; its last words:" >&2
    tail -q -n 8 "$out/console.log" "$out/qemu.log" >&2
    exit 1
fi
rm -f "$out/out.tar" "$out/initramfs.gz"
