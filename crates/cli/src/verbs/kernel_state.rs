// SPDX-License-Identifier: GPL-2.0-or-later
//! States of `pelton kernel diff` in words: fields, a machine, a question and two answers.

use pelton_lab::results::kernel::{KernelDifference, KernelField, KernelMachine, KernelState};
use std::fmt::Write;

/// Functions whose answer is a CPU.
const PLACES: &[&str] = &["select_task_rq", "find_energy_efficient_cpu"];

/// Reasons for a placement, as bits of the kernel's flags.
const FLAGS: &[(i64, &str)] = &[
    (0x2, "loads a program"),
    (0x4, "is new"),
    (0x8, "wakes"),
    (0x10, "its waker sleeps then"),
    (0x40, "to the CPU that wakes it"),
];

/// Fields in a line, at most so many.
pub fn fields(fields: &[KernelField], most: usize) -> String {
    let shown: Vec<String> = fields.iter().take(most).map(|field| format!("{}={}", field.name, field.value)).collect();
    let more = if fields.len() > most { format!(" and {} more", fields.len() - most) } else { String::new() };
    shown.join(" ") + &more
}

/// Answers of the kernel and of the core.
pub fn answers(op: &KernelDifference, state: &KernelState) -> (String, String) {
    let is_place = PLACES.iter().any(|place| op.operation.starts_with(place));
    let one = |name: &str, value: i64| match name {
        // Notes of the comparison: marks of overload and over-utilization.
        "irq" if op.operation.starts_with("should_we_balance") => format!("marks {value}"),
        "ret" if is_place => format!("CPU {value}"),
        "ret" => value.to_string(),
        "aux" => format!("second answer {value}"),
        "aux2" => format!("third answer {value}"),
        name => format!("{name}={value}"),
    };
    let side = |value: fn(&pelton_lab::results::kernel::KernelAnswer) -> i64| {
        state.answers.iter().map(|answer| one(&answer.name, value(answer))).collect::<Vec<_>>().join(" ")
    };
    (side(|answer| answer.kernel), side(|answer| answer.core))
}

/// Machine and question, a line for each CPU, performance domain and task.
pub fn machine(machine: &KernelMachine, question: &[KernelField]) -> String {
    let mut out = String::new();
    for (number, cpu) in machine.cpus.iter().enumerate() {
        let _ = writeln!(out, "  CPU {number}: {}", cpu_words(cpu));
    }
    for model in &machine.models {
        let _ = writeln!(out, "  {}", model_words(model));
    }
    let _ = writeln!(out, "  task: {}", task_words(machine));
    if !machine.waker.is_empty() {
        let _ = writeln!(out, "  waker: {}", rest(&machine.waker, &[]));
    }
    let facts = rest(&machine.facts, &["prev_cpu", "flags", "energy_aware"]);
    if !facts.is_empty() {
        let _ = writeln!(out, "  machine: {facts}");
    }
    if !question.is_empty() {
        let _ = writeln!(out, "  asked: {}", fields(question, usize::MAX));
    }
    out
}

fn value(fields: &[KernelField], name: &str) -> Option<i64> {
    fields.iter().find(|field| field.name == name).map(|field| field.value)
}

/// Fields but for some: "util_est 27, weight 1024".
fn rest(fields: &[KernelField], but: &[&str]) -> String {
    let words = fields.iter().filter(|field| !but.contains(&field.name.as_str()));
    words.map(|field| format!("{} {}", field.name, field.value)).collect::<Vec<_>>().join(", ")
}

fn cpu_words(cpu: &[KernelField]) -> String {
    let capacity = value(cpu, "capacity").unwrap_or_default();
    let mut words = vec![format!("capacity {capacity}")];
    if let Some(left) = value(cpu, "capacity_left").filter(|&left| left != capacity) {
        words.push(format!("{left} of it left"));
    }
    words.push(if value(cpu, "idle") == Some(1) { "idle" } else { "busy" }.to_owned());
    words.extend(["llc", "cluster", "core"].iter().filter_map(|name| Some(format!("{name} {}", value(cpu, name)?))));
    if value(cpu, "runs_task").is_some() {
        words.push("runs the task".to_owned());
    }
    let more = rest(cpu, &["capacity", "capacity_left", "idle", "llc", "cluster", "core", "runs_task"]);
    words.extend((!more.is_empty()).then_some(more));
    words.join(", ")
}

fn model_words(model: &[KernelField]) -> String {
    let states: Vec<&KernelField> = model.iter().skip(1).collect();
    let states = states.chunks(2).map(|pair| match pair {
        [khz, power] => format!("{} kHz {} uW", khz.value, power.value),
        _ => String::new(),
    });
    let states = states.collect::<Vec<_>>().join(", ");
    format!("performance domain of CPU {}: {states}", set(value(model, "cpus").unwrap_or_default()))
}

fn task_words(machine: &KernelMachine) -> String {
    let flags = value(&machine.facts, "flags").unwrap_or(0x8);
    let mut words: Vec<String> =
        FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, words)| (*words).to_owned()).collect();
    words.push(format!("was on CPU {}", value(&machine.facts, "prev_cpu").unwrap_or_default()));
    words.push(format!("may use {}", set(value(&machine.task, "allowed").unwrap_or_default())));
    let more = rest(&machine.task, &["allowed"]);
    words.extend((!more.is_empty()).then_some(more));
    words.join(", ")
}

/// Set of CPUs as a list: "0-3,6".
fn set(bits: i64) -> String {
    let has = |cpu: u32| cpu < 64 && bits >> cpu & 1 == 1;
    let mut parts = Vec::new();
    for first in (0..64).filter(|&cpu| has(cpu) && (cpu == 0 || !has(cpu - 1))) {
        let last = (first..64).take_while(|&cpu| has(cpu)).last().unwrap_or(first);
        parts.push(if first == last { first.to_string() } else { format!("{first}-{last}") });
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value: i64) -> KernelField {
        KernelField { name: name.to_owned(), value }
    }

    #[test]
    fn sets_are_lists() {
        let lists = [0, 1, 0b100_1111, -1].map(set);
        assert_eq!(lists, ["", "0", "0-3,6", "0-63"]);
    }

    #[test]
    fn a_machine_is_in_words() {
        let machine = KernelMachine {
            facts: vec![field("prev_cpu", 1), field("energy_aware", 1), field("flags", 0x18), field("overutilized", 1)],
            task: vec![field("allowed", 3), field("util_est", 27)],
            waker: vec![field("load", 5)],
            cpus: vec![vec![
                field("capacity", 446),
                field("llc", 0),
                field("idle", 0),
                field("capacity_left", 400),
                field("nr_running", 2),
            ]],
            models: vec![vec![field("cpus", 3), field("freq_khz", 199_000), field("power_uw", 236_000)]],
        };
        let words = super::machine(&machine, &[field("util", 7)]);
        for line in [
            "CPU 0: capacity 446, 400 of it left, busy, llc 0, nr_running 2",
            "performance domain of CPU 0-1: 199000 kHz 236000 uW",
            "task: wakes, its waker sleeps then, was on CPU 1, may use 0-1, util_est 27",
            "waker: load 5",
            "machine: overutilized 1",
            "asked: util=7",
        ] {
            assert!(words.contains(line), "{line}: {words}");
        }
    }

    #[test]
    fn many_fields_are_cut() {
        let many: Vec<KernelField> = (0..5).map(|value| field("a", value)).collect();
        assert_eq!(fields(&many, 2), "a=0 a=1 and 3 more");
    }
}
