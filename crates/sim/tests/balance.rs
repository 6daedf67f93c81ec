// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences of releases when CPUs have nothing to do, or real-time tasks too much.

use crate::common::random::{Dice, random_machine, random_workload};
use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{CpuSet, Op, SchedPolicy, Start, TaskSpec};
use pelton_schema::{Balance, BalanceEnd, Event, Gate, NullSink, Sink, Walk};

fn hog(name: &str) -> TaskSpec {
    with_policy(busy(name), SchedPolicy::Fifo { priority: 1 })
}

/// RT_RUNTIME_SHARE (features.h): on in 4.12 to 5.4, off in 5.10 and later; the fair server of 6.12 needs a fair task.
#[test]
fn one_realtime_hog_on_eight_cpus_is_throttled_from_5_10_to_6_8() {
    let m = fixed_speed(&[(8, 1024)]);
    for p in ["4.12", "4.16", "4.19", "5.4", "6.12", "7.2"] {
        let r = run_on(&m, &workload(vec![on(hog("rt"), 3)]), p, 4000);
        assert_eq!(r.tasks[0].run_ns, 4000 * MS, "{p}");
    }
    for p in ["5.10", "5.15", "6.1", "6.6"] {
        let r = run_on(&m, &workload(vec![on(hog("rt"), 3)]), p, 4000);
        assert!(near(r.tasks[0].run_ns, 3800 * MS, 8 * MS), "{p}: {}", r.tasks[0].run_ns);
    }
}

#[test]
fn hogs_on_all_cpus_have_nobody_to_borrow_from() {
    let m = fixed_speed(&[(4, 1024)]);
    let hogs = || workload((0..4).map(|c| on(hog(&format!("rt{c}")), c)).collect());
    for p in ["4.16", "5.4", "5.10"] {
        let r = run_on(&m, &hogs(), p, 4000);
        for t in &r.tasks {
            assert!(near(t.run_ns, 3800 * MS, 12 * MS), "{p} {}: {}", t.name, t.run_ns);
        }
    }
}

/// Number of times that CPU 1 entered idle, when CPU 0 is busy all the time and CPU 1 was for 20 ms. No governor that
/// keeps the tick of a CPU it does not know yet: only the walks are to end its stays.
fn idle_entries(p: &str) -> u64 {
    let m = fixed_speed(&[(2, 1024)]);
    let short = on(task("short", Some(1), vec![run_ms(20)]), 1);
    let mut policy = profile(p);
    policy.set("idle_governor", "next_timer").expect("a switch of the table");
    let w = workload(vec![on(busy("busy"), 0), short]);
    let r = pelton_sim::run(&m, &w, &policy, &config(1000), pelton_schema::NullSink).expect("runs");
    r.cpus[1].idle_entries.iter().sum()
}

/// 4.19 fair.c nohz_balancer_kick, NOHZ_STATS_KICK: an idle CPU is woken to walk while there is load that has to fade.
/// Up to 4.16 only for balance, and one CPU with one task gives no reason for that.
#[test]
fn a_busy_cpu_wakes_an_idle_one_to_let_load_fade_from_4_17() {
    for p in ["4.12", "4.16"] {
        assert!(idle_entries(p) <= 2, "{p}: {}", idle_entries(p));
    }
    for p in ["4.19", "5.4", "5.10", "6.12", "7.2"] {
        // Every 9 ticks of 4 ms, until what 20 ms left is gone: 10 to 25 half-lives of 32 ms.
        assert!((8..30).contains(&idle_entries(p)), "{p}: {}", idle_entries(p));
    }
}

/// Time until CPU 1, which is never idle for longer than 100 us, takes the task that may leave CPU 0, ns after CPU 0
/// has two.
fn taken_ns(p: &str) -> u64 {
    let m = fixed_speed(&[(2, 1024)]);
    let mut second = on(busy("second"), 0);
    second.start = Start::After(100 * MS);
    let mut free = busy("free");
    free.cpus = Some(CpuSet::of([0, 1]));
    let w = workload(vec![on(periodic("often", 400, 500), 1), free, second]);
    let (_, events) = events_of(&m, &w, p, &config(1000));
    let taken = |e: &&(u64, Event)| e.0 > 100 * MS && matches!(e.1, Event::SchedMigrateTask { dest_cpu: 1, .. });
    events.iter().find(taken).map_or(u64::MAX, |&(at, _)| at - 100 * MS)
}

/// 5.10 fair.c newidle_balance: avg_idle < sysctl_sched_migration_cost (500 us) ends it; 6.1 asks what a search costs,
/// and its stable update throws dice as well, as 7.2 does: half of the searches, at first.
#[test]
fn a_cpu_that_is_idle_for_100_us_searches_from_6_1() {
    let [old, by_dice, new] = ["5.10", "6.1", "6.6"].map(taken_ns);
    assert!(new < 10 * MS && new < old, "6.6: {new} ns, 5.10: {old} ns");
    assert!(new <= by_dice && by_dice < 20 * MS, "6.1: {by_dice} ns, 6.6: {new} ns");
}

/// CPU that enqueues a task that CPU 0 wakes to CPU 1, which is idle; both share a cache.
fn enqueued_by(p: &str) -> u32 {
    let m = fixed_speed(&[(2, 1024)]);
    let post = on(task("post", None, vec![Op::Run { work_ns: MS }, Op::Sleep { ns: 5 * MS }, Op::SemPost(0)]), 0);
    let take = on(task("take", None, vec![Op::SemWait(0), Op::Run { work_ns: 10_000 }]), 1);
    let mut w = workload(vec![post, take]);
    w.semaphores = vec![0];
    let (_, events) = events_of(&m, &w, p, &config(100));
    let woken = |e: &&(u64, Event)| e.0 > 20 * MS && matches!(e.1, Event::SchedWakeup { tid: 2, .. });
    match events.iter().find(woken) {
        Some((_, Event::SchedWakeup { cpu, .. })) => *cpu,
        _ => u32::MAX,
    }
}

/// core.c ttwu_queue to 5.4 and ttwu_queue_cond of 5.10: another cache only; 6.1: or nothing to run there.
#[test]
fn a_wake_up_to_an_idle_cpu_of_the_same_cache_is_handed_over_from_6_1() {
    for (p, by) in [("4.12", 0), ("4.16", 0), ("4.19", 0), ("5.4", 0), ("5.10", 0), ("6.1", 1), ("6.6", 1), ("7.2", 1)]
    {
        assert_eq!(enqueued_by(p), by, "{p}");
    }
}

/// idle.c do_idle of 4.16: tick_nohz_idle_enter stops the tick before cpuidle_select; 4.17 cpuidle_idle_call: the
/// governor's stop_tick, else tick_nohz_idle_retain_tick.
#[test]
fn the_tick_of_a_short_idle_time_stays_from_4_17() {
    let m = fixed_speed(&[(1, 1024)]);
    let w = workload(vec![periodic("short", 400, 1900)]);
    let ticks = |p| run_on(&m, &w, p, 1000).cpus[0].ticks;
    for p in ["4.12", "4.16"] {
        assert!(ticks(p) < 150, "{p}: {} of 250, about 4 of 19 while it runs", ticks(p));
    }
    for p in ["4.19", "5.4", "7.2"] {
        assert!(ticks(p) > 200, "{p}: {} of 250", ticks(p));
    }
}

/// 52 idle times a second of more than four ticks, on a CPU with one idle state: each has one tick in the last stable
/// versions of 5.10, 6.1 and 6.12 and in 7.2 (idle.c cpuidle_idle_call), and with a second state the governor stops it
/// at once.
#[test]
fn the_tick_of_an_idle_cpu_with_one_state_stops_once_it_came() {
    let mut m = fixed_speed(&[(1, 1024)]);
    let w = workload(vec![periodic("long", 300, 19_000)]);
    let ticks = |m: &_, p| run_on(m, &w, p, 1000).cpus[0].ticks;
    assert!(["5.10", "7.2"].iter().all(|p| ticks(&m, p) < 10), "two states");
    m.domains[0].idle_states.truncate(1);
    for (p, few, many) in
        [("5.4", 0, 9), ("6.6", 0, 9), ("6.18", 0, 9), ("5.10", 50, 60), ("6.12", 50, 60), ("7.2", 50, 60)]
    {
        let ticks = ticks(&m, p);
        assert!((few..=many).contains(&ticks), "{p}: {ticks}");
    }
}

/// fair.c hrtick_start_fair of 7.2: a request of 0.7 ms ends when it is over, not at the next tick of 4 ms; no request
/// ends for a task that is alone.
#[test]
fn requests_end_between_ticks_since_7_2() {
    let m = Machine { defers_timers: true, ..fixed_speed(&[(1, 1024)]) };
    let switches = |p, names: &[&str]| {
        let w = workload(names.iter().map(|name| busy(name)).collect());
        run_on(&m, &w, p, 1000).cpus[0].switches
    };
    assert!((240..=255).contains(&switches("6.18", &["a", "b"])), "{}", switches("6.18", &["a", "b"]));
    assert!((1300..=1450).contains(&switches("7.2", &["a", "b"])), "{}", switches("7.2", &["a", "b"]));
    assert_eq!(switches("7.2", &["a"]), switches("6.18", &["a"]));
    let arm = fixed_speed(&[(1, 1024)]);
    let both = run_on(&arm, &workload(vec![busy("a"), busy("b")]), "7.2", 1000).cpus[0].switches;
    assert!((240..=255).contains(&both), "no timer on a machine that does not defer them: {both}");
}

/// fair.c update_curr of 6.6 to 7.2: that a request is over is noticed at ticks, or when tasks come, go or are chosen.
/// A task that ends its work between two ticks, long after its request of 0.7 ms and with another one waiting, blocks
/// there; core.c __schedule looks at what it does, not at what it used up.
#[test]
fn a_task_whose_work_ends_between_ticks_is_not_preempted_at_its_end() {
    let m = fixed_speed(&[(1, 1024)]);
    let mut second = task("second", Some(1), vec![run_ms(2)]);
    second.start = Start::After(MS / 10);
    let w = workload(vec![task("first", Some(1), vec![run_ms(3)]), second]);
    for p in ["6.6", "6.8", "6.12", "6.18", "7.2"] {
        let r = run_on(&m, &w, p, 20);
        assert!(r.tasks[0].wait_ns < MS / 10, "{p}: {} ns", r.tasks[0].wait_ns);
        assert!(near(r.tasks[1].wait_ns, 3 * MS - MS / 10, MS / 10), "{p}: {} ns", r.tasks[1].wait_ns);
    }
}

/// Three busy tasks on two CPUs: the CPU with one is below the mean load by half a task, and a task counts half after
/// one failed balance (fair.c calculate_imbalance, detach_tasks), so they take turns, where without balance one would
/// have 6000 ms. Up to 6.1 slices and balances are whole ticks, and the same task stays alone a little longer. Also
/// where wake-ups are placed by other rules.
#[test]
fn three_busy_tasks_share_two_cpus_from_5_10() {
    let m = fixed_speed(&[(2, 1024)]);
    let w = workload(["a", "b", "c"].map(busy).to_vec());
    for p in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        for other in [None, Some("load")] {
            let mut policy = profile(p);
            other.into_iter().for_each(|value| policy.set("dst_group", value).expect("a switch of the table"));
            let r = pelton_sim::run(&m, &w, &policy, &config(6000), pelton_schema::NullSink).expect("runs");
            for t in &r.tasks {
                assert!(near(t.run_ns, 4000 * MS, 600 * MS), "{p} {other:?} {}: {} ms", t.name, t.run_ns / MS);
            }
        }
    }
}

/// A busy CPU of four is balanced every 64 ms (128 ms to 5.4), an idle one every 4. It ran out of tasks when no CPU had
/// one to give; 2 ms later one has.
#[test]
fn an_idle_cpu_does_not_wait_for_the_interval_of_a_busy_one() {
    let worst_ns = |p: &str, ends_ms: u64| {
        let hog = |name: &str, cpu| on(busy(name), cpu);
        let ending = on(task("ends", Some(1), vec![run_ms(ends_ms)]), 3);
        let mut second = hog("second", 0);
        second.start = Start::After((ends_ms + 2) * MS);
        let mut free = busy("free");
        free.cpus = Some(CpuSet::of([0, 3]));
        // The one on CPU 3 is there first, so that the free one begins on CPU 0.
        let w = workload(vec![ending, hog("b", 1), hog("c", 2), free, second]);
        let r = run_on(&fixed_speed(&[(4, 1024)]), &w, p, 600);
        r.tasks[3].wait_ns + r.tasks[4].wait_ns
    };
    for p in ["4.16", "5.4", "5.10", "6.6", "7.2"] {
        let worst = (0..12).map(|k| worst_ns(p, 200 + 13 * k)).max().expect("twelve");
        assert!(worst < 25 * MS, "{p}: {} ms", worst / MS);
    }
}

/// Sums over a run's balances and updates of blocked load.
#[derive(Default)]
struct Told {
    balances: u64,
    moved: u64,
    active: u64,
    walks: u64,
    queues: u64,
    cost_ns: u64,
    gates: u64,
    domains: u64,
}

impl Sink for Told {
    const BALANCES: bool = true;
    fn event(&mut self, _: u64, _: &Event) {}

    fn balance(&mut self, _: u64, b: &Balance<'_>) {
        assert_eq!(b.moved > 0, b.end == BalanceEnd::Moved, "{b:?}");
        assert!(b.read.span_has(b.span, b.env.dst_cpu) && (b.moved == 0 || b.imbalance > 0), "{b:?}");
        (self.balances, self.moved) = (self.balances + 1, self.moved + u64::from(b.moved));
        self.active += u64::from(b.end == BalanceEnd::Active);
    }

    fn gate(&mut self, _: u64, gate: &Gate) {
        assert!(gate.cpu < 4, "{gate:?}");
        self.gates += 1;
    }

    fn domains(&mut self, _: u64, cpu: u32, by: u32, _: u32) {
        assert!(cpu < 4 && by < 4);
        self.domains += 1;
    }

    fn walk(&mut self, _: u64, walk: &Walk) {
        (self.walks, self.queues) = (self.walks + 1, self.queues + walk.queues);
        self.cost_ns += walk.cost_ns;
    }
}

/// Decisions do not depend on the sink, and what it gets is what the report counts.
#[test]
fn balances_and_updates_are_told_as_they_are_counted() {
    let m = fixed_speed(&[(2, 512), (2, 1024)]);
    let w = workload((0..7).map(|i| busy(&format!("b{i}"))).collect());
    for p in ["4.12", "5.4", "5.10", "6.6", "7.2"] {
        let mut told = Told::default();
        let seen = pelton_sim::run(&m, &w, &profile(p), &config(1000), &mut told).expect("runs");
        let unseen = pelton_sim::run(&m, &w, &profile(p), &config(1000), NullSink).expect("runs");
        assert_eq!(seen, unseen, "{p}");
        let counted = seen.cpus.iter().map(|c| [c.blocked_updates, c.blocked_queues, c.blocked_ns]);
        let counted = counted.fold([0; 3], |sum, one| std::array::from_fn(|i| sum[i] + one[i]));
        assert_eq!([told.walks, told.queues, told.cost_ns], counted, "{p}");
        assert!(told.balances > told.moved && told.moved + told.active > 0, "{p}: {} {}", told.balances, told.moved);
    }
}

/// Each time that a CPU runs out of tasks and each look at its domains arrives, as rules by domains have it (5.10).
#[test]
fn gates_of_balances_are_told() {
    let w = workload((0..3).map(|i| periodic(&format!("p{i}"), 300, 3000 + i)).collect());
    for p in ["5.10", "6.6", "7.2"] {
        let mut told = Told::default();
        pelton_sim::run(&fixed_speed(&[(2, 1024)]), &w, &profile(p), &config(1000), &mut told).expect("runs");
        assert!(told.gates > 100 && told.domains > 10, "{p}: {} {}", told.gates, told.domains);
    }
}

/// Number of times that a sleeping task was moved while it stayed queued, where CPUs run out of tasks all the time.
fn moved_asleep(p: &str) -> usize {
    let m = fixed_speed(&[(4, 1024), (4, 1024)]);
    let long = (0..14).map(|i| periodic(&format!("long{i}"), 5000, 20_000 + 300 * i));
    let short = (0..12).map(|i| periodic(&format!("short{i}"), 2000, 11_000 + 200 * i));
    let tasks = long.chain(short).collect();
    let (_, events) = events_of(&m, &workload(tasks), p, &config(4000));
    let (mut asleep, mut moved) = (std::collections::BTreeSet::new(), 0);
    for (_, event) in &events {
        match *event {
            Event::SchedSwitch { prev_tid, prev_state, .. } if prev_tid != 0 && prev_state != 0 => {
                asleep.insert(prev_tid);
            }
            // A task that wakes is moved before the event of its wake-up, when it left its queue before.
            Event::SchedWaking { tid, .. } => _ = asleep.remove(&tid),
            Event::SchedMigrateTask { tid, .. } => moved += usize::from(asleep.contains(&tid)),
            _ => {}
        }
    }
    moved
}

/// 6.12 fair.c can_migrate_task: a task whose dequeue is delayed goes along. 6.18 asks for load to be moved, which a
/// CPU that runs out of tasks does not; before 6.12 a task that sleeps is on no queue.
#[test]
fn a_balance_moves_tasks_whose_dequeue_is_delayed() {
    assert!(moved_asleep("6.12") > 0);
    for p in ["5.10", "6.6", "6.18", "7.2"] {
        assert_eq!(moved_asleep(p), 0, "{p}");
    }
}

/// Sees what a CPU that runs out of tasks knows of others.
#[derive(Default)]
struct Overloads {
    gates: usize,
    overloaded: usize,
}

impl Sink for Overloads {
    const BALANCES: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        self.gates += usize::from(time_ns > 100 * MS);
        self.overloaded += usize::from(time_ns > 100 * MS && gate.overloaded);
    }
}

/// 6.12 sched.h add_nr_running: a CPU with one task that runs and one that sleeps, but is still queued, has two.
#[test]
fn a_task_whose_dequeue_is_delayed_is_one_of_a_cpus_tasks() {
    let m = fixed_speed(&[(2, 1024)]);
    let bursts = task("bursts", None, vec![run_ms(3), Op::Sleep { ns: MS }]);
    let w = workload(vec![on(busy("hog"), 0), on(bursts, 0), on(periodic("often", 400, 3000), 1)]);
    let mut policy = profile("7.2");
    policy.set("newidle_dice", "off").expect("a switch of the table");
    let mut sink = Overloads::default();
    pelton_sim::run(&m, &w, &policy, &config(2000), &mut sink).expect("runs");
    assert!(sink.gates > 500 && sink.overloaded == sink.gates, "{} of {}", sink.overloaded, sink.gates);
}

/// Balances at ticks of CPUs that real-time tasks take capacity from, and whether they knew what is left of it.
struct Capacities {
    policy: pelton_core::Policy,
    reduced: u64,
    old: u64,
}

impl Sink for Capacities {
    const BALANCES: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn balance(&mut self, _: u64, b: &Balance<'_>) {
        if b.env.idle == pelton_core::balance_idle::NEWLY_IDLE || b.env.level > 0 {
            return;
        }
        let row = &b.read.rows()[b.env.dst_cpu as usize];
        let mut rq = pelton_core::Rq { cap_orig: row.state.cap_orig, ..Default::default() };
        rq.rt.util_avg = row.state.util_rt.into();
        let left = rq.capacity_of(&self.policy, 0, 0);
        self.reduced += u64::from(left < row.state.cap_orig);
        self.old += u64::from(row.capacity != left);
    }
}

/// sched_balance_softirq(), sched_balance_find_src_group(): averages are brought up to now first, and what real-time
/// tasks leave of the CPU follows from them.
#[test]
fn a_balance_knows_what_is_left_of_its_cpu() {
    for p in ["5.10", "6.1", "6.12", "7.2"] {
        let policy = profile(p);
        let mut told = Capacities { policy, reduced: 0, old: 0 };
        let rt = |name: &str, run_us, period_us| {
            with_policy(periodic(name, run_us, period_us), SchedPolicy::Fifo { priority: 1 })
        };
        let own = vec![on(rt("rt0", 3000, 17_000), 0), on(rt("rt1", 5000, 23_000), 1), busy("a"), busy("b"), busy("c")];
        pelton_sim::run(&fixed_speed(&[(2, 1024)]), &workload(own), &profile(p), &config(3000), &mut told)
            .expect("runs");
        assert!(told.reduced > 20 && told.old == 0, "{p}: {} of {}", told.old, told.reduced);
    }
}

/// Active balances that took a waiting task, and all of them.
#[derive(Default)]
struct Actives {
    running: std::collections::BTreeMap<u32, u32>,
    moved: Option<(u64, u32, u32, u32)>,
    waiting: u64,
    all: u64,
}

impl Sink for Actives {
    const BALANCES: bool = true;

    fn event(&mut self, at: u64, event: &Event) {
        match *event {
            Event::SchedSwitch { cpu, next_tid, .. } => drop(self.running.insert(cpu, next_tid)),
            Event::SchedMigrateTask { tid, orig_cpu, dest_cpu, .. } => self.moved = Some((at, tid, orig_cpu, dest_cpu)),
            _ => {}
        }
    }

    fn balance(&mut self, at: u64, b: &Balance<'_>) {
        if b.end != BalanceEnd::Active {
            return;
        }
        self.all += 1;
        // The running task moves once its CPU has stopped it.
        let (Some(src), Some((when, tid, from, to))) = (b.source(), self.moved) else { return };
        if (when, from, to) == (at, src, b.env.dst_cpu) {
            assert_ne!(self.running.get(&src), Some(&tid), "a running task cannot be moved at once");
            self.waiting += 1;
        }
    }
}

/// active_load_balance_cpu_stop(): the list of tasks is read from the one that ran longest ago, and the stopped one is
/// at its head. Where others wait, one of them goes.
#[test]
fn an_active_balance_takes_a_waiting_task_before_the_running_one() {
    for p in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "7.2"] {
        let mut told = Actives::default();
        for seed in 0..60u64 {
            let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 11);
            let m = random_machine(&mut d);
            let w = random_workload(&mut d, m.cpus.len() as u32);
            told.running.clear();
            pelton_sim::run(&m, &w, &profile(p), &config(300), &mut told).expect("runs");
        }
        println!("{p}: {} of {}", told.waiting, told.all);
        assert!(told.waiting > 0, "{p}: {} of {}", told.waiting, told.all);
    }
}
