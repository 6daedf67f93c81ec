// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil's short way: what an evaluation that decides nothing new leaves behind, and that both ways agree.

use super::draw::Draw;
use super::governor::{Domain, KHZ, MS, TICK, profile, start, with};
use pelton_core::{
    CpuState, PackedRequests, Policy, Rq, SugovCpu, SugovPolicy, commit, cpu_bw_dl, hook_flag, sugov_keeps,
    sugov_settles, verdict,
};

/// A domain whose CPUs are asked for their requests alone, when they changed.
struct Packed {
    pol: Policy,
    sp: SugovPolicy,
    sc: Vec<SugovCpu>,
    rq: Vec<Rq>,
    /// Bandwidth of deadline tasks, << 20, and runnable real-time tasks.
    other: Vec<(u64, u32)>,
    idle_calls: u64,
    changed: Vec<bool>,
    requests: PackedRequests,
}

impl Packed {
    fn new(pol: Policy, utils: &[u64]) -> Packed {
        let (n, mut sp) = (utils.len(), start(&pol, utils.len() as u32));
        sp.init_gate(&pol, 100_000, 0);
        let mut all = Packed {
            pol,
            sp,
            sc: vec![SugovCpu::default(); n],
            rq: vec![Rq { cap_orig: 1024, ..Rq::default() }; n],
            other: vec![(0, 0); n],
            idle_calls: 0,
            changed: vec![true; n],
            requests: PackedRequests::new(n),
        };
        (0..n).for_each(|i| all.set(i, utils[i]));
        all
    }

    fn set(&mut self, i: usize, util: u64) {
        (self.rq[i].cfs.avg.util_avg, self.changed[i]) = (util, true);
    }

    /// A hook call of a CPU; what is asked of the driver, where the gate is open.
    fn hook(&mut self, i: usize, now: u64, flags: u32) -> Option<u32> {
        let bw_dl = cpu_bw_dl(self.other[i].0);
        if self.sp.begin(&self.pol, &mut self.sc[i], bw_dl, now, TICK, flags, true) != verdict::OPEN {
            return None;
        }
        for j in 0..self.rq.len() {
            // A boost fades with every evaluation.
            if std::mem::take(&mut self.changed[j]) || self.sc[j].iowait_boost != 0 {
                let own = (&self.sp, &mut self.sc[j]);
                self.requests.ask(&self.pol, own, &self.rq[j], self.other[j], (now, TICK), j as u32);
            }
        }
        // Records name the frequency of this moment, those of CPUs that are not asked as well.
        self.sc.iter_mut().for_each(|sc| sc.khz_evaluated = self.sp.cur_khz);
        let (own, inputs) = ((&mut self.sp, &mut self.sc[i]), (self.rq[i].cap_orig, self.idle_calls));
        Some(self.requests.evaluate(&self.pol, own, inputs, now, &KHZ))
    }

    fn state(&self, i: usize) -> CpuState {
        let mut s = CpuState::default();
        s.refill(&self.rq[i], cpu_bw_dl(self.other[i].0), self.other[i].1, self.idle_calls);
        s
    }
}

/// sugov_next_freq_shared asks 300 and 100, later 300 and 200: 1200000 * (300 + 75) / 1024 = 439453 kHz both times,
/// which get_next_freq finds in its cache; sugov_update_next_freq returns before last_freq_update_time is set.
#[test]
fn the_same_largest_request_decides_nothing_new() {
    let mut d = Packed::new(profile("7.2"), &[300, 100]);
    assert_eq!(d.hook(0, 20 * MS, 0), Some(commit::DRIVE));
    d.set(1, 200);
    assert_eq!(d.hook(1, 40 * MS, 0), Some(commit::NONE));
    assert_eq!((d.sp.next_freq_khz, d.sp.last_ns, d.sp.gate.verdict), (729_000, 20 * MS, verdict::OPEN));
    assert_eq!((d.requests.known().raw_khz, d.requests.known().resolved_khz), (439_453, 729_000));
    assert_eq!((d.requests.request(1).request, d.sc[1].util), (250, 250), "it is remembered all the same");
    d.set(0, 100);
    assert_eq!(d.hook(0, 60 * MS, 0), Some(commit::DRIVE), "the largest fell: the second is it");
    assert_eq!((d.requests.known().raw_khz, d.sp.next_freq_khz), (292_968, 432_000));
}

/// sugov_hold_freq reads the counter in every evaluation of a domain with one CPU: that of the settled one at 40 ms
/// makes the fall at 60 ms one of a CPU that was never idle; at 80 ms it was.
#[test]
fn a_settled_evaluation_tells_the_hold_filter_of_idle_entries() {
    let mut d = Packed::new(profile("7.2"), &[300]);
    for (now, util, idle_calls, khz) in [(20, 300, 1, 729_000), (40, 300, 2, 729_000), (60, 100, 2, 729_000)] {
        d.idle_calls = idle_calls;
        d.set(0, util);
        d.hook(0, now * MS, 0);
        assert_eq!((d.sp.next_freq_khz, d.sc[0].saved_idle_calls), (khz, idle_calls), "{now}");
    }
    d.idle_calls = 3;
    assert_eq!((d.hook(0, 80 * MS, 0), d.sp.next_freq_khz), (Some(commit::DRIVE), 208_000));
}

/// With CPUFREQ_NEED_UPDATE_LIMITS new limits are an update of an unchanged frequency (7.2 sugov_update_next_freq);
/// the need of 439453 kHz is 960 MHz from 800 MHz on.
#[test]
fn new_limits_are_always_something_new() {
    let mut d = Packed::new(profile("7.2"), &[300, 100]);
    d.sp.need_update_limits = 1;
    d.hook(0, 20 * MS, 0);
    d.sp.limits(KHZ[0], KHZ[3]);
    assert_eq!((d.hook(0, 21 * MS, 0), d.sp.next_freq_khz), (Some(commit::DRIVE), 729_000));
    d.sp.limits(800_000, KHZ[3]);
    d.requests.need(&d.pol, &d.sp, &KHZ);
    assert_eq!(d.requests.known().resolved_khz, 960_000, "a look sees them before the next call");
    assert_eq!((d.hook(0, 22 * MS, 0), d.sp.next_freq_khz), (Some(commit::DRIVE), 960_000));
}

/// A gate with a maximum over a window learns from each evaluation, and each evaluation restarts the window of r0a.
#[test]
fn gates_that_learn_from_every_evaluation_are_never_settled() {
    for (gate, settles) in
        [("r0a", true), ("r0b", true), ("r1_trailing", false), ("r1_sliding", false), ("r1_asym", false)]
    {
        assert_eq!(sugov_settles(&with("7.2", &[("gate", gate)])), settles, "{gate}");
    }
    assert!(!sugov_settles(&profile("4.12")) && !sugov_settles(&profile("4.16")), "requests do not hold");
    let mut d = Packed::new(with("7.2", &[("gate", "r0a")]), &[300, 100]);
    d.hook(0, 20 * MS, 0);
    assert_eq!((d.hook(0, 40 * MS, 0), d.sp.last_ns), (Some(commit::NONE), 40 * MS));
}

/// A share of a small CPU and one of a large CPU are compared as shares: 300 of 512 is more than 500 of 1024.
#[test]
fn requests_of_unequal_cpus_are_shares() {
    let mut d = Packed::new(profile("7.2"), &[500, 300]);
    d.rq[1].cap_orig = 512;
    d.hook(0, 20 * MS, 0);
    let known = *d.requests.known();
    assert_eq!((known.largest, known.request, known.scale, known.raw_khz), (1, 375, 512, 878_906));
}

/// One step of a random run: something changes on one CPU of both domains, which then calls.
fn step(draw: &mut Draw, long: &mut Domain, short: &mut Packed, now: u64) {
    let (n, i) = (short.rq.len(), draw.below(short.rq.len() as u64) as usize);
    let utils = [120, 300, 301, 700];
    short.set(i, if draw.chance(60) { utils[draw.below(4) as usize] } else { draw.below(1024) });
    short.rq[i].cfs.util_est = draw.seldom(20, 1024);
    short.rq[i].irq.util_avg = draw.seldom(10, 1100).into();
    short.rq[i].rt.util_avg = draw.seldom(10, 500).into();
    short.other[i] = (draw.seldom(10, 1 << 20).into(), draw.seldom(5, 2));
    short.idle_calls += u64::from(draw.chance(40));
    if draw.chance(2) {
        let limits = (KHZ[draw.below(2) as usize], KHZ[2 + draw.below(3) as usize]);
        long.sp.limits(limits.0, limits.1);
        short.sp.limits(limits.0, limits.1);
    }
    long.states = (0..n).map(|j| short.state(j)).collect();
    let flags = if draw.chance(5) { hook_flag::IOWAIT } else { 0 };
    let open = short.hook(i, now, flags);
    assert_eq!(long.hook(i, now, flags) == verdict::OPEN, open.is_some());
    if let Some(commit) = open {
        let (known, last) = (short.requests.known(), &long.last);
        assert_eq!((commit, known.raw_khz, known.resolved_khz), (last.commit, last.raw_khz, last.resolved_khz));
    }
    assert_eq!((&long.sp, &long.sc), (&short.sp, &short.sc));
    (long.sp.cur_khz, short.sp.cur_khz) = (long.sp.next_freq_khz, short.sp.next_freq_khz);
    (long.sp.work_in_progress, short.sp.work_in_progress) = (0, 0);
}

/// Runs of all profiles whose requests hold, and of all gates, with one to five CPUs of two sizes.
#[test]
fn the_short_way_comes_to_what_the_long_way_comes_to() {
    let mut draw = Draw(46);
    let gates = ["r0a", "r0b", "r1_trailing", "r1_sliding", "r1_asym", "r2_linear", "r2_hyperbolic", "up_down"];
    let policies = pelton_core::profiles().into_iter().map(profile);
    let policies = policies.chain(gates.map(|gate| with("7.2", &[("gate", gate)]))).filter(sugov_keeps);
    for pol in policies {
        for n in 1..=5 {
            let mut short = Packed::new(pol, &vec![0; n]);
            (0..n).for_each(|i| short.rq[i].cap_orig = if i % 3 == 2 { 446 } else { 1024 });
            (short.sp.freq_invariant, short.sp.need_update_limits) = (draw.small(2), draw.small(2));
            let states: Vec<CpuState> = (0..n).map(|i| short.state(i)).collect();
            let mut long = Domain::new(pol, &states);
            long.sp = short.sp;
            let mut now = 100 * MS;
            for _ in 0..400 {
                now += draw.below(12 * MS);
                step(&mut draw, &mut long, &mut short, now);
            }
        }
    }
}

/// get_next_freq(): `freq == sg_policy->cached_raw_freq` returns the frequency asked for last. After a fall that is
/// held the cache is 0, that is, empty; a need of 0 looks as if it were there, so that the second such call at 729
/// MHz finds nothing to change, and no correction waits any more: it waited for 20 ms since the rise.
#[test]
fn a_need_of_nothing_that_settles_waits_for_no_correction() {
    let limits = [("gate", "up_down"), ("up_rate_limit_us", "500"), ("down_rate_limit_us", "20000")];
    let mut d = Packed::new(with("7.2", &limits), &[300, 0]);
    assert_eq!((d.hook(0, 20 * MS, 0), d.sp.next_freq_khz), (Some(commit::DRIVE), 729_000));
    d.set(0, 0);
    for (now, verdict, until_ns) in [(22, verdict::HELD, 40 * MS), (24, verdict::OPEN, 0)] {
        assert_eq!(d.hook(0, now * MS, 0), Some(commit::NONE), "{now} ms");
        assert_eq!((d.requests.known().raw_khz, d.sp.cached_raw_khz, d.sp.next_freq_khz), (0, 0, 729_000));
        assert_eq!((d.sp.gate.verdict, d.sp.gate.until_ns), (verdict, until_ns), "{now} ms");
    }
}
