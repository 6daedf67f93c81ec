// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of the governor, each with its chain of steps.

use super::Content;
use maud::{Markup, html};
use pelton_lab::explain::frequency::Explanation;
use pelton_lab::number::number;
use serde_json::{Value, json};

/// Decisions of every run that was followed.
pub fn section(content: &Content<'_>) -> Markup {
    if content.runs.iter().all(|run| run.decisions.is_empty()) {
        return html! {};
    }
    html! {
        section aria-labelledby="decisions" {
            h2 id="decisions" { "Decisions that moved most" }
            p {
                "Changes of the requested frequency, by the power of a busy CPU that they added or took (as the kernel's \
                 Energy Model has it; without one, by frequency) times how long they stayed, in the order of the run. Each opens to what it was made of; marks in the time lines lead here."
            }
            @for (side, (name, run)) in content.comparison.sides().zip(&content.runs).enumerate() {
                @if !run.decisions.is_empty() {
                    details.run { summary { "[" (side + 1) "] " (name) ": " (run.decisions.len()) " decisions" }
                        @for (at, decision) in run.decisions.iter().enumerate() { (one(side, at, decision)) }
                    }
                }
            }
        }
    }
}

/// Time, s, and domain of a decision, for its mark.
pub fn mark(decision: &Explanation) -> Value {
    json!([decision.time_ns as f64 / 1e9, decision.domain.0])
}

fn one(side: usize, at: usize, decision: &Explanation) -> Markup {
    let mhz = |khz: u32| number(f64::from(khz) / 1e3);
    let (from, to) = (mhz(decision.decision.prev_khz), mhz(decision.request_khz));
    html! {
        details id=(format!("d-{side}-{at}")) {
            summary {
                (format!("{:.6} s", decision.time_ns as f64 / 1e9)) ", " (decision.domain.1) ": " (from) " to " (to) " MHz"
            }
            (steps(decision))
        }
    }
}

/// The chain of a decision.
pub fn steps(decision: &Explanation) -> Markup {
    html! {
        dl.steps {
            @for step in &decision.steps {
                dt { (step.name) }
                dd { (step.text) small { (step.rule.section) ", " (step.rule.function) } }
            }
        }
    }
}
