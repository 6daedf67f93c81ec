// SPDX-License-Identifier: GPL-2.0-or-later
//! The chart of docs/guide/clamps.md and the table below it come from these runs. `PELTON_UPDATE_DOCS=1 cargo test
//! --test across clamp_guide::` writes them.

use crate::guide;
use pelton_lab::measure::quantity;
use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_report::chart::SERIES;
use pelton_schema::NullSink;
use pelton_tests::axes::{self, Scale};

const BEGIN: &str = "<!-- computed by tests/tests/clamp_guide.rs -->\n";
const PLATFORM: &str = "pixel6-gs101";
const SECONDS: u64 = 30;
/// Spread of the frames' weights, and the work beside them: a user interface with light work beside it.
const SHAPE: &str = "heavy_percent=165,rare_every=300,rare_percent=1000";
const UI_US: u32 = 400;
const APP_US: u32 = 700;
const BG_US: u32 = 2500;
/// Names of the forms, values of the switch, and whether the other threads are in groups: the background in one that
/// counts for a quarter of each CPU where groups are limited, the application in one that counts for a half.
const FORMS: [(&str, &str, bool); 7] = [
    ("none", "off", false),
    ("max", "max", false),
    ("max, in groups", "max", true),
    ("max, groups limited", "group_throttle", true),
    ("generation 1", "sum", false),
    ("generation 3", "bias", false),
    ("debt", "debt", false),
];
/// Lower clamps of the user interface.
const FLOORS: [u32; 4] = [60, 128, 200, 300];

/// Upper clamps of the background's and of the application's threads.
const CAPS: (u32, u32) = (60, 120);
/// Lower clamp of the table of rates.
const AT_RATES: u32 = 128;
const RATES_HZ: [u32; 3] = [60, 90, 120];

/// Power of CPUs and clusters and of each domain, mW, late frames, percent, and what a background job takes, ms.
#[derive(Clone, Copy)]
struct Point {
    power: f64,
    domains: [f64; 3],
    jank: f64,
    job: f64,
}

fn measure((form, grouped): (&str, bool), floor: u32, rate_hz: u32) -> Point {
    let (bg, app) = CAPS;
    let ui = format!("{},rate_hz={rate_hz},util_min={floor}", frames(UI_US));
    let [in_app, in_bg] = if grouped { [",group=/app", ",group=/bg"] } else { [""; 2] };
    let groups = if grouped { " + group:path=/bg,group_throttle=256 + group:path=/app,group_throttle=512" } else { "" };
    let others = format!(
        "periodic:name=app,threads=3,run_us={APP_US},period_us=20000,util_max={app}{in_app} \
         + periodic:name=bg,threads=4,run_us={BG_US},period_us=200000,util_max={bg}{in_bg}{groups}"
    );
    run(format!("{ui} + {others}"), &format!("6.12,uclamp={form}"))
}

/// A user interface whose frames take this much of the biggest CPU's time, and its renderer's half as much again.
fn frames(ui_us: u32) -> String {
    format!("ui-frames:ui_us={ui_us},render_us={},{SHAPE}", ui_us * 3 / 2)
}

fn run(workload: String, policy: &str) -> Point {
    let inputs =
        Inputs { platform: PLATFORM.into(), workload, duration_ns: Some(SECONDS * 1_000_000_000), ..Inputs::default() };
    let plan = build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").plan;
    let report = run_one(&plan, 1, NullSink, Default::default()).expect("runs");
    let read = |name, of| quantity::find(name).and_then(|q| q.read(&report, of)).expect("a number");
    let power = |name, of| read(name, of) / SECONDS as f64;
    Point {
        power: power("energy_mj", None),
        domains: ["little", "mid", "big"].map(|domain| power("domain_energy_mj", Some(domain))),
        jank: read("jank_pct", None),
        job: read("latency_ms_avg", Some("bg")),
    }
}

/// Work of a frame of the user interface's thread, us of the biggest CPU; its renderer's is half as much again.
const FRAMES_US: [u32; 5] = [150, 300, UI_US, 700, 1000];
/// Settings of the table of frames: the posting's two, and sums with larger floors.
const SETTINGS: [(&str, &str, &str); 7] = [
    ("max, 512 behind a late frame", "max", "late_util_min=512,late_frames=60"),
    ("max, 60", "max", "util_min=60"),
    ("generation 1, 60", "sum", "util_min=60"),
    ("generation 1, 128", "sum", "util_min=128"),
    ("generation 1, 200", "sum", "util_min=200"),
    ("generation 3, 60", "bias", "util_min=60"),
    ("generation 3, 128", "bias", "util_min=128"),
];

/// A frame's weight against the floor, in the kernel nearest to the posting's (5.18) in which sums can run.
fn measure_frame(form: &str, floor: &str, frame_us: u32) -> Point {
    let workload = format!(
        "{},{floor} + periodic:name=app,threads=3,run_us={APP_US},period_us=20000 \
         + periodic:name=bg,threads=4,run_us={BG_US},period_us=200000",
        frames(frame_us)
    );
    run(workload, &format!("6.1,uclamp={form}"))
}

/// Late frames and power by the weight of a frame.
fn of_weights() -> String {
    let row = |(name, form, floor): (&'static str, &str, &str)| {
        (name, FRAMES_US.iter().map(|&us| measure_frame(form, floor, us)).collect())
    };
    let rows: Rows = SETTINGS.into_iter().map(row).collect();
    table(&FRAMES_US.map(|us| format!("{us} us")), &rows, |p| format!("{:.1} %, {:.0} mW", p.jank, p.power))
}

type Rows<'a> = Vec<(&'a str, Vec<Point>)>;

fn rows_of<'a, K: Copy>(keys: &[K], point: impl Fn((&str, bool), K) -> Point) -> Rows<'a> {
    let row = |(name, form, grouped)| (name, keys.iter().map(|&key| point((form, grouped), key)).collect());
    FORMS.into_iter().map(row).collect()
}

fn table(head: &[String], all: &Rows, cell: fn(&Point) -> String) -> String {
    let line = |(name, points): &(&str, Vec<Point>)| {
        let cells: Vec<String> = points.iter().map(cell).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let head = format!("| | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(head.len()));
    head + &all.iter().map(line).collect::<String>()
}

fn of_floors(all: &Rows) -> String {
    let head = FLOORS.map(|floor| format!("`util_min={floor}`"));
    table(&head, all, |p| format!("{:.1} %, {:.0} mW, {:.0} ms", p.jank, p.power, p.job))
}

fn chart(all: &Rows) -> String {
    let most = |of: fn(&Point) -> f64| all.iter().flat_map(|(_, p)| p).map(of).fold(0.0, f64::max) * 1.05;
    let x = Scale { from: 0.0, to: most(|p| p.power), words: "power of the CPUs, mW", numbers: 8 };
    let y = Scale { from: -0.3, to: most(|p| p.jank), words: "late frames, %", numbers: 8 };
    let line = |((name, points), colour): (&(&str, Vec<Point>), _)| {
        ((*name).to_owned(), points.iter().map(|p| (p.power, p.jank)).collect(), colour, 2)
    };
    let lines: Vec<axes::Line> = all.iter().zip(SERIES).map(line).collect();
    let caption = format!("{PLATFORM}: lower clamps 60, 128, 200, 300");
    axes::chart(("Generated by the test clamp_guide; see docs/guide/clamps.md.", &caption), x, y, &lines)
}

#[test]
fn the_guide_shows_jank_against_power() {
    let floors = rows_of(&FLOORS, |form, floor| measure(form, floor, 60));
    let rates = rows_of(&RATES_HZ, |form, rate_hz| measure(form, AT_RATES, rate_hz));
    let of_rates = table(&RATES_HZ.map(|hz| format!("{hz} Hz")), &rates, |p| {
        let [little, mid, big] = p.domains;
        format!("{:.1} %, {:.0} mW ({little:.0}, {mid:.0}, {big:.0})", p.jank, p.power)
    });
    let at_rates = "With a lower clamp of 128, at three rates; in brackets the power of little, middle and big CPUs without that \
                    of clusters:";
    let (floors_table, frames) = (of_floors(&floors), of_weights());
    let by_frame = "The posting's settings (60 Hz, no caps) by how much work a frame is: us of the biggest CPU for the interface's \
                    thread, half as much again for its renderer. Kernel 6.1:";
    let text = format!(
        "\n![late frames against power](clamps-jank.svg)\n\n{floors_table}\n{at_rates}\n\n{of_rates}\n{by_frame}\n\n{frames}"
    );
    guide::keep("clamps-jank.svg", &chart(&floors));
    guide::keep_part("clamps.md", BEGIN, &text);
}
