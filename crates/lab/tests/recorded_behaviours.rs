// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour files and a recording of a real board: trace.dat of a Juno r0 (LISA, tests/assets/sched_load, Apache-2.0),
//! which has no task of theirs; and what claims about a task of it are, computed from its text.

use pelton_lab::behaviour::result::{Checked, Holds};
use pelton_lab::verbs::check::{CheckRequest, check};
use pelton_lab::watch::Unwatched;
use pelton_scenario::behaviour;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "traces/lisa-juno-r0-sched_load";
/// A daemon of that board, its only thread of the name, and its small CPUs.
const TASK: (&str, &str) = ("sshd", "2928");
const SMALL: [u32; 4] = [0, 3, 4, 5];
const MS: u64 = 240;

/// A file of the recording, which is not in the repository: of `$PELTON_SHARED_DATA`, or beside it.
fn recorded(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("PELTON_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let found = Some(folder.join(FOLDER).join(name)).filter(|path| path.exists());
    if found.is_none() {
        println!("not measured: {FOLDER}/{name} (no $PELTON_SHARED_DATA)");
    }
    found
}

fn judged(name: &str, text: Option<String>, trace: &Path) -> Checked {
    let request = CheckRequest {
        behaviour: name.to_owned(),
        behaviour_text: text,
        boards: vec!["juno-r0".to_owned()],
        trace: Some(trace.to_owned()),
        ..CheckRequest::default()
    };
    check(&request, &Unwatched).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn no_verdict_is_about_tasks_that_a_recording_does_not_have() {
    let Some(trace) = recorded("trace.dat.xz") else { return };
    for name in behaviour::names() {
        let result = judged(name, None, &trace);
        for verdict in &result.boards[0].verdicts {
            assert_eq!(verdict.verdict, Holds::NotMeasured, "{name}: {verdict:?}");
            let reason = verdict.reason.as_deref().unwrap_or_default();
            assert!(reason.contains("no thread of these tasks was seen"), "{name}: {verdict:?}");
        }
        assert!(result.remarks.iter().any(|said| said.starts_with("0 of ")), "{name}: {:?}", result.remarks);
    }
}

#[test]
fn shares_of_a_recorded_task_are_those_of_its_text() {
    let (Some(trace), Some(text)) = (recorded("trace.dat.xz"), recorded("trace.txt.gz")) else { return };
    let unpacked = Command::new("gzip").arg("-dc").arg(&text).output().expect("gzip runs");
    let ran_ns = ran(&String::from_utf8(unpacked.stdout).expect("text"));
    let of = |is_wanted: &dyn Fn(u32) -> bool| -> u64 {
        ran_ns.iter().filter(|(cpu, _)| is_wanted(**cpu)).map(|(_, ns)| *ns).sum()
    };
    let (small_ns, all_ns) = (of(&|cpu| SMALL.contains(&cpu)), of(&|_| true));
    assert!(0 < small_ns && small_ns < all_ns, "it runs on both: {ran_ns:?}");

    let result = judged("daemon.toml", Some(daemon()), &trace);
    let [residency, placed] = &result.boards[0].verdicts[..] else { panic!("{:?}", result.boards) };
    let share = small_ns as f64 / all_ns as f64 * 100.0;
    assert!(residency.value.is_some_and(|value| (value - share).abs() < 0.01), "{share}: {residency:?}");
    assert_eq!(residency.verdict, Holds::Holds);
    assert_eq!(placed.verdict, Holds::NotMeasured);
    assert!(placed.reason.as_deref().is_some_and(|why| why.contains("no sched_wakeup with the CPU")), "{placed:?}");
}

/// A behaviour file about the daemon.
fn daemon() -> String {
    let claim = |id: &str, measure: &str| {
        let text = "text = \"mostly on small CPUs\"\non = \"smallest\"\nmin = 90\n";
        format!("[[claim]]\nid = \"{id}\"\nmeasure = \"{measure}\"\n{text}")
    };
    format!(
        "schema = 1\nname = \"daemon\"\nquestion = \"Where does it run?\"\nboards = [\"juno-r0\"]\nduration_ms = {MS}\n\
         [[task]]\nname = \"{}\"\nutil_pct = 5\n{}{}[[wrong_world]]\nname = \"none\"\nwhy = \"no look at energy\"\n\
         [wrong_world.set]\nenergy_aware = \"off\"\n",
        TASK.0,
        claim("runs", "residency_pct"),
        claim("put", "placed_pct"),
    )
}

/// Run time of the task on each CPU, ns, in the first [`MS`] since it is seen:
/// `NAME-TID [CPU] TIME: sched_switch: NAME:TID [PRIO] STATE ==> NAME:TID [PRIO]`.
fn ran(text: &str) -> BTreeMap<u32, u64> {
    let (mut ran_ns, mut since) = (BTreeMap::new(), BTreeMap::<u32, u64>::new());
    let mut start_ns = None;
    for line in text.lines().filter(|line| line.contains("sched_switch:")) {
        let (head, tail) = line.split_once("sched_switch:").expect("it is there");
        let (time, cpu) = time_and_cpu(head);
        let (prev, next) = tail.split_once("==>").expect("an arrow");
        let is_task = |side: &str| side.trim().starts_with(&format!("{}:{} ", TASK.0, TASK.1));
        if is_task(prev) || is_task(next) {
            start_ns.get_or_insert(time);
        }
        let end_ns = start_ns.map_or(u64::MAX, |start| start + MS * 1_000_000);
        if let Some(from) = since.remove(&cpu) {
            *ran_ns.entry(cpu).or_default() += time.min(end_ns).saturating_sub(from);
        }
        if is_task(next) {
            since.insert(cpu, time);
        }
    }
    ran_ns
}

/// Time, ns, and CPU of a line's head.
fn time_and_cpu(head: &str) -> (u64, u32) {
    let (_, rest) = head.rsplit_once('[').expect("a CPU");
    let (cpu, time) = rest.split_once(']').expect("a CPU");
    let (s, ns) = time.trim().trim_end_matches(':').split_once('.').expect("seconds");
    let number = |digits: &str| digits.parse::<u64>().expect("a number");
    (number(s) * 1_000_000_000 + number(ns), cpu.parse().expect("a number"))
}
