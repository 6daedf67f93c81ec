// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings made inside booted kernels (`make test-live`): every full call recomputed, every fault noticed. Without
//! them it says that nothing was measured.

#![cfg(all(unix, feature = "record"))]

use crate::support::{Outcome, pelton};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Signals that a recording of full calls must have checked, whatever ran.
const ALWAYS: [&str; 10] =
    ["entity", "chain", "queue", "rt", "dl", "rq_clock", "rq_clock_chain", "raw_freq", "next_freq", "freq_commit"];
/// Share of a tracepoint recording that may be undecidable (F-030); 0 to 3 of 11 000 to 14 000 records were.
const TRACEPOINTS_DIVERGENT_PERMILLE_MAX: u64 = 1;

/// Signals that a recording with task groups must have checked besides.
const WITH_GROUPS: [&str; 2] = ["hand_up", "reweight"];

/// Placements that each kernel must have made in all its recordings together.
const PLACEMENTS_MIN: u64 = 20_000;
/// Faults that are put into placements, and must be noticed in those of every kernel: rules that machines of equal CPUs
/// have.
const WRONG_PLACEMENTS: [&str; 3] =
    ["loads do not count", "tasks of SCHED_IDLE do not give way", "the last CPU is never idle"];
/// Quiet searches of balances that each kernel must have made in all its recordings together.
const SEARCHES_MIN: u64 = 200;
/// Faults that are put into searches of balances, and must be noticed in those of every kernel.
const WRONG_SEARCHES: [&str; 2] = ["loads do not count", "groups have a quarter of their capacity"];
/// Faults that are put into searches of balances on a board with small and large CPUs.
const WRONG_SEARCHES_BY_SIZE: [&str; 4] = [
    "loads do not count",
    "groups have a quarter of their capacity",
    "no task waits for a bigger CPU",
    "a task may fill a CPU to the brim",
];
/// Part of the names of recordings of gates.
const GATES: &str = ".gates.csv.gz";
/// Least number of quiet gates in all recordings of a kernel together, and how many of 1000 may differ: a CPU that is
/// asked twice within a moment, which no column shows. Both were fixed before the first recording that began and ended
/// at a switch.
const GATES_MIN: u64 = 1_000;
const GATES_DIFFER_PERMILLE_MAX: u64 = 2;
/// Faults that are put into gates, and must be noticed in those of every kernel.
const WRONG_GATES: [&str; 6] = [
    "idle times are a thousandth",
    "some CPU always has two tasks",
    "busy CPUs balance as often as idle ones",
    "costs of searches fade at every look",
    "all CPUs are idle",
    "intervals are twice as long",
];
/// Part of the names of recordings of balances.
const BALANCES: &str = ".balances";
/// Faults that are put into placements on boards of small and large CPUs with an energy model.
const WRONG_PLACEMENTS_BY_ENERGY: [&str; 9] = [
    "all states cost the same",
    "performance domains in the opposite order",
    "a task may fill a CPU to the brim",
    "the task's utilization counts on the CPU beside its own",
    "over-utilization is not looked at",
    "tasks of SCHED_IDLE do not give way",
    "the last CPU is never idle",
    "CPUs have an eighth less capacity",
    "limits of frequencies take no capacity",
];
/// Faults that are put into placements on machines with idle states, and must be noticed besides. Fixed before the
/// first recording.
const WRONG_IDLE_STATES: [&str; 2] = ["all idle states are left as fast", "the deepest idle state is left the fastest"];
/// The kernel that has no idle states with the same tables: the ACPI driver of 6.18.15 registers no idle driver
/// (F-370).
const WITHOUT_IDLE_STATES: &str = "6.18";
/// The rule of a placement by energy, and how many of these each kernel must have made on each board.
const BY_ENERGY: &str = "energy";
const BY_ENERGY_MIN: u64 = 5_000;
/// Ending of the name of a kernel's folder on a larger machine, after its series.
const SERVER: &str = "-server";
const BOARDS: [&str; 2] = ["-big-little", "-three-clusters"];
/// The board whose balances are recorded.
const BALANCED_BOARD: &str = "-big-little";
/// Kernels whose clamps are recorded, with two CPUs and on boards: Debian's before 6.14 have none.
const WITH_CLAMPS: [&str; 2] = ["7.2", "6.18"];
/// Decisions about clamps that each of them must have made.
const CLAMPS_MIN: u64 = 20_000;
/// Name of their table, and of the table of placements meanwhile.
const CLAMPS: &str = "random.clamps.csv.gz";
const CLAMPED: &str = "clamps.csv.gz";

/// The folders of the kernels on the machine with two CPUs, or nothing; says so then.
fn kernels() -> Vec<PathBuf> {
    chosen("with two CPUs", |folder| !series(folder).contains('-'))
}

/// Name of the folder that a kernel's recordings are in.
fn series(folder: &Path) -> String {
    let name = folder.parent().and_then(Path::file_name);
    name.map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// Its series alone, without the machine.
fn kernel_of(folder: &Path) -> String {
    let series = series(folder);
    series.split_once('-').map_or(series.clone(), |(kernel, _)| kernel.to_owned())
}

/// The rules that a folder's kernel has: those of its release, or of the nearest one that was read.
fn profile_of(folder: &Path) -> String {
    let release = text(&folder.join("release"));
    pelton_core::rules_of_release(&release).unwrap_or_else(|| panic!("{release} is no release")).name
}

fn folders() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("PELTON_LIVE_RECORDINGS") else {
        println!("not measured: recordings of kernels in QEMU (make test-live makes them)");
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the folder of recordings")
        .flatten()
        .map(|e| e.path().join("recordings"))
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "make test-live left no recordings");
    folders
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).trim().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn word(path: &Path) -> &str {
    path.to_str().expect("paths of the build are UTF-8")
}

/// Names of the recordings of a kernel, each made without an error.
fn recordings(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the recordings of a kernel")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".exit").map(str::to_owned))
        .collect();
    names.sort();
    for name in &names {
        let said = text(&folder.join(format!("{name}.stderr")));
        assert_eq!(text(&folder.join(format!("{name}.exit"))), "0", "{name}: {said}");
    }
    assert!(!names.is_empty(), "{} has no recordings", folder.display());
    names
}

fn validate(log: &Path, more: &[&str]) -> (Outcome, Value) {
    let outcome = pelton(&[&["validate", word(log), "--format", "json"], more].concat());
    let value = json(&outcome.stdout);
    (outcome, value)
}

/// Sum of a count over the signals that `of` takes.
fn sum(validated: &Value, count: &str, of: impl Fn(&str) -> bool) -> u64 {
    let signals = validated["signals"].as_object().into_iter().flatten();
    signals.filter(|(name, _)| of(name)).filter_map(|(_, signal)| signal[count].as_u64()).sum()
}

/// Divergences above the allowed number, in words.
fn divergences(name: &str, validated: &Value) -> Vec<String> {
    let tracked = |signal: &str| ["entity", "blocked_entity", "queue", "chain", "rt", "dl"].contains(&signal);
    let others = |signal: &str| !tracked(signal);
    let count = |of: &dyn Fn(&str) -> bool| (sum(validated, "divergent", of), sum(validated, "checked", of));
    [(count(&tracked), permille_allowed(name)), (count(&others), 0)]
        .into_iter()
        .filter(|((divergent, checked), permille)| *divergent > checked * permille / 1000)
        .map(|((divergent, checked), _)| {
            format!("{divergent} of {checked} diverge, the first is {}", validated["first"])
        })
        .collect()
}

#[test]
fn full_calls_of_every_kernel_are_what_the_core_computes() {
    let mut wrong = Vec::new();
    for folder in kernels() {
        let release = text(&folder.join("release"));
        assert_eq!(text(&folder.join("kernel-complaints")), "", "{release}");
        for name in recordings(&folder).into_iter().filter(|name| !name.contains('.')) {
            let facts = json(&text(&folder.join(format!("{name}.json"))));
            let (_, validated) = validate(&folder.join(format!("{name}.plog")), &[]);
            let [checked, exact, undecided, divergent] =
                ["checked", "exact", "not_decided", "divergent"].map(|count| sum(&validated, count, |_| true));
            println!(
                "{release} {name}: profile {}, {} events, {} lost, {} skipped, {} holes; {checked} updates, {exact} exact, \
                 {undecided} not decided, {divergent} divergent",
                validated["profile"], facts["total"], facts["lost"], facts["skipped"], facts["holes"],
            );
            let mut faults = divergences(&name, &validated);
            if name != "tracepoints" {
                faults.extend(lacking(&name, &validated, &facts));
            }
            wrong.extend(faults.into_iter().map(|what| format!("{release} {name}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Placements of a machine with threads, two packages and two memory nodes, decided again by the rules of the release.
#[test]
fn placements_of_every_kernel_are_chosen_again() {
    let wrong: Vec<String> = folders_of(SERVER).iter().flat_map(|f| decided(f, SERVER, &WRONG_PLACEMENTS)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Placements of boards with small and large CPUs: by energy as long as no CPU is over-utilized, and every energy the
/// kernel's.
#[test]
fn placements_by_energy_of_every_kernel_are_chosen_again() {
    let mut wrong = Vec::new();
    for board in BOARDS {
        wrong.extend(folders_of(board).iter().flat_map(|folder| decided(folder, board, &WRONG_PLACEMENTS_BY_ENERGY)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tables of a kernel, each decided again by the rules of a profile.
#[derive(Default)]
struct Tables {
    quiet: u64,
    differ: u64,
    noticed: BTreeSet<String>,
}

impl Tables {
    /// Tables of a folder whose names end in `end`; `None` when it has none.
    fn of(folder: &Path, end: &str, profile: &str) -> Option<Tables> {
        let release = text(&folder.join("release"));
        let mut all = Tables::default();
        let names: Vec<String> = recordings(folder).into_iter().filter(|name| name.ends_with(end)).collect();
        for name in &names {
            let table = folder.join(name);
            let counts = &validate(&table, &["--profile", profile]).1["placements"];
            println!("{release} {name}: {counts}");
            let quiet = counts["quiet"].as_u64().unwrap_or(0);
            all.quiet += quiet;
            all.differ += counts["quiet_divergent"].as_u64().unwrap_or(quiet);
            all.noticed.extend(noticed_in(&table, profile));
        }
        (!names.is_empty()).then_some(all)
    }

    /// Faults that were put in and not noticed.
    fn missed<'a>(&self, faults: &[&'a str]) -> Vec<&'a str> {
        faults.iter().copied().filter(|fault| !self.noticed.contains(*fault)).collect()
    }
}

/// Searches of balances for a group to take from, on the same machine and on a board with small and large CPUs, made
/// again by the rules of the release.
#[test]
fn searches_of_balances_of_every_kernel_are_made_again() {
    let mut wrong = Vec::new();
    let machines = [(SERVER, &WRONG_SEARCHES[..]), (BALANCED_BOARD, &WRONG_SEARCHES_BY_SIZE[..])];
    for (folder, faults) in machines.iter().flat_map(|(m, faults)| folders_of(m).into_iter().map(move |f| (f, faults)))
    {
        let name = series(&folder);
        let Some(all) = Tables::of(&folder, &format!("{BALANCES}.csv.gz"), &profile_of(&folder)) else {
            wrong.push(format!("{name}: no searches"));
            continue;
        };
        if !all.missed(faults).is_empty() {
            wrong.push(format!("{name}: {:?} are not noticed in balances", all.missed(faults)));
        }
        if all.quiet < SEARCHES_MIN || all.differ > 0 {
            let Tables { quiet, differ, .. } = all;
            wrong.push(format!(
                "{name}: {quiet} quiet searches, {differ} differ; {SEARCHES_MIN} and none are asked for"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Gates of CPUs that go idle, and of balances of domains, are decided again by the rules of the release.
#[test]
fn gates_of_balances_of_every_kernel_are_decided_again() {
    let mut wrong = Vec::new();
    for folder in [SERVER, BALANCED_BOARD].into_iter().flat_map(folders_of) {
        let name = series(&folder);
        let Some(all) = Tables::of(&folder, GATES, &profile_of(&folder)) else {
            println!("not measured: gates of {name}: not recorded, or the function that searches cannot be traced");
            continue;
        };
        if !all.missed(&WRONG_GATES).is_empty() {
            wrong.push(format!("{name}: {:?} are not noticed in gates", all.missed(&WRONG_GATES)));
        }
        if all.quiet < GATES_MIN || all.differ * 1000 > all.quiet * GATES_DIFFER_PERMILLE_MAX {
            wrong.push(format!("{name}: {} quiet gates, {} differ", all.quiet, all.differ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Balances are counted under every load, and every CPU's time is recorded.
#[test]
fn balances_of_every_kernel_are_counted() {
    for folder in &[SERVER, BALANCED_BOARD].map(folders_of).concat() {
        let release = text(&folder.join("release"));
        let names: Vec<String> = recordings(folder).into_iter().filter(|name| name.ends_with(BALANCES)).collect();
        if names.is_empty() {
            println!("not measured: balances of {}: none were recorded", series(folder));
        }
        for name in names {
            let counts = &json(&text(&folder.join(format!("{name}.json"))))["counts"];
            let kinds = counts["kinds"].as_array().expect("kinds");
            let sum = |count: &str| kinds.iter().filter_map(|kind| kind[count].as_u64()).sum::<u64>();
            println!(
                "{release} {name}: {} balances, {} tasks moved in {} s",
                sum("balances"),
                sum("detached"),
                counts["seconds"]
            );
            assert!(tells_all_time(counts) && sum("balances") > 0, "{release} {name}: {counts}");
        }
    }
}

/// Clamps of tasks, groups and the system that change all the time: what comes of them is computed again, and so are
/// placements meanwhile.
#[test]
fn clamps_of_every_kernel_are_what_the_core_computes() {
    let with_clamps =
        |folder: &Path| WITH_CLAMPS.contains(&kernel_of(folder).as_str()) && !series(folder).ends_with(SERVER);
    let folders = chosen("whose kernels have clamps", with_clamps);
    let wrong: Vec<String> = folders.iter().flat_map(|folder| clamped(folder)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Faults in the clamps of a kernel on a machine, in words.
fn clamped(folder: &Path) -> Vec<String> {
    let (name, profile) = (series(folder), profile_of(folder));
    let release = format!("{} ({name})", text(&folder.join("release")));
    recordings(folder);
    let table = folder.join(CLAMPS);
    let clamps = &validate(&table, &["--profile", &profile]).1["clamps"];
    let [decisions, not_decided, divergent] =
        ["decisions", "not_decided", "divergent"].map(|name| clamps[name].as_u64().unwrap_or(0));
    println!("{release}: {decisions} decisions about clamps, {not_decided} not decided, {divergent} divergent");
    let mut wrong = Vec::new();
    if divergent != 0 || decisions - not_decided < CLAMPS_MIN {
        wrong.push(format!("{release}: {CLAMPS_MIN} decisions and none divergent are asked for: {clamps}"));
    }
    let faults = validate(&table, &["--profile", &profile, "--self-test"]).1["faults"].clone();
    let is_missed = |fault: &&Value| fault["found"] != Value::Bool(true);
    let missed = faults.as_array().expect("faults").iter().filter(is_missed);
    wrong.extend(missed.map(|fault| format!("{release}: {fault}")));
    wrong.extend(clamped_placements(folder, &release, &profile));
    wrong
}

/// Every quiet one is chosen again. Of all, 999 of 1000 are asked for; how many are is printed (F-330).
fn clamped_placements(folder: &Path, release: &str, profile: &str) -> Option<String> {
    let placements = &validate(&folder.join(CLAMPED), &["--profile", profile]).1["placements"];
    let [decisions, quiet, divergent, quiet_divergent, between] =
        ["decisions", "quiet", "divergent", "quiet_divergent", "between"]
            .map(|name| placements[name].as_u64().unwrap_or(0));
    println!(
        "{release}: {decisions} placements under clamps, {divergent} otherwise, {between} of them between two looks; \
         {quiet} quiet, {quiet_divergent} otherwise"
    );
    (quiet == 0 || placements["quiet_divergent"] != 0).then(|| format!("{release}: {placements}"))
}

/// True if every CPU's time is recorded, as shares or, by the recorder of boards, as times.
fn tells_all_time(counts: &Value) -> bool {
    let numbers = |list: &Value| list.as_array().into_iter().flatten().filter_map(Value::as_f64).sum::<f64>();
    let whole_ns = counts["seconds"].as_f64().expect("a time") * 1e9;
    match counts["runnable_ns"].as_array() {
        Some(cpus) => cpus.iter().map(numbers).all(|ns| (ns - whole_ns).abs() < whole_ns / 100.0),
        None => (numbers(&counts["runnable_percent"]) - 100.0).abs() < 1e-6,
    }
}

fn folders_of(machine: &str) -> Vec<PathBuf> {
    chosen(&format!("`{machine}`"), |folder| series(folder).ends_with(machine))
}

/// The folders that something was recorded in; says so when there are others only.
fn chosen(what: &str, is_meant: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let all = folders();
    let meant: Vec<PathBuf> = all.iter().filter(|folder| is_meant(folder)).cloned().collect();
    if meant.is_empty() && !all.is_empty() {
        println!("not measured: recordings of machines {what} (make test-live says why)");
    }
    meant
}

/// Counts of a validated table of placements.
#[derive(Default)]
struct Counts {
    decisions: u64,
    divergent: u64,
    between: u64,
    by_energy: u64,
    energies: u64,
    idle_states: u64,
    pressure: u64,
}

/// Idle states that the kernel used while it placed tasks, each with what leaving it takes, us; or why there are none.
fn idle_states(folder: &Path) -> Result<BTreeSet<u64>, String> {
    let path = folder.join("idle");
    if !path.exists() {
        return Err("it made nothing of what the firmware tells of them".to_owned());
    }
    let used = |line: &str| {
        let [_, latency_us, used] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        (used != "0").then(|| latency_us.parse().ok()).flatten()
    };
    Ok(text(&path).lines().filter_map(used).collect())
}

/// Placements on the board must have been made while frequencies were limited, those on the server by idle states.
fn not_met(folder: &Path, machine: &str, all: &Counts) -> Option<String> {
    if BOARDS.contains(&machine) {
        return (all.pressure == 0).then(|| "no placement with a limited frequency".to_owned());
    }
    let states = match idle_states(folder) {
        Ok(states) => states,
        Err(why) => return (kernel_of(folder) != WITHOUT_IDLE_STATES).then_some(why),
    };
    (states.len() < 3 || all.idle_states == 0)
        .then(|| format!("{} placements with idle states, of which {states:?} were used", all.idle_states))
}

/// True for tables of placements alone: those under clamps are looked at elsewhere.
fn is_of_placements(name: &str) -> bool {
    name.ends_with(".csv.gz")
        && !name.ends_with(GATES)
        && !name.contains(BALANCES)
        && ![CLAMPS, CLAMPED].contains(&name)
}

/// Faults that must be noticed, with those of idle states where there are some; prints a line where there are none.
fn with_idle_states<'a>(folder: &Path, machine: &str, faults: &[&'a str]) -> Vec<&'a str> {
    if machine != SERVER {
        return faults.to_vec();
    }
    match idle_states(folder) {
        Ok(_) => [faults, &WRONG_IDLE_STATES].concat(),
        Err(why) => {
            println!("not measured: idle states of {}: {why}", text(&folder.join("release")));
            faults.to_vec()
        }
    }
}

/// Decides all placements of a kernel on a machine again: what is wrong with them.
fn decided(folder: &Path, machine: &str, faults: &[&str]) -> Vec<String> {
    let release = text(&folder.join("release"));
    let faults = &with_idle_states(folder, machine, faults)[..];
    let profile = profile_of(folder);
    assert_eq!(text(&folder.join("kernel-complaints")), "", "{release}");
    let (mut wrong, mut all, mut noticed) = (Vec::new(), Counts::default(), BTreeSet::new());
    // The last ones have most placements: faults are often noticed in the first that is looked at.
    for name in recordings(folder).into_iter().filter(|name| is_of_placements(name)).rev() {
        let table = folder.join(&name);
        let told = decided_table(&table, &profile, &mut all);
        wrong.extend(told.err().map(|what| format!("{release}{machine} {name}: {what}")));
        if !faults.iter().all(|fault| noticed.contains(*fault)) {
            noticed.extend(noticed_in(&table, &profile));
        }
    }
    let missed = faults.iter().filter(|fault| !noticed.iter().any(|name| name == **fault));
    wrong.extend(missed.map(|fault| format!("{release}{machine}: {fault} is not noticed")));
    wrong.extend(not_met(folder, machine, &all).map(|what| format!("{release}{machine}: {what}")));
    let Counts { decisions, divergent, between, by_energy, energies, idle_states, pressure } = all;
    println!(
        "{release}{machine}: {decisions} placements, {divergent} otherwise, {between} of them between two looks; \
         {by_energy} by energy, {energies} energies; {idle_states} with idle states, {pressure} with limited frequencies"
    );
    let boards = BOARDS.contains(&machine);
    if decisions < PLACEMENTS_MIN || divergent * 100 > decisions || boards && by_energy < BY_ENERGY_MIN {
        wrong.push(format!(
            "{release}{machine}: {PLACEMENTS_MIN} placements, 99 of 100 equal, and on boards {BY_ENERGY_MIN} by energy, are asked for"
        ));
    }
    wrong
}

/// Adds the placements of one table, decided again, to `all`.
fn decided_table(table: &Path, profile: &str, all: &mut Counts) -> Result<(), String> {
    let facts = json(&text(Path::new(&format!("{}.json", word(table)))));
    let placements = &validate(table, &["--profile", profile]).1["placements"];
    let count = |name: &str| placements[name].as_u64().unwrap_or(0);
    let [decisions, quiet, divergent] = ["decisions", "quiet", "divergent"].map(count);
    let [quiet_divergent, energies, differ] = ["quiet_divergent", "energies", "energies_differ"].map(count);
    let by_energy = placements["by_rule"][BY_ENERGY]["quiet"].as_u64().unwrap_or(0);
    println!(
        "{profile} {}: {decisions} placements, {} lost; {quiet} quiet, {quiet_divergent} of them otherwise, {divergent} of \
         all; {by_energy} quiet ones by energy, {energies} energies, {differ} of them differ",
        table.display(),
        facts["lost"]
    );
    all.decisions += decisions;
    all.divergent += divergent;
    all.between += count("between");
    all.by_energy += by_energy;
    all.energies += energies;
    all.idle_states += placements["met"]["idle_states"].as_u64().unwrap_or(0);
    all.pressure += placements["met"]["pressure"].as_u64().unwrap_or(0);
    let whole = Some(decisions) == facts["decisions"].as_u64();
    if quiet_divergent == 0 && differ == 0 && quiet > 0 && whole { Ok(()) } else { Err(placements.to_string()) }
}

/// Faults that are put into a table and noticed; an empty `profile` is that of the recording.
fn noticed_in(table: &Path, profile: &str) -> Vec<String> {
    let profile = ["--profile", profile];
    let named = if profile[1].is_empty() { &[][..] } else { &profile[..] };
    let (_, tested) = validate(table, &[named, &["--self-test"]].concat());
    let faults = tested["faults"].as_array().into_iter().flatten();
    let found = faults.filter(|fault| fault["found"] == Value::Bool(true));
    found.filter_map(|fault| fault["fault"].as_str().map(str::to_owned)).collect()
}

fn permille_allowed(name: &str) -> u64 {
    match name {
        "tracepoints" => TRACEPOINTS_DIVERGENT_PERMILLE_MAX,
        _ => 0,
    }
}

/// Parts that a recording of full calls must have and this one has not.
fn lacking(name: &str, validated: &Value, facts: &Value) -> Vec<String> {
    let signals = &validated["signals"];
    let groups: &[&str] = if ["cgroup-moves", "quotas", "idle-groups"].contains(&name) { &WITH_GROUPS } else { &[] };
    let mut lacking: Vec<String> = ALWAYS
        .iter()
        .chain(groups)
        .filter(|signal| signals[**signal]["checked"].as_u64().unwrap_or(0) == 0)
        .map(|signal| format!("nothing of {signal} was checked"))
        .collect();
    let notes = facts["notes"].as_array().into_iter().flatten();
    lacking.extend(notes.map(|note| format!("the recorder notes: {note}")));
    if validated["damaged"].as_u64() != Some(0) {
        lacking.push(format!("damaged records: {}", validated["damaged"]));
    }
    lacking
}

#[test]
fn faults_put_into_a_recording_are_noticed() {
    for folder in kernels() {
        let release = text(&folder.join("release"));
        for name in ["rt-fair", "cgroup-moves"] {
            let log = folder.join(format!("{name}.plog"));
            let tested = pelton(&["validate", "--self-test", word(&log), "--format", "json"]);
            let faults = json(&tested.stdout);
            assert_eq!(tested.code, 0, "{release} {name}: {faults}");
            let found = faults["faults"].as_array().into_iter().flatten().filter(|f| f["found"] == true).count();
            assert!(found >= 5, "{release} {name}: {faults}");
            let (outcome, other) = validate(&log, &["--profile", "4.12"]);
            assert_eq!(outcome.code, 1, "{release} {name}: the rules of 4.12 pass");
            let handed_up = other["signals"]["hand_up"]["divergent"].as_u64();
            assert!(name == "rt-fair" || handed_up > Some(0), "{release}: groups propagate by the rules of 4.12");
            println!(
                "{release} {name}: {found} faults found; by the rules of 4.12 {} records diverge, {} propagations",
                other["divergent"],
                handed_up.unwrap_or(0)
            );
        }
    }
}

#[test]
fn a_flipped_bit_in_the_file_is_damage() {
    let Some(folder) = kernels().into_iter().next() else { return };
    let mut bytes = std::fs::read(folder.join("rt-fair.plog")).expect("a recording");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let altered = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(altered.path(), &bytes).expect("room for the file");
    let (_, validated) = validate(altered.path(), &[]);
    assert_eq!(validated["complete"], false, "{}", validated["remarks"]);
}

/// Decisions of the core as scheduler that a load on the board must have made.
const DECISIONS_MIN: u64 = 2_000;
/// Wrong rules that must be noticed in them.
const WRONG_DECISIONS: [&str; 3] = ["no headroom", "waiting tasks are no demand", "estimates do not count"];

/// Every number that the core computed inside a kernel comes out here.
#[test]
fn decisions_of_the_core_as_scheduler_are_taken_again() {
    let folder = std::env::var_os("PELTON_LIVE_SCHEDULED").map(PathBuf::from);
    let recordings = folder.map(|folder| folder.join("scheduler-board/recordings"));
    let entries = recordings.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|p| p.join("live.json").is_file()).collect();
    if all.is_empty() {
        println!("not measured: decisions of the core as scheduler (make test-live records them)");
    }
    for recording in all {
        let counts = &validate(&recording, &[]).1["decisions"];
        println!("{}: {counts}", recording.display());
        let of = |name: &str| counts[name].as_u64().expect("a count");
        assert!(of("decisions") >= DECISIONS_MIN && of("not_decided") * 5 < of("decisions"), "{counts}");
        assert_eq!(of("divergent"), 0, "{counts}");
        let noticed = noticed_in(&recording, "");
        let missed: Vec<_> =
            WRONG_DECISIONS.iter().filter(|fault| !noticed.iter().any(|name| name == **fault)).collect();
        assert!(missed.is_empty(), "{missed:?} are not noticed");
    }
}
