// SPDX-License-Identifier: GPL-2.0-or-later
//! Requests to the lab for all that the command line does: each verb as a request, read from JSON, has the result that
//! the verb prints.

use crate::support::{good, pelton};
use pelton_lab::results::{Outcome, described};
use pelton_lab::verbs::check::{CheckRequest, check};
use pelton_lab::verbs::compare::{CompareRequest, compare};
use pelton_lab::verbs::difference::{DifferenceRequest, difference};
use pelton_lab::verbs::explain::{ExplainRequest, explain, placement};
use pelton_lab::verbs::export::{ExportRequest, export};
use pelton_lab::verbs::front::{FrontRequest, front};
use pelton_lab::verbs::inputs::ValidateRequest;
#[cfg(feature = "record")]
use pelton_lab::verbs::live::{LiveFiles, LiveRequest, LiveShow, POLICY, live, observe};
#[cfg(feature = "record")]
use pelton_lab::verbs::record::{RecordFiles, RecordRequest, Recorded, Report, Written, record};
use pelton_lab::verbs::replay::{ReplayRequest, replay};
use pelton_lab::verbs::reproduce::{ReproduceRequest, reproduce};
use pelton_lab::verbs::run::{RunRequest, run};
use pelton_lab::verbs::trace_info::{TraceInfoRequest, trace_info};
use pelton_lab::verbs::validate::validate;
use pelton_lab::verbs::why::{WhyRequest, why};
use pelton_lab::verbs::workload::{FromTraceRequest, from_trace};
use pelton_lab::watch::{Unwatched, Watch};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const LOAD: &str = "periodic:run_us=3000,period_us=10000,cpus=0 + busy:cpus=1";

/// A request as a program writes it; written again it reads as the same.
fn request<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: Value) -> T {
    let read: T = serde_json::from_value(json).expect("a request");
    let written = serde_json::to_string(&read).expect("JSON");
    assert_eq!(serde_json::from_str::<T>(&written).expect("a request"), read, "{written}");
    read
}

/// Output of the verb, one value.
fn printed(arguments: &[&str]) -> Value {
    let outcome = pelton(&[arguments, &["--format", "json", "--quiet"]].concat());
    assert!([0, 1, 5].contains(&outcome.code), "{arguments:?}: {}", outcome.stderr);
    let value: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    match value {
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        value => value,
    }
}

fn same<T: Outcome>(result: &T, arguments: &[&str]) {
    // As text and back, as what is printed: reading may round the last bit of a number.
    let ours = serde_json::to_string(&described(result)).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&ours).expect("JSON"), printed(arguments), "{arguments:?}");
}

fn input() -> Value {
    json!({"platform": "hikey-6220", "workload": LOAD, "duration_ns": 200_000_000})
}

fn trace() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("requests.plog");
    let log = path.to_str().expect("UTF-8");
    good(&["run", "--platform", "hikey-6220", "--workload", LOAD, "--duration", "200ms", "--log", log, "--quiet"]);
    path
}

#[test]
fn run_compare_front_and_explain() {
    let here = ["--platform", "hikey-6220", "--workload", LOAD, "--duration", "200ms"];
    let ask: RunRequest = request(json!({"input": input(), "policy": {"profile": "4.16", "sets": ["rt_signal=on"]}}));
    let words = [&["run", "--profile", "4.16", "--set", "rt_signal=on"], &here[..]].concat();
    same(&run(&ask, &Unwatched).expect("a run"), &words);

    let ask: CompareRequest =
        request(json!({"input": input(), "policies": ["4.16", "7.2"], "seeds": 2, "summary": true, "jobs": 2}));
    let words = [&["compare", "--policy", "4.16", "--policy", "7.2", "--seeds", "2", "--summary"], &here[..]].concat();
    same(&compare(&ask, &Unwatched).expect("a comparison"), &words);

    let ask: FrontRequest = request(json!({"platforms": ["hikey-6220"], "workloads": [LOAD], "seeds": 1,
        "policies": ["7.2", "composite"], "duration_ns": 200_000_000}));
    let words = [&["front", "--policy", "7.2", "--policy", "composite", "--seeds", "1"], &here[..]].concat();
    same(&front(&ask, &Unwatched).expect("fronts"), &words);

    let ask: WhyRequest = request(json!({"input": input(), "from": "6.6", "to": "7.2", "seeds": 1, "orders": 2,
        "metric": "transitions"}));
    let words =
        [&["why", "6.6", "7.2", "--seeds", "1", "--orders", "2", "--metric", "transitions"], &here[..]].concat();
    same(&why(&ask, None, &Unwatched).expect("shares"), &words);

    let ask: ExplainRequest = request(json!({"input": input(), "at_ns": 100_000_000, "changed": true}));
    same(
        &explain(&ask, &Unwatched).expect("a decision"),
        &[&["explain", "--at", "100ms", "--changed"], &here[..]].concat(),
    );

    let ask: DifferenceRequest =
        request(json!({"input": input(), "policies": [{"profile": "4.16"}, {"profile": "7.2"}]}));
    same(
        &difference(&ask, &Unwatched).expect("a difference"),
        &[&["explain", "--profile", "4.16", "--diff", "7.2"], &here[..]].concat(),
    );

    let load = "periodic:run_us=3000,period_us=10000 + busy";
    let ask: ExplainRequest = request(json!({"policy": {}, "task": "",
        "input": {"platform": "hikey-6220", "workload": load, "duration_ns": 200_000_000}}));
    let words = ["explain", "--placement", "--platform", "hikey-6220", "--workload", load, "--duration", "200ms"];
    same(&placement(&ask, &Unwatched).expect("a placement"), &words);
}

#[test]
fn numbers_of_a_request_are_checked_as_those_of_arguments() {
    let largest = u64::MAX;
    for (name, value) in [("duration_ns", largest), ("duration_ns", 0), ("rate_limit_us", largest)] {
        let mut wrong = input();
        wrong[name] = value.into();
        let ask: RunRequest = request(json!({"input": wrong}));
        let refused = run(&ask, &Unwatched).expect_err("it is out of range").to_string();
        assert!(refused.contains(name) && refused.contains("out of range"), "{refused}");
    }
    let ask: CompareRequest = request(json!({"input": input(), "policies": []}));
    assert!(compare(&ask, &Unwatched).is_err_and(|why| why.to_string().contains("no policy")));
    for seeds in [0, largest] {
        let ask: CompareRequest = request(json!({"input": input(), "policies": ["7.2"], "seeds": seeds}));
        assert!(compare(&ask, &Unwatched).is_err_and(|why| why.to_string().contains("out of range")));
    }
}

#[test]
fn check_a_behaviour() {
    let ask: CheckRequest =
        request(json!({"behaviour": "capped-task", "boards": ["juno-r0"], "policy": "6.6", "seeds": 2}));
    let words = ["check", "capped-task", "--board", "juno-r0", "--policy", "6.6", "--seeds", "2"];
    same(&check(&ask, &Unwatched).expect("verdicts"), &words);
}

#[test]
fn reproduce_a_table() {
    let ask: ReproduceRequest = request(json!({"name": "rt-utilization", "seeds": 1, "only": ["transitions.without"]}));
    let all = reproduce(&ask, &Unwatched).expect("tables");
    let words = ["reproduce", "rt-utilization", "--seeds", "1", "--only", "transitions.without"];
    let mut ours = serde_json::to_value(described(&all.tables[0])).expect("JSON");
    let mut theirs = printed(&words);
    // How long it took is no part of the answer.
    for value in [&mut ours, &mut theirs] {
        value.as_object_mut().and_then(|table| table.remove("seconds")).expect("a time");
    }
    assert_eq!(ours, theirs);
}

#[test]
fn replay_validate_and_convert_a_trace() {
    let path = trace();
    let file = path.to_str().expect("UTF-8");
    let ask: ReplayRequest = request(json!({"trace": file, "check": true}));
    same(&replay(&ask, &Unwatched).expect("a replay"), &["replay", file, "--check"]);

    let ask: ValidateRequest = request(json!({"trace": file}));
    let answer = validate(&ask, &Unwatched).expect("an answer").value().expect("JSON");
    assert_eq!(answer, printed(&["validate", file]));
    let ask: ValidateRequest = request(json!({"trace": file, "self_test": true}));
    let answer = validate(&ask, &Unwatched).expect("an answer").value().expect("JSON");
    assert_eq!(answer, printed(&["validate", file, "--self-test"]));

    let ask: TraceInfoRequest = request(json!({"trace": file}));
    same(&trace_info(&ask, &Unwatched).expect("a trace").result, &["trace", "info", file]);

    for form in ["perfetto", "text", "log", "csv", "json"] {
        let ask: ExportRequest = request(json!({"trace": file, "to": form}));
        let mut ours = Vec::new();
        export(&ask, &mut ours, &Unwatched).expect("an export");
        let theirs = path.with_extension(form);
        good(&["trace", "export", file, "--to", form, "-o", theirs.to_str().expect("UTF-8"), "--quiet"]);
        assert!(ours == std::fs::read(theirs).expect("a file"), "{form}");
    }

    let ask: FromTraceRequest = request(json!({"trace": file, "model": true}));
    let text = from_trace(&ask, &Unwatched).expect("a workload");
    assert_eq!(text, good(&["workload", "from-trace", file, "--model", "--quiet"]));
}

#[test]
fn all_seeds_and_a_number_of_them_are_refused() {
    let ask: ReproduceRequest = request(json!({"name": "rt-utilization", "seeds": 1, "all_seeds": true}));
    let error = reproduce(&ask, &Unwatched).expect_err("two numbers").to_string();
    assert!(error.contains("both `seeds` and `all_seeds`"), "{error}");
}

#[test]
fn a_request_with_a_word_that_it_does_not_have_is_refused() {
    let error = serde_json::from_value::<RunRequest>(json!({"seeds": 3})).expect_err("no such word");
    assert!(error.to_string().contains("unknown field `seeds`"), "{error}");
}

/// Keeps what a recording hands out in memory.
#[cfg(feature = "record")]
#[derive(Default)]
struct Kept {
    begun: bool,
    events: u64,
    ended: bool,
}

#[cfg(feature = "record")]
impl RecordFiles for Kept {
    fn begin(&mut self, header: Option<&pelton_trace::RunHeader>) -> Result<(), pelton_lab::run::LabError> {
        assert!(header.is_some_and(|header| !header.cpus.is_empty()));
        self.begun = true;
        Ok(())
    }

    fn event(&mut self, _: u64, _: &pelton_schema::Event) {
        self.events += 1;
    }

    fn line(&mut self, _: &str) {}

    fn have_failed(&self) -> bool {
        false
    }

    fn end(&mut self, machine: Option<&str>) -> Result<Written, pelton_lab::run::LabError> {
        assert!(machine.is_none(), "events need no machine beside them");
        self.ended = true;
        Ok(Written::default())
    }
}

#[cfg(feature = "record")]
#[test]
fn a_recording_that_cannot_be_made_is_refused_in_the_same_words_and_begins_nothing() {
    let cases = [
        (json!({"events": ["shed"]}), &["record", "-o", "x", "--events", "shed"][..]),
        (json!({"events": []}), &["record", "-o", "x", "--events", ","]),
        (json!({"load": "mixt"}), &["record", "-o", "x", "--load", "mixt"]),
        (json!({"command": ["no-such-program"]}), &["record", "-o", "x", "--", "no-such-program"]),
        (json!({"btf": "/nonexistent/btf"}), &["record", "-o", "x", "--btf", "/nonexistent/btf"]),
    ];
    for (json, arguments) in cases {
        let ask: RecordRequest = request(json);
        let mut kept = Kept::default();
        let error = record(&ask, &mut kept, &Unwatched).expect_err("refused").to_string();
        let outcome = pelton(arguments);
        assert!(outcome.code != 0 && outcome.stderr.contains(&error), "{error}\n{}", outcome.stderr);
        assert!(!kept.begun, "{error}");
    }
    let default: RecordRequest = request(json!({}));
    assert_eq!(default.events.join(","), "sched,freq,idle,pelt,energy", "as --events has it");
    let searches: RecordRequest = request(json!({"subject": "searches", "command": ["make", "-j"]}));
    assert_eq!(searches.workload(), "make -j");
}

#[cfg(feature = "record")]
#[test]
fn a_recording_is_a_request() {
    let ask: RecordRequest = request(json!({"duration_ns": 50_000_000}));
    let mut kept = Kept::default();
    let Recorded { report: Report::Events(report), command_code: None } = (match record(&ask, &mut kept, &Unwatched) {
        Ok(recorded) => recorded,
        Err(error) => return println!("not measured: a recording of the running kernel: {error}"),
    }) else {
        panic!("events were asked for");
    };
    assert!(kept.begun && kept.ended);
    assert_eq!(report.total, kept.events);
}

/// A caller to which nothing is shown.
#[cfg(feature = "record")]
struct Nothing;

#[cfg(feature = "record")]
impl LiveShow for Nothing {
    fn machine(&mut self, _: &str) -> Result<(), pelton_lab::run::LabError> {
        panic!("the policy is wrong: the machine is not looked at")
    }

    fn begins(&mut self, _: Option<u32>) {
        panic!("nothing begins")
    }

    fn status(&mut self, _: &pelton_lab::results::live::LiveStatus) -> Result<(), pelton_lab::run::LabError> {
        panic!("there is no state")
    }

    fn serve(&mut self, _: &dyn Fn() -> String) {}
}

#[cfg(feature = "record")]
impl LiveFiles for Nothing {
    fn open(&mut self, _: pelton_trace::decided::DecidedTable) -> Result<(), pelton_lab::run::LabError> {
        panic!("nothing is recorded")
    }

    fn line(&mut self, _: pelton_trace::decided::DecidedTable, _: &str) {}

    fn have_failed(&self) -> bool {
        false
    }

    fn end(&mut self, _: &str) -> Result<Vec<String>, pelton_lab::run::LabError> {
        panic!("nothing was recorded")
    }
}

#[cfg(feature = "record")]
#[test]
fn a_scheduler_is_a_request_and_a_wrong_policy_is_refused_in_the_same_words() {
    let default: LiveRequest = request(json!({}));
    assert_eq!(default.policy.typed.as_deref(), Some(POLICY), "as --policy has it");
    let ask: LiveRequest = request(json!({"policy": {"profile": "7.2", "sets": ["uclmp=debt"]},
        "placement": "kernel", "own_clamps": true, "frequencies": false, "duration_ns": 50_000_000}));
    for (error, observes) in [
        (live(&ask, &mut Nothing, &mut Nothing, &Unwatched).err(), false),
        (observe(&ask, &mut Nothing, &mut Nothing, &Unwatched).err(), true),
    ] {
        let error = error.expect("refused").to_string();
        let words = ["live", "--policy", "7.2", "--set", "uclmp=debt", "--for", "50ms", "--observe"];
        let outcome = pelton(&words[..if observes { 8 } else { 7 }]);
        assert!(outcome.code == 3 && outcome.stderr.contains(error.trim_end()), "{error}\n{}", outcome.stderr);
    }
}

/// A caller that went away before the answer.
struct Gone;

static STOP: AtomicBool = AtomicBool::new(true);

impl Watch for Gone {
    fn stop(&self) -> &'static AtomicBool {
        &STOP
    }
}

#[test]
fn whoever_watches_can_end_the_work() {
    let ask: RunRequest = request(json!({"input": input()}));
    let error = run(&ask, &Gone).expect_err("stopped");
    assert!(error.to_string().contains("interrupted"), "{error}");
}
