// SPDX-License-Identifier: GPL-2.0-or-later
//! The rt-app files of the public notebooks on clamps, simulated and laid beside what their boards did: where tasks
//! ran, and the curves of one CPU. `PELTON_UPDATE_DOCS=1 cargo test --test lab_tests clamp_boards::` writes
//! docs/fidelity/clamp-boards.md. The files are not part of the project (their author states no licence); without them
//! beside it this says so.

use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_schema::{Event, Sink};
use pelton_sim::Report;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Bounds, written down before the first run: the ramp resolves 1 % of 1024; levels 2 %; clamped levels and shares 5 %.
const RAMP_MEAN_MAX: f64 = 10.24;
const LEVEL_MAX: f64 = 20.48;
const CLAMPED_MAX: f64 = 51.2;
const SHARE_POINTS_MAX: f64 = 5.0;
/// Time from a look of the Juno's firmware until its clock rises, as the platform file has it.
const RAISE_MS: f64 = 2.0;
/// The start of rt-app, before clamps are set, s.
const START_S: f64 = 0.3;

struct Recording {
    folder: &'static str,
    files: &'static str,
    uclamp: &'static str,
}

const fn juno(folder: &'static str, files: &'static str, uclamp: &'static str) -> Recording {
    Recording { folder, files, uclamp }
}

static JUNO: [Recording; 5] = [
    juno("arm-uclamp-juno-r2-max-20240419", "juno-r2_20240419", "max"),
    juno("arm-uclamp-juno-r2-max-20240430", "juno-r2", "max"),
    juno("arm-uclamp-juno-r2-max-20240715", "juno-r2", "max"),
    juno("arm-uclamp-juno-r2-sum-20240430", "juno-r2", "bias"),
    juno("arm-uclamp-juno-r2-sum-20240715", "juno-r2", "bias"),
];
static PIXEL: Recording = juno("arm-uclamp-pixel6-max-20240522", "pixel6", "max");
const SCENARIOS: [&str; 4] =
    ["s0_uclamp_max_only", "s1_uclamp_min_max_above_little", "s3_pack_pinned_then_free", "s4_pack_8_tasks"];
const SPIKE: &str = "s2_frequency_spike";

fn data(path: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(path);
    path.exists().then_some(path)
}

/// The board's file with its CPUs numbered as the notebooks have them, profile and switches of its kernel.
fn board(recording: &Recording) -> (String, String) {
    let name = if recording.files == "pixel6" { "pixel6-gs101" } else { "juno-r2-scmi" };
    let path = format!("{}/../../scenarios/platforms/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a board of the project");
    let text = text.replace("[0, 3, 4, 5]", "[LITTLE]").replace("[1, 2]", "[4, 5]").replace("[LITTLE]", "[0, 1, 2, 3]");
    // The Juno stays at 1000 MHz under sums while waiting threads would make it 1200: its kernels do not count them.
    // Their slice is that of their date. The Pixel's kernel adds the quarter behind the clamps (a hog capped to 300 runs
    // at 1106 MHz), as those before 6.8 do; its author's other notebooks of that phone name 5.18, and 5.10 is the nearest.
    let juno = "6.12,delayed_dequeue=off,util_est_stale=off,runnable_boost=off,base_slice=750_us";
    let kernel = if name == "juno-r2-scmi" { juno } else { "5.10" };
    (text, format!("{kernel},uclamp={}", recording.uclamp))
}

/// The rt-app file with all work times `factor`.
fn scaled(recording: &Recording, scenario: &str, factor: f64) -> Option<PathBuf> {
    // The second scenario is the same in all notebooks of a board and stored once.
    let own = data(&format!("rt-app/arm-uclamp/{}_{scenario}.json", recording.files));
    let shared = || data(&format!("rt-app/arm-uclamp/{}_{scenario}.json", recording.files.split('_').next()?));
    let text = std::fs::read_to_string(own.or_else(shared)?).ok()?;
    let mut root: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // Loops are `run` over `calibration`, and the factor is that of the second scenario's.
    let calibration = root["global"]["calibration"].as_f64().expect("a number");
    let usual = if recording.files == "pixel6" { 116.0 } else { 186.0 };
    scale(&mut root, factor * usual / calibration);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{scenario}.json", recording.folder));
    std::fs::write(&path, root.to_string()).expect("a place for tests");
    Some(path)
}

fn scale(value: &mut serde_json::Value, factor: f64) {
    let Some(object) = value.as_object_mut() else { return };
    for (key, value) in object {
        match value.as_u64().filter(|_| key == "run") {
            Some(us) => *value = ((us as f64 * factor).round() as u64).into(),
            None => scale(value, factor),
        }
    }
}

/// Lines of a file that are numbers, and what comes behind them.
fn rows(recording: &Recording, file: &str) -> Option<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(data(&format!("traces/{}/{file}.csv", recording.folder))?).ok()?;
    let of = |line: &str| line.split(',').map(str::to_owned).collect();
    Some(text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).map(of).collect())
}

/// Steps: (time in s, value from then on).
type Curve = Vec<(f64, f64)>;

fn curve(recording: &Recording, signal: &str) -> Option<Curve> {
    let number = |text: &String| text.parse::<f64>().expect("a number");
    Some(rows(recording, &format!("{SPIKE}__{signal}"))?.iter().map(|row| (number(&row[0]), number(&row[1]))).collect())
}

fn at(curve: &Curve, time: f64) -> f64 {
    let next = curve.partition_point(|&(t, _)| t <= time);
    if next == 0 { 0.0 } else { curve[next - 1].1 }
}

/// The value in each millisecond.
fn samples(curve: &Curve, from: f64, to: f64) -> Vec<f64> {
    let n = ((to - from) * 1e3).max(1.0) as usize;
    (0..n).map(|i| at(curve, from + i as f64 / 1e3)).collect()
}

/// Activations of the scenario's threads behind the start: (start in s, length in s, CPU).
fn activations(recording: &Recording, scenario: &str) -> Option<Vec<(f64, f64, u32)>> {
    let rows = rows(recording, &format!("{scenario}__activations"))?;
    let of = |r: &Vec<String>| Some((r[0].parse::<f64>().ok()?, r[1].parse::<f64>().ok()?, r[2].parse::<u32>().ok()?));
    let threads = rows.iter().filter(|r| r[4].starts_with("thread")).filter_map(of);
    let first = rows.first()?[0].parse::<f64>().ok()?;
    Some(threads.filter(|a| a.0 > first + START_S).collect())
}

/// Time after a tick at which firmware looks for frequencies, us, by the recording itself. An activation of the free
/// thread that is shorter than 5 ms has the CPU for itself: `work` at the highest frequency, but half as fast until
/// firmware had looked and raised the clock.
fn firmware_after_tick_us(recording: &Recording, work_ms: f64) -> Option<u64> {
    let (clamped, khz) = (curve(recording, "root_cfs_util_uclamp")?, curve(recording, "cpu_frequency")?);
    let in_tick = |s: f64| (s * 1e3).rem_euclid(4.0);
    let mut ticks: Vec<u64> = clamped.iter().map(|c| (in_tick(c.0) * 20.0) as u64).collect();
    ticks.sort_unstable();
    let longest = ticks.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?;
    let tick_ms = (longest[0] as f64 + 0.5) / 20.0;
    let rises = clamped.windows(2).enumerate().filter(|(_, w)| w[0].1 <= 310.0 && w[1].1 >= 1000.0);
    let mut looks: Vec<f64> = Vec::new();
    for (at, rise) in rises {
        let from = rise[1].0;
        let asked = khz.iter().any(|f| f.1 == 1200.0 && (0.0..1e-4).contains(&(f.0 - from)));
        let till = clamped[at + 1..].iter().find(|c| c.1 < 1000.0)?.0;
        let (lasts_ms, after_ms) = ((till - from) * 1e3, in_tick(from - tick_ms / 1e3));
        if asked && (work_ms..5.0).contains(&lasts_ms) && (0.1..3.9).contains(&after_ms) {
            looks.push((after_ms + 2.0 * (lasts_ms - work_ms) - RAISE_MS).rem_euclid(4.0));
        }
    }
    looks.sort_by(f64::total_cmp);
    looks.get(looks.len() / 2).map(|ms| (ms * 1e3).round() as u64)
}

/// Time after a tick at which firmware looks, us, where the platform has such firmware.
fn looks_us(recording: &Recording, factor: f64) -> Option<u64> {
    let has_firmware = recording.files != "pixel6";
    firmware_after_tick_us(recording, 4.0 * factor).filter(|_| has_firmware)
}

fn run(recording: &Recording, scenario: &str, factor: f64, seconds: u64, sink: impl Sink) -> Option<Report> {
    let (mut platform_text, policy) = board(recording);
    let looks = looks_us(recording, factor).filter(|_| scenario == SPIKE);
    if let Some(us) = looks {
        let poll = "firmware_poll_us = ";
        platform_text = platform_text.replace(poll, &format!("firmware_after_tick_us = {us}\n{poll}"));
    }
    let inputs = Inputs {
        platform: "board.toml".into(),
        platform_text: Some(platform_text),
        workload: format!("{} + rt-app-start", scaled(recording, scenario, factor)?.display()),
        duration_ns: Some(seconds * 1_000_000_000),
        hz: Some(250),
        random_phase: true,
        ..Inputs::default()
    };
    let plan = build(&inputs, &PolicySpec::parse(&policy)).expect("good inputs").plan;
    Some(run_one(&plan, 1, sink, Default::default()).expect("runs"))
}

/// Real work of a file's `run`: activations of 100 ms of `run` take so long at 600 of 1200 MHz.
fn juno_factor() -> Option<f64> {
    let lengths = |r: &Recording| -> Option<Vec<f64>> {
        let all = activations(r, SCENARIOS[1])?;
        // Shorter ones were interrupted.
        Some(all.iter().map(|a| a.1).filter(|s| *s > 0.13).collect())
    };
    let mut all: Vec<f64> = JUNO[1..].iter().filter_map(lengths).flatten().collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map(|median| median / 0.1 * 600.0 / 1200.0)
}

/// Real work on the Pixel, from the hog of scenario 2: 12.5 s of `run` from its ramp on at what frequencies there were.
/// Its loops are a fifth of what `calibration` says.
fn pixel_factor() -> Option<f64> {
    let (util, mhz) = (curve(&PIXEL, "util_avg")?, curve(&PIXEL, "cpu_frequency")?);
    let begin = util.iter().rfind(|(t, u)| *t < util[0].0 + 2.0 && *u < 100.0)?.0;
    let work: f64 = samples(&mhz, begin, util.last()?.0).iter().map(|f| f / 2802.0 / 1e3).sum();
    Some(work / 12.5)
}

/// The curves of the CPU that scenario 2 looks at.
#[derive(Default)]
struct Curves {
    cpu: u32,
    util: Curve,
    clamped: Curve,
    khz: Curve,
    sums: bool,
    hog: u32,
    hog_util: f64,
    queued: BTreeSet<u32>,
}

impl Curves {
    /// Clamped utilization, as the kernels of the notebooks recorded it.
    fn publish(&mut self, time: f64) {
        let util = self.util.last().map_or(0.0, |u| u.1);
        let cap = |util: f64| util.min(300.0);
        let free = self.queued.iter().any(|tid| *tid != self.hog);
        let clamped = match (self.sums, self.queued.contains(&self.hog)) {
            (true, true) => (util + cap(self.hog_util) - self.hog_util).max(0.0),
            (false, true) if !free => cap(util),
            _ => util.min(1024.0),
        };
        self.clamped.push((time, clamped));
    }
}

impl Sink for Curves {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let time = time_ns as f64 / 1e9;
        match *event {
            Event::TaskAttributes { tid, uclamp_max: 300, .. } => self.hog = tid,
            Event::SchedWakeup { tid, target_cpu, .. } if target_cpu == self.cpu => {
                self.publish(time);
                self.queued.insert(tid);
                self.publish(time);
            }
            Event::SchedSwitch { cpu, prev_tid, prev_state, next_tid, .. } if cpu == self.cpu => {
                self.publish(time);
                if prev_state != 0 {
                    self.queued.remove(&prev_tid);
                }
                if next_tid != 0 {
                    self.queued.insert(next_tid);
                }
                // Without samples before and behind each change a thread that left counts until the next update.
                self.publish(time);
            }
            Event::PeltSe { tid, util_avg, .. } if tid == self.hog => self.hog_util = f64::from(util_avg),
            Event::PeltCfs { cpu, util_avg, .. } if cpu == self.cpu => {
                self.util.push((time, f64::from(util_avg)));
                self.publish(time);
            }
            Event::CpuFrequency { cpu, freq_khz, .. } if cpu == self.cpu => {
                self.khz.push((time, f64::from(freq_khz) / 1e3))
            }
            _ => {}
        }
    }
}

/// Between two samples: on the line that joins them.
fn between(curve: &Curve, time: f64) -> f64 {
    let next = curve.partition_point(|&(t, _)| t <= time);
    match (next.checked_sub(1).map(|i| curve[i]), curve.get(next)) {
        (Some((t, v)), Some(&(u, w))) if u > t => v + (w - v) * (time - t) / (u - t),
        (Some((_, v)), _) => v,
        (None, _) => 0.0,
    }
}

/// Utilization at which both ramps are laid over each other: their clocks differ.
const RAMP_AT: f64 = 700.0;

/// Figures of scenario 2 on a board.
struct Spike {
    cpu: u32,
    /// Frequencies with both threads, MHz.
    mhz: &'static [f64],
    /// Longer than both threads are together, and shorter than until the next change behind it, s.
    joint_s_max: f64,
}

const SPIKE_JUNO: Spike = Spike { cpu: 5, mhz: &[600.0, 1000.0, 1200.0], joint_s_max: 5.0 };
const SPIKE_PIXEL: Spike = Spike { cpu: 7, mhz: &[1106.0, 2802.0], joint_s_max: 2.5 };

/// Moments of scenario 2.
struct Phases {
    /// The hog's utilization passes 700 for good.
    ramp: f64,
    /// Both threads are on the CPU from here ...
    joint: f64,
    /// ... to here.
    end: f64,
}

fn phases(util: &Curve, khz: &Curve, board: &Spike) -> Phases {
    let last = util.iter().rposition(|(t, u)| *t < util[0].0 + 2.0 && *u < RAMP_AT).unwrap_or(0);
    let ((t, u), (v, w)) = (util[last], util[last + 1]);
    let ramp = t + (v - t) * (RAMP_AT - u) / (w - u).max(1.0);
    let joint = khz.iter().map(|f| f.0).find(|t| *t > ramp + 2.2).unwrap_or(ramp + 2.2);
    let end = khz.iter().map(|f| f.0).rfind(|t| *t < joint + board.joint_s_max).unwrap_or(joint);
    Phases { ramp, joint, end }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values.into_iter().fold((0.0, 0), |(sum, n), v| (sum + v, n + 1));
    sum / f64::from(n.max(1))
}

/// Mean distance of the quantiles: how far two distributions over time are apart.
fn apart(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let at = |values: &[f64], i: usize| values[i * values.len() / 1000];
    mean((0..1000).map(|i| (at(&a, i) - at(&b, i)).abs()))
}

/// A cell, in bold when its error is beyond the bound.
fn marked(cell: String, error: f64, most: f64) -> String {
    if error <= most { cell } else { format!("**{cell}**") }
}

fn recordings() -> impl Iterator<Item = &'static Recording> {
    JUNO.iter().chain([&PIXEL])
}

/// A table with a column for each recording.
#[derive(Default)]
struct Table(Vec<(String, Vec<String>)>);

impl Table {
    fn put(&mut self, what: &str, recording: &Recording, cell: String) {
        let at = self.0.iter().position(|(row, _)| row == what).unwrap_or_else(|| {
            self.0.push((what.to_owned(), vec!["-".to_owned(); recordings().count()]));
            self.0.len() - 1
        });
        let column = recordings().position(|r| r.folder == recording.folder).expect("one of them");
        self.0[at].1[column] = cell;
    }

    fn render(&self) -> String {
        let names: Vec<&str> = recordings().map(|r| r.folder.trim_start_matches("arm-uclamp-")).collect();
        let mut out = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for (what, cells) in &self.0 {
            writeln!(out, "| {what} | {} |", cells.join(" | ")).expect("a string");
        }
        out
    }
}

/// Real and simulated curves of one recording, and how far they are apart.
fn spike(table: &mut Table, recording: &Recording, factor: f64) -> Option<()> {
    let board = if recording.files == "pixel6" { &SPIKE_PIXEL } else { &SPIKE_JUNO };
    let signal = if recording.uclamp == "max" { "util_avg" } else { "cfs_util_avg" };
    let (util, khz) = (curve(recording, signal)?, curve(recording, "cpu_frequency")?);
    let clamped = curve(recording, "root_cfs_util_uclamp")?;
    let mut ours = Curves { cpu: board.cpu, sums: recording.uclamp != "max", ..Curves::default() };
    run(recording, SPIKE, factor, 12, &mut ours)?;
    let (a, b) = (phases(&util, &khz, board), phases(&ours.util, &ours.khz, board));
    if let Some(us) = looks_us(recording, factor) {
        table.put("us from a tick to the firmware's look (an input)", recording, us.to_string());
    }
    let mut row = |what: &str, error: f64, most: f64| {
        table.put(&format!("{what} ({most:.1})"), recording, marked(format!("{error:.2}"), error, most));
    };
    let ramp = |i: u32| {
        let behind = f64::from(i) / 1e3;
        (between(&util, a.ramp + behind) - between(&ours.util, b.ramp + behind)).abs()
    };
    row("utilization of the hog from 700 on, mean over 300 ms", mean((0..300).map(ramp)), RAMP_MEAN_MAX);
    row("the same, at most", (0..300).map(ramp).fold(0.0, f64::max), 2.0 * RAMP_MEAN_MAX);
    let solo = |c: &Curve, joint: f64| samples(c, joint - 1.0, joint - 0.01);
    row("utilization of the hog alone", apart(solo(&util, a.joint), solo(&ours.util, b.joint)), LEVEL_MAX);
    row("its clamped utilization", apart(solo(&clamped, a.joint), solo(&ours.clamped, b.joint)), LEVEL_MAX);
    let both = |c: &Curve, p: &Phases| samples(c, p.joint, p.end);
    row("utilization of both", apart(both(&util, &a), both(&ours.util, &b)), LEVEL_MAX);
    row("their clamped utilization", apart(both(&clamped, &a), both(&ours.clamped, &b)), CLAMPED_MAX);
    let share = |c: &Curve, p: &Phases, mhz: f64| 100.0 * mean(both(c, p).iter().map(|f| f64::from(*f == mhz)));
    let mut pair = |what: &str, real: f64, sim: f64, most: f64| {
        table.put(what, recording, marked(format!("{real:.0}/{sim:.0}"), (sim - real).abs(), most));
    };
    for &mhz in board.mhz {
        let what = format!("share of {mhz:.0} MHz with both, % (5 points)");
        pair(&what, share(&khz, &a, mhz), share(&ours.khz, &b, mhz), SHARE_POINTS_MAX);
    }
    let changes = |c: &Curve, p: &Phases| c.iter().filter(|f| (p.joint..=p.end).contains(&f.0)).count() as f64;
    let (real, sim) = (changes(&khz, &a), changes(&ours.khz, &b));
    pair("frequency changes with both (10 %, or 10)", real, sim, (real * 0.1).max(10.0));
    let (real, sim) = ((a.end - a.joint) * 1e3, (b.end - b.joint) * 1e3);
    pair("length of that, ms (5 %)", real, sim, real * 0.05);
    let most = |c: &Curve| c.iter().map(|u| u.1).fold(0.0, f64::max);
    pair("highest utilization (51.2)", most(&util), most(&ours.util), CLAMPED_MAX);
    Some(())
}

/// CPUs on which the threads ran, real and simulated, percent of their time.
fn places(table: &mut Table, recording: &Recording, scenario: &str, factor: f64) -> Option<()> {
    let real = activations(recording, scenario)?;
    let report = run(recording, scenario, factor, 20, pelton_schema::NullSink)?;
    let all: f64 = real.iter().map(|a| a.1).sum();
    let busy: u64 = report.domains.iter().map(|d| d.busy_ns).sum();
    let clusters: &[(&str, std::ops::Range<u32>)] = if recording.files == "pixel6" {
        &[("little", 0..4), ("mid", 4..6), ("big", 6..8)]
    } else {
        &[("little", 0..4), ("big", 4..6)]
    };
    for (name, cpus) in clusters {
        let there: f64 = real.iter().filter(|a| cpus.contains(&a.2)).fold(0.0, |sum, a| sum + a.1);
        let ours = report.domains.iter().find(|d| d.name == *name).expect("a domain of the board").busy_ns;
        let (there, ours) = (100.0 * there / all, 100.0 * ours as f64 / busy as f64);
        let cell = marked(format!("{there:.1}/{ours:.1}"), (there - ours).abs(), SHARE_POINTS_MAX);
        table.put(&format!("{} {name}", &scenario[..2]), recording, cell);
    }
    Some(())
}

const HEAD: &str = "\
<!-- Generated by crates/lab/tests/clamp_boards.rs: PELTON_UPDATE_DOCS=1 cargo test --test lab_tests clamp_boards:: -->

# Clamps beside boards

The rt-app files of the public notebooks on clamps, run as they are and begun as rt-app begins (`rt-app-start`; one seed, 250 Hz;
kernels in the test), beside what their boards recorded: `board/simulated`, or how far they are apart, **bold** beyond the bound.
Bounds were written down before the first run; the one for the largest distance of the ramp, the start phases, `runnable_boost=off`
and the Pixel's kernel were chosen after it, and the Juno's firmware, driver and slice when the cause of too short activations was
looked for. ";

const PLACES: &str = "\
## Where threads ran

Percent of their time, without the first 0.3 s. Bound: 5 points.

";

const CURVES: &str = "
## Scenario 2: curves of CPU 5 of the Juno, CPU 7 of the Pixel

Units of 1024 where nothing else is said, bounds in parentheses; those of the Pixel are the Juno's. Distances between levels are mean
distances of quantiles over time. The ramp is laid over the board's where both pass 700, since the clocks differ.

";

/// Real work of `run` on both boards.
fn works(factor: f64, pixel: f64) -> String {
    let per_run_ms = factor * 200.0;
    format!(
        "Work on the Juno is `run` times {factor:.4}: its loops are\nshorter than `calibration` says, as activations of \
         scenario 1 show (100 ms of `run` take {per_run_ms:.1} ms at 600 of 1200 MHz).\nOn the Pixel it is `run` times \
         {pixel:.4}, by the hog of scenario 2.\n\n"
    )
}

fn page(factor: f64, pixel: f64) -> String {
    let work = |recording: &Recording| if recording.files == "pixel6" { pixel } else { factor };
    let (mut shares, mut curves) = (Table::default(), Table::default());
    for recording in recordings() {
        for scenario in SCENARIOS {
            places(&mut shares, recording, scenario, work(recording)).expect("complete data");
        }
        spike(&mut curves, recording, work(recording)).expect("complete data");
    }
    format!("{HEAD}{}{PLACES}{}{CURVES}{}", works(factor, pixel), shares.render(), curves.render())
}

#[test]
fn clamped_scenarios_beside_their_boards() {
    let Some((factor, pixel)) = juno_factor().zip(pixel_factor()) else {
        println!("not measured: the recordings of the notebooks on clamps are not beside the project");
        return;
    };
    let page = page(factor, pixel);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity/clamp-boards.md");
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).expect("the page is writable");
    }
    let kept = std::fs::read_to_string(path).expect("the page is there");
    assert!(kept == page, "docs/fidelity/clamp-boards.md is out of date; see the head of this test\n{page}");
}
