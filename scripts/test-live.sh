#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots Debian's kernels in QEMU, records load tracking and schedutil inside them, and validates the recordings here:
# scripts/test-live.sh [SERIES...]. Needs an x86-64 machine, root to install what is missing, and the Debian archive; says
# "not measured" and why where one of these is not there. No KVM is used. PELTON_LIVE_REPEATS=5: what
# pages show is counted five times, for writing them. See docs/ci.md.
set -euo pipefail
cd "$(dirname "$0")/.."

# One kernel of each set of rules that Debian still has; the oldest of them is the oldest whose functions can be traced.
series=("$@")
[ "${#series[@]}" -gt 0 ] || series=(7.2 6.18 6.12 6.1)
# For the pages that show what is counted: nothing else then, so often, since one recording is one draw, and on CPUs that take
# short turns and see the same count of ticks (boot.sh). A guest takes two to three times as long, and snapshots of what a
# decision reads are torn more often, so that what is judged is recorded without.
repeats=${PELTON_LIVE_REPEATS:-1}
if [ "$repeats" -gt 1 ]; then
    export PELTON_LIVE_PARAMETERS=skew_tick=1 PELTON_LIVE_LIMIT_S=$((1200 + 400 * repeats))
fi
# The kernel that the core is the scheduler of, on two x86 CPUs.
scheduler_series=7.3
# A guest keeps one CPU busy; one with two CPUs waits for the time that goes by most of the time.
guests_at_once=3

work=${CARGO_TARGET_DIR:-target}/live
begin=$SECONDS
say() { printf 'live: [%d s] %s\n' "$((SECONDS - begin))" "$*"; }
skip() {
    echo "not measured: kernels in QEMU: $*"
    exit 0
}

[ "$(uname -m)" = x86_64 ] || skip "the guests are x86-64, this machine is $(uname -m)"
for tool in qemu-system-x86_64 cpio iasl xz apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || skip "$tool is missing and could not be installed (root and the Debian archive are needed)"
done
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || skip "the keys of the Debian archive are missing (debian-archive-keyring)"
missing=$(scripts/build-flags.sh 2>&1 >/dev/null)
[ -z "$missing" ] || skip "$missing"

mkdir -p "$work"
work=$(cd "$work" && pwd)
kernels=$work/kernels recordings=$work/recordings scheduled=$work/scheduled
code=0
scripts/live/fetch.sh "$kernels" "${series[@]}" || code=$?
[ "$code" != 4 ] || skip "the Debian archive cannot be reached"
[ "$code" = 0 ] || exit "$code"
scripts/live/fetch.sh --full "$kernels/full" "$scheduler_series" || code=$?
[ "$code" = 4 ] || [ "$code" = 0 ] || exit "$code"
code=0
[ -e "$kernels/full/$scheduler_series/vmlinuz" ] || echo "not measured: the core as scheduler: the Debian archive has no Linux $scheduler_series"
if [ "$repeats" -gt 1 ]; then
    scripts/live/qemu.sh "$kernels/qemu"
    export PATH=$kernels/qemu/bin:$PATH
fi
say "kernels and busybox are here"

cargo build --quiet --release -p pelton-cli
strip -o "$work/pelton" "${CARGO_TARGET_DIR:-target}/release/pelton"
say "pelton is built"

# The test that gives the placement to each kernel's verifier, as a program for the guests.
decide=$(cargo test --quiet --workspace --test live_tests --no-run --message-format json |
    sed -n 's/.*"executable":"\([^"]*live_tests[^"]*\)".*/\1/p' | tail -n 1)
[ -x "$decide" ] || { echo "live: the test of placement in the kernel was not built" >&2; exit 1; }
strip -o "$work/decide" "$decide"
export PELTON_LIVE_DECIDE=$work/decide
say "the test of placement in the kernel is built"

# What each guest records: name, then arguments of `pelton record`.
cat >"$work/jobs" <<'JOBS'
tracepoints --load mixed --duration 3s
periodic --full --load periodic --duration 4s --buffer 64
rt-fair --full --load rt-fair --duration 4s --buffer 64
mixed --full --load mixed --duration 4s --buffer 64
fork-storm --full --load fork-storm --duration 2s --buffer 64
cgroup-moves --full --load cgroup-moves --duration 3s --buffer 64
quotas --full --load quotas --duration 2s --buffer 64
idle-groups --full --load idle-groups --duration 3s --buffer 64
decide
JOBS

# Placements and balances, on a machine with threads, two packages and two memory nodes.
cat >"$work/jobs-server" <<'JOBS'
periodic.csv.gz --load periodic --duration 2s
rt-fair.csv.gz --load rt-fair --duration 2s
mixed.csv.gz --load mixed --duration 4s
fork-storm.csv.gz --load fork-storm --duration 3s
cgroup-moves.csv.gz --load cgroup-moves --duration 3s
wakeups-idle.csv.gz --load wakeups --duration 8s
without-idle-states
wakeups.csv.gz --load wakeups --duration 22s
bursts.balances.csv.gz --load bursts:run_us=3000,sleep_us=2000,threads=12 --duration 400ms
busy.balances.csv.gz --load busy:threads=8+busy:threads=3,nice=7 --duration 400ms
bursts.gates.csv.gz --load bursts:run_us=3000,sleep_us=2000,threads=12 --duration 2s
waves.gates.csv.gz --load periodic:run_us=5000,period_us=20000,threads=14+periodic:run_us=2000,period_us=11000,threads=12 --duration 2s
hogs.balances --load busy:threads=12 --duration 3s
waves.balances --load periodic:run_us=5000,period_us=20000,threads=14+periodic:run_us=2000,period_us=11000,threads=12 --duration 3s
bursts.balances --load bursts:run_us=3000,sleep_us=2000,threads=12 --duration 3s
unequal.balances --load busy:threads=5+busy:threads=4,nice=5+bursts:run_us=1000,sleep_us=4000,threads=6 --duration 3s
spread.balances --load periodic:run_us=4000,period_us=16000,threads=16 --duration 3s
hackbench.balances --load hackbench:groups=2,fds=4,loops=20,mode=threads,channel=pipes --duration 2s
schbench.balances --load schbench:form=2016,message_threads=2,threads=4,cputime_us=3000,sleeptime_us=3000 --duration 3s
JOBS

# Placements, on boards of small and large CPUs with an energy model. One recording: a recorder takes seconds to begin.
cat >"$work/jobs-boards" <<'JOBS'
all.csv.gz --load periodic --duration 2s --load mixed --duration 3s --load fork-storm --duration 2s --load cgroup-moves --duration 3s --load wakeups --duration 5s --load phone --duration 5s --load limits --duration 4s
JOBS

# Clamps that change, and placements meanwhile. Debian's kernels before 6.14 have none.
cat >"$work/clamps-pair" <<'JOBS'
random.clamps.csv.gz --load clamps --duration 14s
clamps.csv.gz --load clamps --duration 4s
JOBS
# On boards time goes by with what is executed: shorter, and as many.
cat >"$work/clamps-boards" <<'JOBS'
random.clamps.csv.gz --load clamps --duration 4s
clamps.csv.gz --load clamps --duration 3s
JOBS
with_clamps='7.2 6.18'
# Where time goes on boards: nothing is recorded, the kernel counts. What is compared is the newest kernel.
cat >"$work/residency" <<'JOBS'
small.residency --load periodic:run_us=300,period_us=7900+periodic:run_us=330,period_us=8700+periodic:run_us=260,period_us=6700+periodic:run_us=410,period_us=10300+periodic:run_us=900,period_us=16600+periodic:run_us=1100,period_us=19300+bursts:run_us=2000,sleep_us=21000+bursts:run_us=2300,sleep_us=26000 --duration 10s
mixed.residency --load periodic:run_us=6000,period_us=33300+periodic:run_us=5200,period_us=29000+periodic:run_us=7000,period_us=38900+periodic:run_us=1000,period_us=11900+periodic:run_us=1100,period_us=13700+periodic:run_us=900,period_us=10100+periodic:run_us=1300,period_us=15100+bursts:run_us=60000,sleep_us=240000 --duration 10s
heavy.residency --load busy:threads=2+periodic:run_us=3700,period_us=15100+periodic:run_us=4000,period_us=16300+periodic:run_us=4400,period_us=17900+periodic:run_us=3300,period_us=13300+periodic:run_us=4600,period_us=18700+periodic:run_us=5000,period_us=20900 --duration 10s
JOBS
with_residency='7.2'
# Balances on one of the boards: searches of each kernel, and what is compared, of the newest. Each task has a period of its
# own: where they are equal, the phases that tasks began with last. In the third, real-time tasks take capacity from others.
cat >"$work/searches-board" <<'JOBS'
bursts.balances.csv.gz --speeds --load bursts:run_us=2000,sleep_us=3000+bursts:run_us=2300,sleep_us=3100+bursts:run_us=1700,sleep_us=2900+bursts:run_us=2600,sleep_us=3700+bursts:run_us=1500,sleep_us=2300+bursts:run_us=3100,sleep_us=4100+bursts:run_us=1900,sleep_us=3300 --duration 2s
misfit.balances.csv.gz --speeds --load bursts:run_us=40000,sleep_us=60000+bursts:run_us=47000,sleep_us=71000+bursts:run_us=33000,sleep_us=53000+periodic:run_us=500,period_us=10000+periodic:run_us=600,period_us=11300+periodic:run_us=400,period_us=8900+periodic:run_us=550,period_us=10700+periodic:run_us=450,period_us=9500+periodic:run_us=650,period_us=12100 --duration 2s
pressed.balances.csv.gz --speeds --load periodic:run_us=2000,period_us=7000,policy=fifo,threads=3+bursts:run_us=2000,sleep_us=3000+bursts:run_us=2300,sleep_us=3100+bursts:run_us=1700,sleep_us=2900+bursts:run_us=2600,sleep_us=3700+bursts:run_us=1500,sleep_us=2300 --duration 1s
JOBS
cat >"$work/balances-board" <<'JOBS'
bursts.gates.csv.gz --speeds --load bursts:run_us=2000,sleep_us=3000+bursts:run_us=2300,sleep_us=3100+bursts:run_us=1700,sleep_us=2900+bursts:run_us=2600,sleep_us=3700+bursts:run_us=1500,sleep_us=2300+bursts:run_us=3100,sleep_us=4100+bursts:run_us=1900,sleep_us=3300 --duration 2s
hogs.balances --speeds --load busy:threads=9 --duration 3s
bursts.balances --speeds --load bursts:run_us=2000,sleep_us=3000+bursts:run_us=2300,sleep_us=3100+bursts:run_us=1700,sleep_us=2900+bursts:run_us=2600,sleep_us=3700+bursts:run_us=1500,sleep_us=2300+bursts:run_us=3100,sleep_us=4100+bursts:run_us=1900,sleep_us=3300 --duration 3s
waves.balances --speeds --load periodic:run_us=4000,period_us=20300+periodic:run_us=4300,period_us=21700+periodic:run_us=3700,period_us=18100+periodic:run_us=4600,period_us=23900+periodic:run_us=3300,period_us=16700+periodic:run_us=5000,period_us=25100+periodic:run_us=4100,period_us=19300+periodic:run_us=3900,period_us=20900+periodic:run_us=1000,period_us=11300+periodic:run_us=1200,period_us=12700+periodic:run_us=900,period_us=10100+periodic:run_us=1100,period_us=13300+periodic:run_us=800,period_us=9700+periodic:run_us=1300,period_us=14900 --duration 3s
unequal.balances --speeds --load busy:threads=4+busy:threads=3,nice=5+bursts:run_us=1000,sleep_us=4000+bursts:run_us=1100,sleep_us=4700+bursts:run_us=900,sleep_us=3700+bursts:run_us=1300,sleep_us=5300+bursts:run_us=800,sleep_us=3100 --duration 3s
misfit.balances --speeds --load bursts:run_us=40000,sleep_us=60000+bursts:run_us=47000,sleep_us=71000+bursts:run_us=33000,sleep_us=53000+periodic:run_us=500,period_us=10000+periodic:run_us=600,period_us=11300+periodic:run_us=400,period_us=8900+periodic:run_us=550,period_us=10700+periodic:run_us=450,period_us=9500+periodic:run_us=650,period_us=12100 --duration 3s
JOBS
with_balances='7.2'
# The core as scheduler: on a pair what the verifier accepts and how it ends, on a board where tasks run and which
# frequencies CPUs have, beside the kernel's own scheduler. PELTON_LIVE_CYCLES=30: so many ends of each kind, every policy, and
# every load; PELTON_LIVE_SOAK_S=3600 with it: so many seconds of mixed load.
echo "scheduler ${PELTON_LIVE_CYCLES:-} ${PELTON_LIVE_SOAK_S:-}" >"$work/jobs-scheduler"
with_scheduler='7.2'
small=periodic:run_us=800,period_us=16000+periodic:run_us=800,period_us=16370+periodic:run_us=800,period_us=16740+periodic:run_us=800,period_us=17110
both=periodic:run_us=6400,period_us=16000+periodic:run_us=6600,period_us=16500+periodic:run_us=1600,period_us=16000+periodic:run_us=1600,period_us=16410+periodic:run_us=1600,period_us=16820+periodic:run_us=1600,period_us=17230
rest="idle=periodic:run_us=100,period_us=100000 fifth=periodic:run_us=3200,period_us=16000 most=periodic:run_us=9600,period_us=16000"
rest="$rest rotate=periodic:run_us=9600,period_us=16000+periodic:run_us=9700,period_us=16300+periodic:run_us=9500,period_us=15900"
rest="$rest hog=busy:threads=1 hogs=busy:threads=6"
beside() { # NAME LOAD
    echo "kernel-$1.residency --speeds --load $2 --duration 3s"
    echo "core-$1.residency --speeds --scheduler 7.2 --decisions /out/core-$1.decisions --load $2 --duration 3s"
}
one_cpu() { # NAME LOAD OPTIONS
    echo "$1.residency --speeds $3 --load $2 --duration 2s"
}
{
    beside both "$both"
    one_cpu kernel-capped busy:threads=2,cpus=4 '--system-clamps 0,300'
    one_cpu core-capped busy:threads=2,cpus=4 '--scheduler 7.2,own-clamps --group /=0,0,300'
} >"$work/jobs-scheduler-board"
if [ -n "${PELTON_LIVE_CYCLES:-}" ]; then
    {
        beside small "$small"
        for one in $rest; do beside "${one%%=*}" "${one#*=}"; done
    } | sed 's/ --decisions [^ ]*//' | tee -a "$work/jobs-scheduler-board" >"$work/jobs-scheduler-three"
    beside both "$both" | sed 's/ --decisions [^ ]*//' >>"$work/jobs-scheduler-three"
    {
        for boost in 0 30 60; do one_cpu "core-boost$boost" periodic:run_us=1600,period_us=16000,cpus=4 "--scheduler 7.2 --group /=$boost,0,1024"; done
        one_cpu core-summed busy:threads=2,cpus=4 '--scheduler 7.2,uclamp=sum,own-clamps --group /=0,0,300'
        for of in kernel core; do
            use='' && [ $of = kernel ] || use='--scheduler 7.2'
            one_cpu $of-fair periodic:run_us=4800,period_us=16000,cpus=4 "$use"
            one_cpu $of-beside-fifo periodic:run_us=4800,period_us=16000,cpus=4+periodic:run_us=3200,period_us=16000,policy=fifo,cpus=4 "$use"
            one_cpu $of-waves bursts:run_us=8000,sleep_us=12000,cpus=4 "$use"
            one_cpu $of-left bursts:run_us=100000,sleep_us=300000,cpus=4+periodic:run_us=300,period_us=8000,cpus=5 "$use"
        done
        one_cpu core-short periodic:run_us=1200,period_us=4000,cpus=4 '--scheduler 7.2'
        one_cpu core-short-composite periodic:run_us=1200,period_us=4000,cpus=4 '--scheduler 7.2,hook_filter=composite,hook_epsilon=32'
        one_cpu core-waves-r2 bursts:run_us=8000,sleep_us=12000,cpus=4 '--scheduler 7.2,gate=r2_hyperbolic,gate_spacing_max_us=50000,gate_spacing_min_us=500'
        one_cpu core-waves-up-down bursts:run_us=8000,sleep_us=12000,cpus=4 '--scheduler 7.2,gate=up_down,up_rate_limit_us=500,down_rate_limit_us=20000'
    } >>"$work/jobs-scheduler-board"
fi
# What is counted, as often as is asked for.
again() { # JOBS
    local time
    for time in $(seq 2 "$repeats"); do
        sed -n "/hackbench/d; s/\.residency /-$time.residency /p; s/\.balances /-$time.balances /p" "$1"
    done
}

# Boards of arm64 that are recorded; the second has the rules of the first on one more cluster.
boards=${PELTON_LIVE_BOARDS-big-little three-clusters}
# Functions of the kernel cannot be traced on arm64 before 6.4.
on_boards=()
for one in "${series[@]}"; do [ "$one" = 6.1 ] || on_boards+=("$one"); done

# Why there are no boards; nothing when there can be.
boards_lack() {
    local tool
    for tool in qemu-system-aarch64 aarch64-linux-gnu-gcc aarch64-linux-gnu-strip fdtput; do
        command -v "$tool" >/dev/null || { echo "$tool is missing and could not be installed"; return 0; }
    done
    [ -d "$(rustc --print target-libdir --target "$arm")" ] || echo "Rust has no $arm (rustup target add $arm)"
}

# The recorder for arm64: only what is needed there, linked with libraries of its own.
build_for_boards() {
    local libraries=$kernels/arm64/libraries
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
        CFLAGS_aarch64_unknown_linux_gnu="-I$libraries/include" \
        LIBBPF_SYS_LIBRARY_PATH_aarch64_unknown_linux_gnu="$libraries/lib" \
        CARGO_PROFILE_DEV_OPT_LEVEL=2 cargo build --quiet --target "$arm" --workspace --example guest \
        --config profile.dev.package.pelton-core.opt-level=0
    aarch64-linux-gnu-strip -o "$work/pelton-arm64" "${CARGO_TARGET_DIR:-target}/$arm/debug/examples/guest"
    say "the recorder for arm64 is built"
}

arm=aarch64-unknown-linux-gnu
lack=$(boards_lack)
[ "${#on_boards[@]}" -gt 0 ] || lack="Linux ${series[*]} traces no functions on arm64"
if [ -z "$lack" ]; then
    scripts/live/fetch.sh --arm64 "$kernels/arm64" "${on_boards[@]}" || code=$?
    case $code in
    0) ;;
    4) lack="the archive of arm64 cannot be reached" code=0 ;;
    *) exit "$code" ;;
    esac
fi
if [ -z "$lack" ]; then
    build_for_boards
else
    echo "not measured: arm64 boards in QEMU: $lack"
    rm -rf "$kernels/arm64"
fi

among() { # WORD WORDS
    case " $2 " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# Counts for the pages on balances and residency alone: one load of each shows that they can be taken.
for_pages='^(waves|bursts|unequal|spread|hackbench|schbench|misfit)\.balances |^(mixed|heavy)\.residency '

# What a guest records, in this order.
jobs_of() { # SERIES BOARD JOBS
    if [ "$repeats" -gt 1 ]; then
        all_jobs_of "$@" | grep -E '^without|\.(balances|residency|gates\.csv\.gz) '
    else
        all_jobs_of "$@" | grep -vE "$for_pages"
    fi
}

all_jobs_of() { # SERIES BOARD JOBS
    if [ "$3" = jobs-boards ]; then
        # First: once clamps are in use a kernel takes other paths.
        ! among "$1" "$with_residency" || { cat "$work/residency" && again "$work/residency"; }
        [ "$2" != big-little ] || ! among "$1" "$with_balances" || { cat "$work/balances-board" && again "$work/balances-board"; }
        [ "$2" != big-little ] || cat "$work/searches-board"
    fi
    # There the search before a CPU idles is part of another function, and cannot be traced.
    if [ "$1" = 6.1 ]; then sed '/\.gates\.csv\.gz /d' "$work/$3"; else cat "$work/$3"; fi
    [ "$3" != jobs-server ] || again "$work/$3"
    if among "$1" "$with_clamps"; then
        [ "$3" != jobs ] || cat "$work/clamps-pair"
        [ "$3" != jobs-boards ] || cat "$work/clamps-boards"
    fi
}

guest() { # SERIES BOARD JOBS NAME
    local from=$kernels program=$work/pelton jobs=$work/jobs-of-$4 to=$recordings/$4 attempt
    case $2 in big-little | three-clusters) from=$kernels/arm64 program=$work/pelton-arm64 ;; esac
    # Not among what is recorded.
    case $4 in scheduler*) to=$scheduled/$4 ;; esac
    [ "$4" != scheduler ] || from=$kernels/full
    jobs_of "$1" "$2" "$3" >"$jobs"
    # QEMU without KVM loses a guest now and then, mostly in its start. Twice is no accident.
    for attempt in 1 2; do
        scripts/live/boot.sh "$from/$1" "$program" "$from/busybox" "$jobs" "$to" "$2" 2>"$to.lost" |
            sed -u "s/^/live: $4: /" && rm "$to.lost" && return
        sed "s/^/live: $4: /" "$to.lost" | tee -a "$work/lost"
        [ "$attempt" = 2 ] || say "$4: booted again"
    done
    return 1
}

running=0 started=0
# Starts a guest as soon as one of those before it is done.
start() { # as guest
    if [ "$running" -ge "$guests_at_once" ]; then
        ended
    fi
    timed "$@" &
    running=$((running + 1)) started=$((started + 1))
}

ended() {
    wait -n || code=1
    running=$((running - 1))
}

timed() { # as guest
    local from=$SECONDS
    guest "$@"
    say "$4: $((SECONDS - from)) s"
}

rm -rf "$recordings" "$scheduled" "$work/lost" && mkdir -p "$recordings" "$scheduled"
# The longest first, and beside them those that wait.
present=()
for one in "${series[@]}"; do
    if [ -e "$kernels/$one/vmlinuz" ]; then
        present+=("$one")
    else
        echo "not measured: Linux $one: the Debian archive no longer has it"
    fi
done
for one in "${present[@]}"; do
    server=server
    [ "$one" != 6.1 ] || server=server-real-time
    start "$one" "$server" jobs-server "$one-server"
    [ "$repeats" -gt 1 ] || start "$one" pair jobs "$one"
done
[ ! -e "$kernels/full/$scheduler_series/vmlinuz" ] || [ "$repeats" -gt 1 ] || start "$scheduler_series" pair-counted jobs-scheduler scheduler
for one in "${present[@]}"; do
    if [ ! -e "$kernels/arm64/$one/vmlinuz" ]; then
        [ -n "$lack" ] || echo "not measured: Linux $one on arm64 boards: it traces no functions there, or the archive has none"
        continue
    fi
    [ "$repeats" = 1 ] || among "$one" "$with_residency" || continue
    for board in $boards; do start "$one" "$board" jobs-boards "$one-$board"; done
    ! among "$one" "$with_scheduler" || [ "$repeats" -gt 1 ] || start "$one" big-little jobs-scheduler-board scheduler-board
    [ -z "${PELTON_LIVE_CYCLES:-}" ] || ! among "$one" "$with_scheduler" || [ "$repeats" -gt 1 ] ||
        start "$one" three-clusters jobs-scheduler-three scheduler-three-clusters
done
while [ "$running" -gt 0 ]; do ended; done
[ "${#present[@]}" -gt 0 ] || { echo "live: no kernel could be fetched" >&2; exit 1; }
# Again, where it is read: guests print beside each other.
[ ! -s "$work/lost" ] || { echo "live: guests that did not finish:" && cat "$work/lost"; }
[ "$code" = 0 ] || { echo "live: a guest did not finish twice" >&2; exit 1; }
say "$started guests recorded"

# Each kernel's verifier has accepted the core's placement, which gives what it gives here.
if [ "$repeats" = 1 ]; then
    for one in "${present[@]}"; do
        [ "$(cat "$recordings/$one/recordings/decide-code" 2>/dev/null)" = 0 ] || {
            echo "live: Linux $one: placement in the kernel failed:" >&2
            tail -n 40 "$recordings/$one/recordings/decide" >&2
            exit 1
        }
    done
    [ ! -e "$scheduled/scheduler" ] || [ "$(cat "$scheduled/scheduler/recordings/scheduler-code" 2>/dev/null)" = 0 ] || {
        echo "live: Linux $scheduler_series: the core as scheduler failed:" >&2
        tail -n 40 "$scheduled/scheduler/recordings/scheduler" >&2
        exit 1
    }
    [ ! -e "$scheduled/scheduler" ] || grep -q 'ends, tasks back' "$scheduled/scheduler/recordings/scheduler" || {
        echo "live: Linux $scheduler_series: the core did not run as scheduler:" >&2
        grep 'not measured' "$scheduled/scheduler/recordings/scheduler" >&2
        exit 1
    }
    complaints=$(cat "$scheduled"/*/recordings/kernel-complaints 2>/dev/null || true)
    [ -z "$complaints" ] || {
        echo "live: the kernel complains under the core as scheduler:" >&2
        echo "$complaints" >&2
        exit 1
    }
    say "placement in the kernels: $(cat "$recordings"/*/recordings/decide | grep -c 'place: 0 of') of ${#present[@]} give what the core gives"
fi

# What judges is the program that was recorded with; the tests around it are those of `make test`.
export PELTON_LIVE_RECORDINGS=$recordings PELTON_PROGRAM=${work%/live}/release/pelton
if [ "$repeats" -gt 1 ]; then
    cargo test --quiet --workspace --test lab_tests -- residency:: balances:: --nocapture
    exit
fi
cargo test --quiet --workspace --test core_tests live_governors:: -- --nocapture
PELTON_LIVE_SCHEDULED=$scheduled cargo test --quiet --workspace --test cli_tests live:: -- --nocapture --test-threads 2
cargo test --quiet --workspace --test lab_tests residency:: -- --nocapture
PELTON_LIVE_SCHEDULED=$scheduled cargo test --quiet --workspace --test live_tests board:: -- --nocapture
say "recordings are what the core computes"
