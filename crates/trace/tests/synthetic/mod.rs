// SPDX-License-Identifier: GPL-2.0-or-later
//! An invented run: every kind of event in about the mix of a simulated one, from a seed. For tests and benches only.

use pelton_schema::{Event, IDLE_EXIT, PRIO_DEADLINE};
use pelton_trace::{CpuLayout, DomainLayout, RunHeader};

const CPUS: u32 = 8;
const TASKS: u32 = 32;
const OPPS_KHZ: [u32; 4] = [300_000, 652_800, 1_401_600, 2_016_000];

/// The run's header: eight CPUs in two domains, 32 tasks.
pub fn header() -> RunHeader {
    let tasks = (0..=TASKS).map(|tid| if tid == 0 { "idle".to_owned() } else { format!("worker-{}", tid % 7) });
    let domain = |name: &str| DomainLayout { name: name.to_owned(), opps_khz: OPPS_KHZ.to_vec() };
    RunHeader {
        tool_version: "0.1.0".to_owned(),
        scenario_hash: 0x1234_5678_9abc_def0,
        core_hash: 0x0fed_cba9_8765_4321,
        seed: 7,
        duration_ns: 1_000_000_000,
        platform: "invented".to_owned(),
        workload: "synthetic".to_owned(),
        profile: "7.2".to_owned(),
        policy: "profile = \"7.2\"\nrt_signal = \"on\"".to_owned(),
        tasks: tasks.collect(),
        cpus: (0..CPUS).map(|cpu| CpuLayout { capacity: 430 + cpu / 4 * 594, domain: cpu / 4 }).collect(),
        domains: vec![domain("little"), domain("big")],
        ..RunHeader::default()
    }
}

/// Endless events in time order.
pub struct Synthetic {
    state: u64,
    time_ns: u64,
    current: [u32; CPUS as usize],
    activations: u64,
}

impl Synthetic {
    /// Equal seeds give equal runs.
    pub fn new(seed: u64) -> Self {
        Synthetic { state: seed, time_ns: 0, current: [0; CPUS as usize], activations: 0 }
    }

    /// A number below `bound` (a 64-bit linear congruential generator, high bits).
    fn below(&mut self, bound: u32) -> u32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % u64::from(bound)) as u32
    }

    fn tid(&mut self) -> u32 {
        1 + self.below(TASKS)
    }

    fn prio(&mut self) -> u32 {
        [120, 120, 98, PRIO_DEADLINE][self.below(4) as usize]
    }

    fn switch(&mut self, cpu: u32) -> Event {
        let prev_tid = self.current[cpu as usize];
        let next_tid = if prev_tid == 0 { self.tid() } else { 0 };
        self.current[cpu as usize] = next_tid;
        let (prev_prio, next_prio) = (self.prio(), self.prio());
        Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state: self.below(3), next_tid, next_prio }
    }

    fn decision(&mut self, cpu: u32) -> Event {
        let index = self.below(4) as usize;
        Event::FreqDecision {
            cpu,
            executing_cpu: cpu,
            domain: cpu / 4,
            site: self.below(9),
            gate: self.below(3),
            max_cpu: cpu,
            cfs: self.below(1025),
            rt: self.below(100),
            dl: 0,
            irq: self.below(50),
            effective: self.below(1025),
            iowait: 0,
            min: 0,
            max: 1024,
            perf: self.below(1025),
            forced_max: 0,
            cap_orig: 430,
            raw_khz: self.below(2_000_000),
            resolved_khz: OPPS_KHZ[index],
            prev_khz: OPPS_KHZ[3 - index],
            request_khz: 0,
            changed: self.below(2),
            error: self.below(1281),
            peak_khz: 0,
            until_ns: 0,
            next_allowed_ns: 0,
            flags: 0,
        }
    }

    fn activation(&mut self) -> Event {
        self.activations += 1;
        let duration_ns = u64::from(self.below(8_000_000)).min(self.time_ns);
        Event::TaskActivation {
            tid: self.tid(),
            index: self.activations,
            start_ns: self.time_ns - duration_ns,
            wakeup_latency_ns: u64::from(self.below(50_000)),
            run_ns: duration_ns / 2,
            duration_ns,
            slack_ns: i64::from(self.below(2_000)) - 1_000,
            period_ns: 16_000_000,
        }
    }

    fn pelt(&mut self, cpu: u32, kind: u32) -> Event {
        let util_avg = self.below(1025);
        match kind {
            0..8 => Event::PeltSe {
                cpu,
                tid: self.tid(),
                util_avg,
                runnable_avg: self.below(1025),
                load_avg: u64::from(self.below(90_000)),
                util_est: self.below(1025),
            },
            8..13 => Event::PeltCfs {
                cpu,
                util_avg,
                runnable_avg: self.below(4096),
                load_avg: u64::from(self.below(90_000)),
                util_est: self.below(1025),
            },
            13 => Event::PeltRt { cpu, util_avg },
            14 => Event::PeltDl { cpu, util_avg },
            15 => Event::PeltIrq { cpu, util_avg },
            _ => Event::PeltHw { cpu, load_avg: u64::from(util_avg) },
        }
    }

    fn other(&mut self, cpu: u32, kind: u32) -> Event {
        let tid = self.tid();
        match kind {
            0..3 => Event::SchedWaking { cpu, tid, prio: self.prio(), target_cpu: self.below(CPUS) },
            3..6 => Event::SchedWakeup { cpu, tid, prio: self.prio(), target_cpu: self.below(CPUS) },
            6 => {
                let (prio, orig_cpu, dest_cpu) = (self.prio(), self.below(CPUS), self.below(CPUS));
                Event::SchedMigrateTask { cpu, tid, prio, orig_cpu, dest_cpu }
            }
            7 => Event::CpuFrequency { cpu, freq_khz: OPPS_KHZ[self.below(4) as usize] },
            8 => Event::CpuIdle { cpu, state: self.below(3) },
            9 => Event::CpuIdle { cpu, state: IDLE_EXIT },
            10 => Event::IrqEntry { cpu, irq: self.below(100) },
            11 => Event::IrqExit { cpu, irq: self.below(100) },
            12 => Event::DomainPower { domain: cpu / 4, power_uw: u64::from(self.below(5_000_000)) },
            _ => self.activation(),
        }
    }
}

impl Iterator for Synthetic {
    type Item = (u64, Event);

    fn next(&mut self) -> Option<(u64, Event)> {
        self.time_ns += u64::from(self.below(4).saturating_sub(1) * self.below(20_000));
        let cpu = self.below(CPUS);
        let event = match self.below(48) {
            0..10 => self.switch(cpu),
            10..27 => {
                let kind = self.below(17);
                self.pelt(cpu, kind)
            }
            27..32 => self.decision(cpu),
            _ => {
                let kind = self.below(14);
                self.other(cpu, kind)
            }
        };
        Some((self.time_ns, event))
    }
}
