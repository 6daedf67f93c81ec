// SPDX-License-Identifier: GPL-2.0-or-later
//! A user interface: at each vsync one thread prepares a frame and another draws it. Most frames are light, some are
//! heavy, and a few much heavier; or all are as recorded.

use pelton_model::Workload;
use pelton_model::workload::{FrameFloor, Op, Phase, TaskSpec, TimerId, TimerMode};

use super::frame_loads::FrameLoads;
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
    rare_every: u64,
    rare_percent: u64,
}

impl Frames {
    /// 80..=120 % of a light frame, of a heavy one, or of one of those that are rare.
    fn next_percent(&mut self) -> u64 {
        let load = 80 + self.below(41);
        for (every, percent) in [(self.heavy_every, self.heavy_percent), (self.rare_every, self.rare_percent)] {
            if every > 0 && self.below(every) == 0 {
                return load * percent / 100;
            }
        }
        load
    }

    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % n
    }
}

/// One frame: vsyncs from the one before, work of both threads, ns.
struct Frame {
    vsyncs: u64,
    ui_ns: u64,
    render_ns: u64,
}

/// `ui-frames:rate_hz=60,ui_us=2000,render_us=3000,heavy_every=20,util_min=60`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let rate_hz: u64 = spec.number("rate_hz", 60, 1..=1000);
    let period_ns = 1_000_000_000 / rate_hz;
    let budget_ns = spec.time_ns("budget_us", Some(period_ns / 1_000_000 * 1_000_000), TIME_US_MAX);
    let (frames, mut others) = sequence(spec);
    let vsync = |vsyncs| Op::Timer { timer: TimerId::Own(0), period_ns: vsyncs * period_ns, mode: TimerMode::Skip };
    // The wait behind a frame is for the next one's vsync; behind the last one the first comes again.
    let gaps = frames.iter().skip(1).chain(&frames[..1]).map(|frame| frame.vsyncs);
    let prepare = |(frame, gap): (&Frame, u64)| {
        [Op::Run { work_ns: frame.ui_ns }, Op::SemPost(READY), Op::SemWait(DRAWN), vsync(gap)]
    };
    let draw = |frame: &Frame| [Op::SemWait(READY), Op::Run { work_ns: frame.render_ns }, Op::SemPost(DRAWN)];
    let name = spec.string("name", "ui");
    let prepared = frames.iter().zip(gaps).flat_map(prepare).collect();
    let mut ui = thread(name, prepared, 1);
    ui.frame_ns = budget_ns;
    ui.frame_floor = feedback(spec);
    let mut tasks = vec![ui, thread(&format!("{name}-render"), frames.iter().flat_map(draw).collect(), 0)];
    let (cpus, uclamp) = (spec.cpus(), super::periodic::clamps(spec));
    tasks.iter_mut().for_each(|task| (task.cpus, task.uclamp) = (cpus.clone(), uclamp));
    others.iter_mut().for_each(|task| task.name = format!("{name}-{}", task.name));
    tasks.extend(others);
    Workload { tasks, semaphores: vec![0, 0], duration_ns: spec.duration_ns(None), ..Workload::default() }
}

fn thread(name: &str, ops: Vec<Op>, own_timers: u32) -> TaskSpec {
    let phases = vec![Phase { name: "frames".into(), ops, silent: true, ..Phase::default() }];
    TaskSpec { name: name.into(), phases, own_timers, ..TaskSpec::default() }
}

/// Clamp that a janky frame raises, and the number of frames that it lasts for.
fn feedback(spec: &mut Spec) -> Option<FrameFloor> {
    let min = spec.number("late_util_min", 0, 0..=1024);
    let frames = spec.number("late_frames", 60, 1..=1_000_000);
    if spec.has("late_frames") && !spec.has("late_util_min") {
        spec.wrong("late_frames", "`late_frames` without `late_util_min`", "say how far late frames raise the clamp");
    }
    (min > 0).then_some(FrameFloor { min, frames, following: 1 })
}

/// Frames, and what runs beside them.
fn sequence(spec: &mut Spec) -> (Vec<Frame>, Vec<TaskSpec>) {
    let (ui_ns, render_ns) =
        (spec.time_ns("ui_us", Some(2_000_000), TIME_US_MAX), spec.time_ns("render_us", Some(3_000_000), TIME_US_MAX));
    let mut frames = Frames {
        state: spec.number("sequence", 1, 0..=u64::MAX / 2),
        heavy_every: spec.number("heavy_every", 20, 0..=SEQUENCE),
        heavy_percent: spec.number("heavy_percent", 300, 100..=10_000),
        rare_every: spec.number("rare_every", 0, 0..=SEQUENCE),
        rare_percent: spec.number("rare_percent", 1000, 100..=10_000),
    };
    let loads_percent: u64 = spec.number("loads_percent", 100, 1..=1000);
    if let Some(loads) = recorded(spec) {
        return of_recording(&loads, loads_percent, (ui_ns, render_ns));
    }
    let frame = |percent| Frame { vsyncs: 1, ui_ns: ui_ns * percent / 100, render_ns: render_ns * percent / 100 };
    ((0..SEQUENCE).map(|_| frame(frames.next_percent())).collect(), Vec::new())
}

fn recorded(spec: &mut Spec) -> Option<FrameLoads> {
    if !spec.has("loads") {
        return None;
    }
    let path = spec.string("loads", "");
    FrameLoads::read(path).map_err(|found| spec.refuse(found)).ok()
}

/// The recorded work, split between both threads as their times are; the other CPUs' work in threads of its own.
fn of_recording(loads: &FrameLoads, percent: u64, (ui_ns, render_ns): (u64, u64)) -> (Vec<Frame>, Vec<TaskSpec>) {
    let frame = |&(vsyncs, ns): &(u64, u64)| {
        let work_ns = (ns * percent / 100).max(2);
        let ui_ns = u128::from(work_ns) * u128::from(ui_ns) / u128::from(ui_ns + render_ns);
        let ui_ns = (ui_ns as u64).clamp(1, work_ns - 1);
        Frame { vsyncs, ui_ns, render_ns: work_ns - ui_ns }
    };
    let window = |&ns: &u64| {
        let wait = Op::Timer { timer: TimerId::Own(0), period_ns: loads.window_ns, mode: TimerMode::Absolute };
        [Op::Run { work_ns: (ns * percent / 100).max(1) }, wait]
    };
    let other =
        |(cpu, work): (usize, &Vec<u64>)| thread(&format!("other-{cpu}"), work.iter().flat_map(window).collect(), 1);
    (loads.frames.iter().map(frame).collect(), loads.others.iter().enumerate().map(other).collect())
}
