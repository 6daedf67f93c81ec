// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines that the comparing program writes.

use super::Compared;
use serde::Deserialize;

/// Field of a state and its value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Field {
    /// Name, as the core has it.
    pub name: String,
    /// Value.
    pub value: i64,
}

/// Field in which the answers differ.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Answer {
    /// Name; `ret` is the function's value.
    pub name: String,
    /// Answer of the kernel's code.
    pub kernel: i64,
    /// Answer of the core.
    pub core: i64,
}

/// State in which the answers differ: fields that are not listed are 0, those of machines have nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct State {
    /// Fields.
    pub fields: Vec<Field>,
    /// Answers.
    pub answers: Vec<Answer>,
    /// Machine, where the question is one of placement or balance.
    pub machine: Option<Machine>,
}

/// Machine of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Machine {
    /// Facts about the machine and the call.
    pub facts: Vec<Field>,
    /// Task that is placed.
    pub task: Vec<Field>,
    /// Task that wakes it.
    pub waker: Vec<Field>,
    /// CPUs, by their numbers.
    pub cpus: Vec<Vec<Field>>,
    /// Performance domains: their CPUs, then frequencies and powers.
    pub models: Vec<Vec<Field>>,
}

/// Switch of the core and a value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Setting {
    /// Name.
    pub switch: String,
    /// Value.
    pub value: String,
}

#[derive(Deserialize)]
struct Line {
    operation: String,
    cases: u64,
    differ: u64,
    warnings: u64,
    state: Option<State>,
}

#[derive(Deserialize)]
struct Explanation {
    switches: Vec<Setting>,
}

/// Line of a comparison.
pub fn compared(line: &str) -> Option<Compared> {
    let line: Line = serde_json::from_str(line).ok()?;
    Some(Compared {
        operation: line.operation,
        states: line.cases,
        differ: line.differ,
        warnings: line.warnings,
        failed: None,
        smallest: line.state,
    })
}

/// Line of a search.
pub fn explanation(line: &str) -> Option<Vec<Setting>> {
    Some(serde_json::from_str::<Explanation>(line).ok()?.switches)
}

/// Operation of a line of the list, if the kernel has it: release, name, core's name, 1 or 0.
pub fn listed(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split('\t').collect();
    (words.len() == 4 && words[3] == "1").then(|| words[1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACEMENT: &str = r#"{"operation":"select_task_rq_fair","cases":5000,"differ":229,"warnings":0,"state":{
        "fields":[],"answers":[{"name":"ret","kernel":0,"core":2}],"machine":{
        "facts":[{"name":"prev_cpu","value":0},{"name":"energy_aware","value":0},{"name":"flags","value":4}],
        "task":[{"name":"allowed","value":5}],"waker":[],
        "cpus":[[{"name":"capacity","value":1024}],[{"name":"capacity","value":446}]],"models":[]}}}"#;

    #[test]
    fn lines_are_read() {
        let placed = compared(PLACEMENT).expect("a line");
        let state = placed.smallest.expect("a state");
        assert_eq!((placed.states, placed.differ, state.answers[0].core), (5000, 229, 2));
        assert_eq!(state.machine.expect("a machine").cpus[1][0].value, 446);
        let equal = r#"{"operation":"update_curr","cases":20,"differ":0,"warnings":1,"state":null}"#;
        assert!(compared(equal).is_some_and(|op| op.is_equal() && op.warnings == 1 && op.smallest.is_none()));
        assert!(compared("{\"operation\":\"cut").is_none());
    }

    #[test]
    fn explanations_and_lists_are_read() {
        let pair = r#"{"switches":[{"switch":"gate","value":"on"},{"switch":"headroom","value":"off"}]}"#;
        let pair = explanation(pair).expect("a pair");
        assert_eq!(super::super::rules("6.12", &pair), "6.12,gate=on,headroom=off");
        assert_eq!(listed("6.12.118\tupdate_curr\tpelton_update_curr\t1").as_deref(), Some("update_curr"));
        assert_eq!(listed("6.12.118\tsched_slice\tpelton_sched_slice\t0"), None);
    }
}
