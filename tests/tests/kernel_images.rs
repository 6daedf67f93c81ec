// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's own compiled code decides in whole runs what the core decides: every event is the same. `make
//! test-oracle` makes the images; without them this is not measured.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pelton_core::kernel::{KernelCode, OPERATIONS, Operation};
use pelton_kernel::{Image, Linked};
use pelton_lab::plan::{self, Inputs, PolicySpec, Prepared};
use pelton_scenario::platform;
use pelton_schema::{Event, Sink};
use pelton_sim::report::KernelReport;

const SERIES: [&str; 4] = ["5.10", "6.1", "6.12", "7.2"];
const FILES: [&str; 5] = ["browser-long", "mp3-short", "wa_camera-long", "video-long", "eas_v5_taskset"];
/// Models, on three boards, each in a task group too.
const MODELS: [&str; 12] = [
    "sysbench-cpu:threads=4",
    "hackbench",
    "ui-frames",
    "schbench",
    "cyclictest",
    "sched-pipe",
    "ui-frames:util_min=300",
    "ui-frames:util_max=200 + busy:threads=2",
    "periodic:run_us=9000,period_us=24390,policy=fifo,priority=9 + ui-frames",
    "periodic:run_us=3000,period_us=10000,policy=deadline + ui-frames",
    "ui-frames + limits:at_ms=300,max_khz=1200000",
    "io:run_us=300,service_us=900,threads=3",
];
const BOARDS: [&str; 3] = ["pixel6-gs101", "hikey960", "epyc-7543p"];

/// Image that `make test-oracle` made of a release, or of a change to it; only there it is of these headers.
fn image(series: &str, variant: &str) -> Option<Linked> {
    std::env::var_os("PELTON_KERNEL_IMAGES")?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../oracle").join(series).join(variant);
    let file = std::fs::read(folder.join("image")).ok()?;
    Some(Linked::read(&file).expect("an image"))
}

/// Events of a run: a number for each, and one of them as text.
#[derive(Default)]
struct Events {
    hashes: Vec<u64>,
    wanted: Option<usize>,
    text: String,
}

impl Sink for Events {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let text = format!("{time_ns} {event:?}");
        self.hashes.push(text.bytes().fold(0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)));
        if self.wanted == Some(self.hashes.len() - 1) {
            self.text = text;
        }
    }
}

fn prepared(board: &str, workload: &str, group: Option<&str>, policy: &str) -> Option<Prepared> {
    let (platform, workload) = (board.to_owned(), workload.to_owned());
    let group = group.map(str::to_owned);
    // Tasks that wake each other without a pause have thousands of decisions in a tenth of it.
    let is_dense = ["hackbench", "sched-pipe"].contains(&&*workload);
    let duration_ns = Some(if is_dense { 50_000_000 } else { 500_000_000 });
    let inputs = Inputs { platform, workload, seed: 1, duration_ns, random_phase: true, group, ..Inputs::default() };
    // Images are compiled without memory nodes.
    plan::build(&inputs, &PolicySpec::parse(policy)).ok().filter(|of| of.plan.machine.nodes.len() < 2)
}

fn by_core(of: &Prepared, events: &mut Events) {
    let plan = &of.plan;
    pelton_sim::run(&plan.machine, &plan.workload, &plan.policy, &plan.config, events).expect("it runs");
}

fn by_kernel(of: &Prepared, linked: &Linked, events: &mut Events) -> KernelReport {
    let plan = &of.plan;
    let mut image = Image::open(linked).expect("it starts");
    let code: &mut dyn KernelCode = &mut image;
    let on = &mut |_| ControlFlow::Continue(());
    let report =
        pelton_sim::run_under_kernel((&plan.machine, &plan.workload), &plan.policy, &plan.config, events, code, on);
    report.expect("it runs").kernel.expect("kernel code was asked")
}

/// The event of this number, of both runs.
fn event_of(of: &Prepared, linked: &Linked, at: usize) -> [String; 2] {
    let wanted = || Events { wanted: Some(at), ..Events::default() };
    let mut both = [wanted(), wanted()];
    by_core(of, &mut both[0]);
    by_kernel(of, linked, &mut both[1]);
    both.map(|events| events.text)
}

/// Runs both, and says what differs.
fn compare(of: &Prepared, linked: &Linked, about: &str) -> (KernelReport, Option<String>) {
    let (mut core, mut kernel) = (Events::default(), Events::default());
    by_core(of, &mut core);
    let report = by_kernel(of, linked, &mut kernel);
    let warned = report.warnings.first().map(|one| format!("{about}: a warning at {}", one.place));
    let differs = (core.hashes != kernel.hashes).then(|| {
        let at = core.hashes.iter().zip(&kernel.hashes).take_while(|(core, kernel)| core == kernel).count();
        let [core, kernel] = event_of(of, linked, at);
        format!("{about}: event {at}\n core   {core}\n kernel {kernel}\n {:?}", report.differences.first())
    });
    (report, differs.or(warned))
}

/// Board, workload and task group of every run.
fn runs() -> impl Iterator<Item = (String, String, Option<&'static str>)> {
    let files = FILES.map(|file| format!("{}/../scenarios/workloads/rt-app/{file}.json", env!("CARGO_MANIFEST_DIR")));
    let boards = platform::names().flat_map(move |board| files.clone().map(|file| (board.to_owned(), file, None)));
    let models = BOARDS.into_iter().flat_map(|board| {
        let of = move |model: &str, group| (board.to_owned(), model.to_owned(), group);
        MODELS.into_iter().flat_map(move |model| [of(model, None), of(model, Some("/app"))])
    });
    boards.chain(models)
}

fn add(totals: &mut [(u64, u64)], report: &KernelReport) {
    for (total, one) in totals.iter_mut().zip(&report.operations) {
        total.0 += one.calls;
        total.1 += one.differ.unwrap_or(0);
    }
}

/// All runs by the code of a release; what differs.
fn differing_runs(series: &str) -> Vec<String> {
    let Some(linked) = image(series, "image") else {
        println!("not measured: whole runs by the code of Linux {series} (make test-oracle makes its image)");
        return Vec::new();
    };
    let (mut ran, mut totals, mut wrong) = (0, vec![(0, 0); OPERATIONS.len()], Vec::new());
    for (board, workload, group) in runs() {
        let Some(of) = prepared(&board, &workload, group, series) else { continue };
        let about = format!("{series} {board} {workload} {group:?}");
        let (report, differs) = compare(&of, &linked, &about);
        add(&mut totals, &report);
        wrong.extend(differs);
        ran += 1;
    }
    let decided: u64 = totals.iter().map(|one| one.0).sum();
    let balances = [Operation::FindSrc, Operation::NeedActiveBalance, Operation::CanMigrateTask];
    let balanced = balances.map(|operation| totals[operation as usize].0);
    println!("Linux {series}: {ran} runs, {decided} decisions by the kernel's own code, of balances {balanced:?}");
    assert!(ran >= 150, "{series}: only {ran} runs");
    let often = [Operation::SugovHook, Operation::SelectTaskRqFair, Operation::MenuSelect, Operation::FindSrc];
    for operation in often {
        assert!(totals[operation as usize].0 > 10_000, "{series}: {operation:?} was asked too rarely");
    }
    assert!(balanced.iter().all(|asked| *asked > 100), "{series}: balances asked too rarely: {balanced:?}");
    wrong
}

#[test]
fn a_kernels_own_code_decides_what_the_core_does() {
    let wrong: Vec<String> = std::thread::scope(|threads| {
        let all = SERIES.map(|series| threads.spawn(move || differing_runs(series)));
        all.into_iter().flat_map(|one| one.join().expect("runs")).collect()
    });
    assert!(wrong.is_empty(), "{} runs differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// One word of `sugov_get_util()` changed is what a switch of the core is, and that switch does something.
#[test]
fn a_patch_that_is_a_switch_equals_the_switch() {
    let Some(linked) = image("6.12", "boost-off") else {
        println!("not measured: a patch beside a switch (make test-oracle makes its image)");
        return;
    };
    let (mut changed, mut wrong) = (0, Vec::new());
    for board in ["pixel6-gs101", "hikey960", "juno-r2", "rock-5b-rk3588", "odroid-n2-s922x"] {
        for (_, workload, _) in runs().take(FILES.len()) {
            let [plain, switched] = ["6.12", "6.12,runnable_boost=off"]
                .map(|policy| prepared(board, &workload, None, policy).expect("a plan"));
            let mut events = [Events::default(), Events::default(), Events::default()];
            by_core(&plain, &mut events[0]);
            by_core(&switched, &mut events[1]);
            by_kernel(&plain, &linked, &mut events[2]);
            let [plain, switched, patched] = events.map(|events| events.hashes.len());
            changed += u32::from(plain != switched);
            if switched != patched {
                wrong.push(format!("{board} {workload}: {switched} events by the switch, {patched} by the patch"));
            }
        }
    }
    assert!(changed > 10, "the patch changes only {changed} runs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
