#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# In the guest: what ondemand and conservative see and decide, sample by sample, under a load that comes and goes. For each
# governor /out/governors/NAME.trace (the events) and NAME.tunables. Nothing else is loaded: the kernel's own probes are
# used.
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
trace=/sys/kernel/tracing
cpufreq=/sys/devices/system/cpu/cpufreq
out=/out/governors
mkdir -p $out

probe() { echo "$1" >>$trace/kprobe_events 2>>$out/errors || echo "probe refused: $1" >>$out/errors; }

set_governor() {
    for policy in $cpufreq/policy*; do echo "$1" >"$policy/scaling_governor" 2>>$out/errors; done
}

busy() {
    i=0
    while [ $i -lt "$1" ]; do i=$((i + 1)); done
}

# Bursts and pauses of very different lengths, on both CPUs.
load() {
    n=$1
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        n=$(((n * 1103515245 + 12345) % 2147483648))
        for _ in 1 2 3 4 5; do
            busy $((n / 65536 % 8 * 15 + 5))
            usleep $((n / 4096 % 16 * 1200 + 300))
        done
        busy $((n / 1024 % 4 * 700))
        usleep $((n / 256 % 8 * 25000))
    done
}

# The time that get_cpu_idle_time() tells beside its result lies in the caller's frame, always at the same place.
find_wall() {
    : >$trace/kprobe_events
    probe 'p:gov/enter get_cpu_idle_time cpu=%di:u32 wall=%si:x64 sp=%sp:x64'
    echo 1 >$trace/events/gov/enter/enable
    set_governor ondemand
    busy 500
    set_governor performance
    echo 0 >$trace/events/gov/enter/enable
    # The governor's start keeps the time elsewhere.
    line=$(grep -m1 'kworker.*enter:.*wall=' $trace/trace)
    wall=${line#*wall=} sp=${line#*sp=}
    echo $(((${wall%% *} - ${sp%% *}) / 8 - 1))
}

# A governor's settings last as long as a policy uses it: the second CPU's keeps them until the first one's begins.
settle() { # GOVERNOR SETTING=VALUE...
    governor=$1
    shift
    [ $# -gt 0 ] || return 0
    echo "$governor" >$cpufreq/policy1/scaling_governor
    for setting in "$@"; do echo "${setting#*=}" >"$cpufreq/$governor/${setting%=*}" 2>>$out/errors; done
}

record() { # NAME GOVERNOR DECISION-FUNCTION SETTING=VALUE...
    name=$1 governor=$2 function=$3
    shift 3
    : >$trace/kprobe_events
    probe 'p:gov/enter get_cpu_idle_time cpu=%di:u32'
    probe "r:gov/idle get_cpu_idle_time idle=\$retval:u64 wall=\$stack$word:u64"
    probe "p:gov/begin $function policy=%di:x64"
    probe "r:gov/load dbs_update load=\$retval:u32"
    probe "r:gov/decided $function delay=\$retval:u32"
    probe 'p:gov/target __cpufreq_driver_target khz=%si:u32 relation=%dx:u32'
    settle "$governor" "$@"
    : >$trace/trace
    echo 1 >$trace/events/power/cpu_frequency/enable
    echo 1 >$trace/events/gov/enable
    set_governor "$governor"
    grep . $cpufreq/"$governor"/* | sed 's/.*\///' >$out/"$name".tunables
    load 17 &
    load 4711
    wait
    set_governor performance
    echo 0 >$trace/events/gov/enable
    echo 0 >$trace/events/power/cpu_frequency/enable
    grep -v '^#' $trace/trace >$out/"$name".trace
    echo "guest: $name: $(grep -c ' decided:' $out/"$name".trace) decisions, $(grep -c ' target:' $out/"$name".trace) targets"
}

echo 16384 >$trace/buffer_size_kb
cat $cpufreq/policy0/scaling_available_frequencies >$out/frequencies
set_governor performance
word=$(find_wall)
record ondemand ondemand od_dbs_update
record conservative conservative cs_dbs_update
record ondemand-biased ondemand od_dbs_update sampling_down_factor=3 powersave_bias=120 io_is_busy=0 up_threshold=70
record conservative-coarse conservative cs_dbs_update freq_step=13 sampling_down_factor=2 down_threshold=45 up_threshold=60
: >$trace/kprobe_events
