#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# First process of the guest: records what /jobs lists, one line per recording: NAME ARGUMENTS OF pelton record; the line
# without-idle-states takes the idle states away. A NAME that ends in .csv.gz is a table of placements, in .balances.csv.gz one
# of searches of balances, in .gates.csv.gz one of gates, in .clamps.csv.gz one of clamps; .balances: balances are counted,
# .residency: nothing is recorded, and the kernel's own counters are read. paths: what paths of the kernel take (paths.c).
# decide: the core's placement as a program that the kernel verifies (crates/live/tests/decide); scheduler: the core as the
# kernel's scheduler (crates/live/tests/scheduler).
# Everything goes back to the host as one tar archive through a virtio port.
/bin/busybox mkdir -p /proc /sys /dev /tmp /out
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs cgroups /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/cpu
mount -t cgroup -o cpu cpu /sys/fs/cgroup/cpu

# Modules need each other in an order that is not known; those that fit are gone after each round.
for _ in 1 2 3 4 5 6 7 8; do
    for module in /modules/*.ko; do
        [ ! -e "$module" ] || ! insmod "$module" 2>/dev/null || rm "$module"
    done
done
for module in /modules/*.ko; do
    [ ! -e "$module" ] || echo "guest: module not loaded: ${module##*/}"
done

uname -r >/out/release
cat /proc/cmdline >/out/cmdline
cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_driver /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor >/out/cpufreq 2>&1
echo "guest: Linux $(cat /out/release), cpufreq: $(tr '\n' ' ' </out/cpufreq)"

# States that CPUs were idle in: name, us to leave it, how often.
idle_states() {
    for state in /sys/devices/system/cpu/cpu*/cpuidle/state*; do
        [ ! -e "$state/usage" ] || echo "$(cat "$state/name") $(cat "$state/latency") $(cat "$state/usage")"
    done
}

# From then on CPUs wait as they do where the firmware tells of none. Balances are compared with a machine that has none.
leave_idle_states() {
    [ -e /sys/devices/system/cpu/cpu0/cpuidle/state1 ] || return 0
    idle_states >/out/idle
    for cpu in /sys/bus/cpu/drivers/processor/cpu*; do echo "${cpu##*/}" >"${cpu%/*}/unbind"; done
    echo "guest: idle states were used $(sort /out/idle | awk '{ n[$1 " (" $2 " us)"] += $3 } END { for (s in n) print s ": " n[s] }' | sort | tr '\n' ',') left: $(idle_states | wc -l)"
}

# What searches cost while the guest started, on a clock that goes by with the instructions of all CPUs, is remembered by the
# scheduling domains for minutes and would keep CPUs from searching. New domains know nothing.
forget_costs() {
    last=/sys/devices/system/cpu/cpu$(($(nproc) - 1))/online
    echo 0 >"$last" && echo 1 >"$last"
}

# The same of what attaching the recorder and starting its load cost: once the load's threads are there, the domains are told that
# searches cost nothing. Recording begins half a second after the load.
forget_costs_of_start() {
    mount -t debugfs debug /sys/kernel/debug 2>/dev/null
    echo Y >/sys/kernel/debug/sched/verbose
    (
        tries=0
        until [ "$(ls "/proc/$(pidof pelton)/task" 2>/dev/null | wc -l)" -gt 6 ] || [ $tries -gt 200 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        sleep 0.2
        for cost in /sys/kernel/debug/sched/domains/cpu*/domain*/max_newidle_lb_cost; do echo 0 >"$cost"; done
    ) 2>/dev/null &
}

# Nothing else runs meanwhile.
measure_paths() {
    mount -t debugfs debug /sys/kernel/debug 2>/dev/null
    echo Y >/sys/kernel/debug/sched/verbose
    paths >/out/paths && sed 's/^/guest: paths: /' /out/paths
}

# Exit code 0: the kernel accepted the program, and it places as the core does.
place_in_kernel() {
    PELTON_TEST_KERNEL=1 decide decide:: --nocapture --test-threads 1 >/out/decide 2>&1
    echo $? >/out/decide-code
    grep -E '^place: |not measured|panicked' /out/decide | sed 's/^/guest: decide: /'
    echo "guest: decide: exit $(cat /out/decide-code)"
}

# The core as the scheduler: what the verifier accepts, and that tasks are back however it ends. A guest that says nothing for
# long is ended from outside.
core_as_scheduler() { # ENDS OF EACH KIND, SECONDS OF MIXED LOAD
    [ -z "$1" ] || export PELTON_LIVE_CYCLES="$1"
    [ -z "$2" ] || export PELTON_LIVE_SOAK_S="$2"
    PELTON_TEST_KERNEL=1 decide scheduler:: --nocapture --test-threads 1 >/out/scheduler 2>&1 &
    child=$!
    while kill -0 $child 2>/dev/null; do
        sleep 20
        echo "guest: scheduler: $(wc -l </out/scheduler) lines"
    done
    wait $child
    echo $? >/out/scheduler-code
    grep -E '^scheduler: |not measured|panicked' /out/scheduler | sed 's/^/guest: /'
    echo "guest: scheduler: exit $(cat /out/scheduler-code)"
}

while read -r name arguments; do
    [ -n "$name" ] || continue
    case $name in without-idle-states) leave_idle_states && continue ;; esac
    case $name in paths) measure_paths && continue ;; esac
    case $name in decide) place_in_kernel && continue ;; esac
    # shellcheck disable=SC2086 # words
    case $name in scheduler) core_as_scheduler $arguments && continue ;; esac
    case $arguments in *--observe*) mount -t debugfs debug /sys/kernel/debug 2>/dev/null ;; esac # the energy model
    case $name in *.balances | *.gates.csv.gz) forget_costs && forget_costs_of_start ;; esac
    start=$(cut -d. -f1 /proc/uptime)
    case $name in
    *.balances) file=/out/$name.json && set -- --balances ;;
    *.balances.csv.gz) file=/out/$name && set -- "--balances=$file" ;;
    *.residency) file=/out/$name.json && set -- --counters --speeds ;;
    *.gates.csv.gz) file=/out/$name && set -- --gates "$file" ;;
    *.clamps.csv.gz) file=/out/$name && set -- --clamps "$file" ;;
    *.csv.gz) file=/out/$name && set -- --placements "$file" ;;
    *) file=/out/$name.plog && set -- -o "$file" ;;
    esac
    # shellcheck disable=SC2086 # words
    pelton record "$@" --format json $arguments >"/out/$name.json" 2>"/out/$name.stderr" </dev/null
    echo $? >"/out/$name.exit"
    echo "guest: $name: exit $(cat "/out/$name.exit"), $(($(cut -d. -f1 /proc/uptime) - start)) s, $(wc -c <"$file") bytes"
done </jobs

# Governors are recorded with two CPUs, where there are frequencies.
[ "$(nproc)" -gt 2 ] || [ ! -e /sys/devices/system/cpu/cpufreq/policy0 ] || sh /governors.sh

# Sentences of the kernel that mean it was harmed.
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|rcu.*stall|soft lockup' >/out/kernel-complaints
touch /out/complete
tar -c -f /dev/vport0p1 -C /out . && echo "guest: done"
poweroff -f
