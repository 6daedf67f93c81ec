// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton kernel diff`: decisions of a kernel's own code that are not the core's.

use super::common::{failure, section};
use super::kernel::{Steps, say};
use super::kernel_state::{answers, fields, machine};
use crate::args::{Global, KernelDiffArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::results::kernel::{KernelDiff, KernelDifference};
use pelton_lab::verbs::kernel_diff::{self, KernelDiffRequest};

/// Fields of a state that a table shows; JSON has all.
const FIELDS_SHOWN: usize = 12;

/// Compares an image with the core.
pub fn diff(args: &KernelDiffArgs, global: &Global) -> Result<Exit, Failure> {
    let request = KernelDiffRequest {
        name: args.name.clone(),
        against: args.against.clone(),
        states: args.states,
        seed: args.seed,
    };
    let found = kernel_diff::diff(&request, &Steps::new(global)).map_err(failure)?;
    say(&found, || text(&found), &table(&found, usize::MAX), global)?;
    Ok(if found.equal { Exit::Good } else { Exit::ClaimFails })
}

fn text(found: &KernelDiff) -> String {
    let machines = found.operations.iter().filter_map(machine_of);
    [
        format!(
            "kernel {}, Linux {}, against the core's {}: {} operations, {} states of each\n",
            found.kernel,
            found.release,
            found.against,
            found.operations.len(),
            grouped(found.states),
        ),
        sentence(found),
        section("", &table(found, FIELDS_SHOWN)),
        machines.collect(),
        explained(found),
        failed(found),
        left_out(found),
    ]
    .concat()
}

/// Decisions that differ, in a sentence.
fn sentence(found: &KernelDiff) -> String {
    if found.equal && !found.left_out.is_empty() {
        return "no operation differs of those that could be compared\n".to_owned();
    }
    if found.equal {
        return format!("no operation differs: this kernel decides as {} does\n", found.against);
    }
    match found.decisions.as_slice() {
        [] => "no operation differs, and some could not be compared\n".to_owned(),
        [one] => format!("this kernel moves {one}, and nothing else\n"),
        [first, more @ ..] => format!("this kernel moves {first}; it also moves {}\n", listed(more)),
    }
}

/// Words in a row: \"a, b and c\".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Operations that differ, with their smallest states; of each state at most so many fields.
fn table(found: &KernelDiff, most: usize) -> Sheet {
    let header = ["<operation", "states", "differ", "<smallest state", "<kernel", "<core"];
    let mut sheet = Sheet::new(&header);
    for op in found.operations.iter().filter(|op| op.differ > 0) {
        let (state, kernel, core) = match &op.smallest {
            Some(state) if state.machine.is_some() => {
                let (kernel, core) = answers(op, state);
                ("a machine, below".to_owned(), kernel, core)
            }
            Some(state) => {
                let (kernel, core) = answers(op, state);
                (fields(&state.fields, most), kernel, core)
            }
            None => Default::default(),
        };
        sheet.row(vec![op.operation.clone(), op.states.to_string(), op.differ.to_string(), state, kernel, core]);
    }
    sheet
}

/// Smallest machine of an operation, as a paragraph.
fn machine_of(op: &KernelDifference) -> Option<String> {
    let state = op.smallest.as_ref()?;
    let (kernel, core) = answers(op, state);
    let lines = machine(state.machine.as_ref()?, &state.fields);
    Some(format!("\n{}: the smallest machine\n{lines}  kernel: {kernel}\n  core: {core}\n", op.operation))
}

/// Switches that explain what differs.
fn explained(found: &KernelDiff) -> String {
    let lines = found.explained.iter().map(|explained| match explained.others.as_slice() {
        [] => format!("equal to {} in {} states of each\n", explained.policy, grouped(found.states)),
        others => format!(
            "what differs is equal to {} in {} states of each; with it others differ: {}\n",
            explained.policy,
            grouped(found.states),
            others.join("; ")
        ),
    });
    let lines: String = lines.collect();
    match (found.decisions.is_empty(), lines.is_empty()) {
        (true, _) => String::new(),
        (false, true) => "\nno switch of the core, and no two, explain it\n".to_owned(),
        (false, false) => format!("\n{lines}"),
    }
}

/// Operations that could not be compared to the end.
fn failed(found: &KernelDiff) -> String {
    let mut sheet = Sheet::new(&["<operation", "<why"]);
    for op in &found.operations {
        if let Some(why) = &op.failed {
            sheet.row(vec![op.operation.clone(), why.clone()]);
        }
    }
    section("Not compared: the kernel's code failed", &sheet)
}

/// Parts that do not compile with the tree.
fn left_out(found: &KernelDiff) -> String {
    let mut sheet = Sheet::new(&["<part", "<why"]);
    for part in &found.left_out {
        sheet.row(vec![part.part.clone(), part.reason.clone()]);
    }
    section("Not compared: the comparison does not compile with this tree", &sheet)
}

/// Number with a comma at the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_lab::results::kernel::{KernelAnswer, KernelExplained, KernelField, KernelMachine, KernelState};

    fn field(name: &str, value: i64) -> KernelField {
        KernelField { name: name.to_owned(), value }
    }

    fn operation(name: &str, decision: &'static str, smallest: Option<KernelState>) -> KernelDifference {
        KernelDifference {
            operation: name.to_owned(),
            decision,
            states: 20_000,
            differ: if smallest.is_some() { 1705 } else { 0 },
            warnings: 0,
            failed: None,
            smallest,
        }
    }

    fn answer(kernel: i64, core: i64) -> Vec<KernelAnswer> {
        vec![KernelAnswer { name: "ret".to_owned(), kernel, core }]
    }

    fn found() -> KernelDiff {
        let state = KernelState {
            fields: vec![field("cs[0].cap_orig", 8), field("cs[0].util_cfs", 6)],
            answers: answer(6, 7),
            machine: None,
        };
        let machine = KernelMachine {
            facts: vec![field("prev_cpu", 1)],
            task: vec![field("allowed", 3), field("util_est", 27)],
            waker: Vec::new(),
            cpus: vec![vec![field("capacity", 446), field("idle", 1)], vec![field("capacity", 1024)]],
            models: Vec::new(),
        };
        let placed = KernelState { fields: Vec::new(), answers: answer(1, 0), machine: Some(machine) };
        KernelDiff {
            kernel: "mine".to_owned(),
            release: "6.12.118".to_owned(),
            against: "6.12".to_owned(),
            states: 20_000,
            seed: 1,
            equal: false,
            decisions: vec!["frequencies".to_owned(), "placements".to_owned()],
            operations: vec![
                operation("sugov_get_util", "frequencies", Some(state)),
                operation("select_task_rq_fair", "placements", Some(placed)),
                operation("menu_select", "idle states", None),
            ],
            explained: vec![KernelExplained { policy: "6.12,runnable_boost=off".to_owned(), others: Vec::new() }],
            left_out: Vec::new(),
        }
    }

    #[test]
    fn what_moves_is_said_in_words_with_the_smallest_states_and_the_switch() {
        let shown = text(&found());
        for words in [
            "3 operations, 20,000 states of each",
            "this kernel moves frequencies; it also moves placements",
            "cs[0].util_cfs=6",
            "CPU 0: capacity 446, idle",
            "may use 0-1",
            "kernel: CPU 1\n  core: CPU 0",
            "equal to 6.12,runnable_boost=off in 20,000 states of each",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.contains("menu_select"), "{shown}");
    }

    #[test]
    fn an_equal_kernel_and_an_unexplained_one_are_said_to_be() {
        let found = found();
        let unexplained = KernelDiff { explained: Vec::new(), ..found.clone() };
        assert!(text(&unexplained).contains("no switch of the core, and no two, explain it"));
        let equal = KernelDiff {
            equal: true,
            decisions: Vec::new(),
            explained: Vec::new(),
            operations: found.operations[2..].to_vec(),
            ..found
        };
        let shown = text(&equal);
        assert!(shown.contains("this kernel decides as 6.12 does") && !shown.contains("explain"), "{shown}");
        assert_eq!((grouped(7), grouped(1_234_567)), ("7".to_owned(), "1,234,567".to_owned()));
    }
}
