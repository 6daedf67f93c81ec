// SPDX-License-Identifier: GPL-2.0-or-later
//! Every place where bytes from outside enter. Used by `fuzz/` and by the smoke tests alike.

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pelton_lab::experiment;
use pelton_lab::experiment::reproduce::{Options, Seeds, reproduce};
use pelton_lab::run::{Control, LabError};
use pelton_model::{Machine, RunConfig, Workload};
use pelton_replay::{clamps, decisions, placements, validate, workload};
use pelton_scenario::behaviour::Behaviour;
use pelton_scenario::import::{self, Kind};
use pelton_scenario::platform::PlatformOptions;
use pelton_scenario::{Diagnostics, SourceFile, diagnostic, platform, policy, rtapp};
use pelton_schema::NullSink;
use pelton_trace::LogReader;
use pelton_trace::import::csv::{ActivationCsv, DecisionCsv, PeltCsv, SeriesCsv};
use pelton_trace::import::text::TextSource;
use pelton_trace::import::{Format, OpenOptions, Source, open};
use pelton_trace::perfetto::read::PerfettoReader;

use crate::made_events::MadeEvents;
use crate::readers::reader;

/// Name and code of a target.
pub type Named = (&'static str, fn(&[u8]));

/// The target of every reader.
pub const OF_READERS: &[Named] = &[
    ("trace_text", trace_text),
    ("trace_csv", trace_csv),
    ("trace_log", trace_log),
    ("trace_perfetto", trace_perfetto),
    ("trace_dat", trace_dat),
    ("placements_csv", placements_csv),
    ("balances_csv", balances_csv),
    ("gates_csv", gates_csv),
    ("clamps_csv", clamps_csv),
    ("decisions_csv", decisions_csv),
    ("rtapp_json", rtapp_json),
    ("load_series", load_series),
    ("platform_toml", platform_toml),
    ("policy_toml", policy_toml),
    ("finished_runs", finished_runs),
    ("result_json", result_json),
    ("experiment_toml", experiment_toml),
    ("behaviour_toml", behaviour_toml),
    ("import_dts", import_dts),
    ("import_dtb", import_dtb),
    ("import_plat_info", import_plat_info),
    ("import_wattson", import_wattson),
    ("import_sysfs", import_sysfs),
    ("import_energy_model", import_energy_model),
    ("import_pasted", import_pasted),
];

/// An rt-app file, down to the workload and the text of every message about it.
pub fn rtapp_json(input: &[u8]) {
    rtapp::fuzz_rtapp(input);
}

/// A platform file, down to the machine.
pub fn platform_toml(input: &[u8]) {
    platform::fuzz_platform(input);
}

/// A policy file.
pub fn policy_toml(input: &[u8]) {
    policy::fuzz_policy(input);
}

/// Finished runs of `why`.
pub fn finished_runs(input: &[u8]) {
    pelton_lab::why::kept::fuzz_kept(input);
}

/// A result that was kept, down to its page: nothing of it is markup.
pub fn result_json(input: &[u8]) {
    let Ok(value) = serde_json::from_slice(input) else { return };
    let Ok(page) = pelton_report::of_result(&value) else { return };
    assert!(page.ends_with("</html>") && page.matches("</html>").count() == 1, "one page");
    assert!(!page.contains(|c: char| c.is_control() && !"\n\t".contains(c)), "it drives no terminal");
}

/// Our own log, and a Perfetto trace: read to the end or to the first error.
pub fn trace_files(input: &[u8]) {
    if let Ok(mut events) = LogReader::open(input) {
        let failures = events.by_ref().filter(Result::is_err).count();
        assert_eq!(failures == 0, events.is_complete(), "a damaged log says so once");
    }
    assert!(PerfettoReader::new(input).filter(Result::is_err).count() <= 1, "an error ends the records");
}

/// A trace.dat of trace-cmd.
pub fn trace_dat(input: &[u8]) {
    as_source(input, Format::TraceDat);
}

/// A Perfetto trace as a source.
pub fn trace_perfetto(input: &[u8]) {
    as_source(input, Format::Perfetto);
}

/// Our own log as a source.
pub fn trace_log(input: &[u8]) {
    as_source(input, Format::PeltonLog);
}

/// Text of ftrace, systrace and `perf script`.
pub fn trace_text(input: &[u8]) {
    for format in [Format::FtraceText, Format::SystraceHtml] {
        read_on(&mut TextSource::new(Cursor::new(input.to_vec()), Path::new("input"), format));
    }
}

/// Every kind of table.
pub fn trace_csv(input: &[u8]) {
    let bytes = || Cursor::new(input.to_vec());
    read_on(&mut PeltCsv::new(bytes(), Path::new("input")));
    read_on(&mut DecisionCsv::new(bytes(), Path::new("input")));
    read_on(&mut SeriesCsv::new(bytes(), Path::new("input")));
    read_on(&mut ActivationCsv::new(bytes(), Path::new("input")));
}

/// Any events, validated in both readings: the input is the events themselves, so that no check sum stands before the
/// validator.
pub fn validate(input: &[u8]) {
    let machine = platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2")));
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    let options = validate::Options { policy, machine: Some(machine.expect("built in")) };
    let mut first = MadeEvents::new(input);
    let mut report = validate::validate(&mut first, options.clone(), &mut |_| true).expect("memory does not fail");
    let info = first.info().clone();
    validate::compare_again(&mut MadeEvents::new(input), &info, &options, &mut report).expect("memory does not fail");
    drop(format!("{report:?}"));
}

/// Any events as a workload, down to its rt-app file.
pub fn workload_from_trace(input: &[u8]) {
    let machine =
        platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2"))).expect("built in");
    let mut source = MadeEvents::new(input);
    let going = &mut |_: u64| std::ops::ControlFlow::Continue(());
    let recorded = workload::read(&mut source, Some(&machine), &workload::ReadOptions::default(), going);
    let Ok(recorded) = recorded else { return };
    let habits = workload::Habits::of(&recorded.recording);
    for pin in [workload::Pin::Free, workload::Pin::Itself, workload::Pin::Asleep] {
        let frequencies_given = pin == workload::Pin::Asleep;
        let options = workload::SynthesisOptions { only: Vec::new(), pin, frequencies_given };
        let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machine, &options);
        let model = pin != workload::Pin::Free;
        drop(workload::write_rtapp(&made.workload, &machine, workload::WriteOptions { model }));
    }
}

/// An experiment file, as `reproduce FILE` reads it: every plan of it is made, and its runs begin.
///
/// Paths are left out: what a file that the user wrote names, is opened.
pub fn experiment_toml(input: &[u8]) {
    let shown = |messages: &Diagnostics| drop(diagnostic::render(messages, 80, false));
    let experiment = match experiment::from_bytes("input.toml", input) {
        Ok(experiment) => experiment,
        Err(messages) => return shown(&messages),
    };
    if experiment.platform.contains('/') || experiment.workload.values().any(|w| w.spec.contains('/')) {
        return;
    }
    let stop = AtomicBool::new(true);
    let control = Control { stop: &stop, progress: &|_| {} };
    let options = Options { seeds: Seeds::Count(1), jobs: 1 };
    match reproduce(&experiment, None, options, control) {
        Err(LabError::Input(messages)) => shown(&messages),
        other => drop(format!("{other:?}")),
    }
}

/// A behaviour file, down to the rt-app text of its tasks, which is good whatever the file says.
pub fn behaviour_toml(input: &[u8]) {
    let shown = |messages: &Diagnostics| drop(diagnostic::render(messages, 80, false));
    let read = SourceFile::from_bytes("input.toml", input).and_then(|file| Behaviour::parse(&file));
    let behaviour = match read {
        Ok(behaviour) => behaviour,
        Err(messages) => return shown(&messages),
    };
    for board in ["juno-r0", "intel-i7-6700"] {
        let machine = platform::load(board).and_then(|file| file.machine(&PlatformOptions::new("7.2")));
        let machine = machine.expect("built in");
        let Ok(sized) = behaviour.sized(&machine) else { continue };
        let text = SourceFile::new("tasks.json", &sized.rtapp);
        let loaded = pelton_scenario::workload::load_text(&text, &machine, &rtapp::RtAppOptions::default());
        assert!(loaded.is_ok(), "{}\n{}", loaded.unwrap_err(), sized.rtapp);
    }
}

/// An input as the file, or the files, of a reader.
fn placed(name: &str, input: &[u8], with: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = reader(name).expect("declared").put(input, folder.path()).expect("room for it");
    with(&place);
}

/// A table of placements and its machine.
pub fn placements_csv(input: &[u8]) {
    decided_again("placements_csv", input);
}

/// A table of searches of balances and its machine.
pub fn balances_csv(input: &[u8]) {
    decided_again("balances_csv", input);
}

/// A table of gates of balances and its machine.
pub fn gates_csv(input: &[u8]) {
    decided_again("gates_csv", input);
}

fn decided_again(name: &str, input: &[u8]) {
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    placed(name, input, |path| match placements::validate(path, &policy, None, &mut |_| true) {
        Ok(report) => drop(format!("{report:?}")),
        Err(error) => drop(error.to_string()),
    });
}

/// A table of clamps.
pub fn clamps_csv(input: &[u8]) {
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    placed("clamps_csv", input, |path| match clamps::validate(path, &policy, None, &mut |_| true) {
        Ok(report) => drop(format!("{report:?}")),
        Err(error) => drop(error.to_string()),
    });
}

/// A recording of `pelton live`: its machine and its tables.
pub fn decisions_csv(input: &[u8]) {
    placed("decisions_csv", input, |path| match decisions::validate(path, None, &mut |_| true) {
        Ok(report) => drop(format!("{report:?}")),
        Err(error) => drop(error.to_string()),
    });
}

/// A series of loads, down to the workload.
pub fn load_series(input: &[u8]) {
    let machine =
        platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2"))).expect("built in");
    placed("load_series", input, |path| {
        let spec = format!("ui-frames:loads={}", path.display());
        if let Err(messages) = pelton_scenario::workload::load(&spec, &machine) {
            drop(diagnostic::render(&messages, 80, false));
        }
    });
}

/// Source of a device tree.
pub fn import_dts(input: &[u8]) {
    imported("import_dts", Some(Kind::Dts), input);
}

/// A flattened device tree.
pub fn import_dtb(input: &[u8]) {
    imported("import_dtb", Some(Kind::Dtb), input);
}

/// LISA's platform information.
pub fn import_plat_info(input: &[u8]) {
    imported("import_plat_info", Some(Kind::PlatInfo), input);
}

/// Power curves of Wattson.
pub fn import_wattson(input: &[u8]) {
    imported("import_wattson", Some(Kind::Wattson), input);
}

/// A folder like `/sys`.
pub fn import_sysfs(input: &[u8]) {
    imported("import_sysfs", Some(Kind::Sysfs), input);
}

/// A folder like that of the Energy Model.
pub fn import_energy_model(input: &[u8]) {
    imported("import_energy_model", Some(Kind::EnergyModel), input);
}

/// Lines that `grep -r .` shows of a folder.
pub fn import_pasted(input: &[u8]) {
    imported("import_pasted", None, input);
}

/// A source as a platform file, which is read back as `platform import` does.
fn imported(name: &str, kind: Option<Kind>, input: &[u8]) {
    let cpus = (kind == Some(Kind::Wattson)).then_some(3);
    let shown = |messages: &Diagnostics| drop(diagnostic::render(messages, 80, false));
    placed(name, input, |path| {
        let options = import::Options { kind, cpus, milliwatts: false };
        match import::import(path, &options).map(|draft| platform::parse(&SourceFile::new("x.toml", draft.toml()))) {
            Ok(Ok(file)) => drop(file.build(&PlatformOptions::new("7.2"))),
            Ok(Err(messages)) | Err(messages) => shown(&messages),
        }
    });
}

/// A trace packed with gzip, xz or zstd. The first byte says how: 0 is packed already; else the rest is packed here,
/// and the next two bytes say where it is damaged afterwards, so that mutations reach what is inside.
pub fn packed_trace(input: &[u8]) {
    let [how, damage, mask, rest @ ..] = input else { return };
    let mut packed = match how % 4 {
        0 => input[1..].to_vec(),
        1 => gzip(rest),
        2 => xz(rest),
        _ => zstd::encode_all(rest, 1).expect("a vector takes everything"),
    };
    let at = packed.len() * usize::from(*damage) / 256;
    if how % 4 != 0 && !packed.is_empty() {
        packed[at] ^= mask;
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&packed).expect("room for a temporary file");
    if let Ok(mut source) = open(file.path(), &OpenOptions::default()) {
        read_on(&mut *source);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).and_then(|()| out.finish()).expect("a vector takes everything")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
    out.write_all(bytes).and_then(|()| out.finish()).expect("a vector takes everything")
}

/// Any events, read as a recording and simulated, as `replay` does.
pub fn read_then_simulate(input: &[u8]) {
    let machine =
        platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2"))).expect("built in");
    // A second of it: how long a run takes is another question than whether it ends well.
    let part = workload::ReadOptions { to_ns: Some(1_000_000_000), ..Default::default() };
    let going = &mut |_: u64| std::ops::ControlFlow::Continue(());
    let Ok(recorded) = workload::read(&mut MadeEvents::new(input), Some(&machine), &part, going) else { return };
    let habits = workload::Habits::of(&recorded.recording);
    let options = workload::SynthesisOptions { pin: workload::Pin::Asleep, ..Default::default() };
    let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machine, &options);
    if !made.workload.tasks.is_empty() {
        simulate(&machine, &made.workload, recorded.totals.window_ns());
    }
}

/// An rt-app file, simulated for 20 ms.
pub fn rtapp_then_simulate(input: &[u8]) {
    let machine =
        platform::load("hikey-6220").and_then(|file| file.machine(&PlatformOptions::new("7.2"))).expect("built in");
    let Ok(file) = SourceFile::from_bytes("input.json", input) else { return };
    let options = rtapp::RtAppOptions { cpus: Some(8), ..Default::default() };
    if let Ok(loaded) = rtapp::load_full(&file, &options) {
        simulate(&machine, &loaded.workload, 20_000_000);
    }
}

/// Runs; a report adds up, or a refusal says why.
fn simulate(machine: &Machine, workload: &Workload, duration_ns: u64) {
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    let config = RunConfig { duration_ns, ..RunConfig::default() };
    match pelton_sim::run(machine, workload, &policy, &config, NullSink) {
        Ok(report) => assert!(report.tasks.len() >= workload.tasks.len(), "every task is reported"),
        Err(error) => drop(error.to_string()),
    }
}

/// Reads a trace: it ends, and its times never run backwards.
fn read_on(source: &mut dyn Source) {
    let mut last_ns = 0;
    while let Ok(Some(timed)) = source.next() {
        assert!(timed.time_ns >= last_ns, "time runs backwards");
        last_ns = timed.time_ns;
    }
}

/// Reads the input as a trace of one kind: it ends, and its times never run backwards.
fn as_source(input: &[u8], format: Format) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(input).expect("room for a temporary file");
    let Ok(mut source) = open(file.path(), &OpenOptions { format: Some(format), ..OpenOptions::default() }) else {
        return;
    };
    read_on(&mut *source);
}
