// SPDX-License-Identifier: GPL-2.0-only
//! A user interface: at each vsync one thread prepares a frame and another draws it. Most frames are light, some are heavy.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, TaskSpec, TimerId, TimerMode};

use super::spec::Spec;

/// Frames after which the sequence of light and heavy ones begins again.
const SEQUENCE: u64 = 600;
const TIME_US_MAX: u64 = 1_000_000;
const READY: u32 = 0;
const DRAWN: u32 = 1;

/// Loads of the frames of one sequence, in percent of a light one; the same for equal options.
struct Frames {
    state: u64,
    heavy_every: u64,
    heavy_percent: u64,
}

impl Frames {
    /// 80..=120 % of a light frame, or of a heavy one.
    fn next_percent(&mut self) -> u64 {
        let load = 80 + self.below(41);
        if self.heavy_every > 0 && self.below(self.heavy_every) == 0 { load * self.heavy_percent / 100 } else { load }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % n
    }
}

/// `ui-frames:rate_hz=60,ui_us=2000,render_us=3000,heavy_every=20,util_min=60`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let rate_hz: u64 = spec.number("rate_hz", 60, 1..=1000);
    let (ui_ns, render_ns) =
        (spec.time_ns("ui_us", Some(2_000_000), TIME_US_MAX), spec.time_ns("render_us", Some(3_000_000), TIME_US_MAX));
    let budget_ns = spec.time_ns("budget_us", Some(1_000_000_000 / rate_hz / 1_000_000 * 1_000_000), TIME_US_MAX);
    let mut frames = Frames {
        state: spec.number("sequence", 1, 0..=u64::MAX / 2),
        heavy_every: spec.number("heavy_every", 20, 0..=SEQUENCE),
        heavy_percent: spec.number("heavy_percent", 300, 100..=10_000),
    };
    let loads: Vec<u64> = (0..SEQUENCE).map(|_| frames.next_percent()).collect();
    let vsync = Op::Timer { timer: TimerId::Own(0), period_ns: 1_000_000_000 / rate_hz, mode: TimerMode::Skip };
    let prepare = |percent: &u64| {
        [Op::Run { work_ns: ui_ns * percent / 100 }, Op::SemPost(READY), Op::SemWait(DRAWN), vsync.clone()]
    };
    let draw = |percent: &u64| [Op::SemWait(READY), Op::Run { work_ns: render_ns * percent / 100 }, Op::SemPost(DRAWN)];
    let name = spec.string("name", "ui");
    let thread = |suffix: &str, ops: Vec<Op>, own_timers, frame_ns| TaskSpec {
        name: format!("{name}{suffix}"),
        phases: vec![Phase { name: "frames".into(), ops, silent: frame_ns == 0, ..Phase::default() }],
        own_timers,
        frame_ns,
        ..TaskSpec::default()
    };
    let mut tasks = vec![
        thread("", loads.iter().flat_map(prepare).collect(), 1, budget_ns),
        thread("-render", loads.iter().flat_map(draw).collect(), 0, 0),
    ];
    let (cpus, uclamp) = (spec.cpus(), super::periodic::clamps(spec));
    tasks.iter_mut().for_each(|task| (task.cpus, task.uclamp) = (cpus.clone(), uclamp));
    Workload { tasks, semaphores: vec![0, 0], duration_ns: spec.duration_ns(None), ..Workload::default() }
}
