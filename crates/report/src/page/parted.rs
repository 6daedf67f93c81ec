// SPDX-License-Identifier: GPL-2.0-or-later
//! The first decision in which a policy differs from the first one.

use super::Content;
use super::decisions::steps;
use maud::{Markup, html};
use pelton_lab::explain::frequency::Explanation;
use pelton_lab::explain::placement;
use pelton_lab::number::number;
use pelton_lab::verbs::difference::{Difference, First, Side};

/// Runs of the first seed, up to where they part.
pub fn section(content: &Content<'_>) -> Markup {
    if content.parted.is_empty() {
        return html! {};
    }
    let names: Vec<String> = content.comparison.sides().collect();
    html! {
        section aria-labelledby="parted" {
            h2 id="parted" { "Where they part" }
            p {
                "The first change of a requested frequency, or place of a task, that the run of the first policy and seed does \
                 not have; up to then both are the same."
            }
            @for (at, difference) in &content.parted {
                h3 { "[" (at + 1) "] " (names[*at]) }
                (of_side(*at, difference))
            }
        }
    }
}

fn of_side(at: usize, difference: &Difference) -> Markup {
    let same = difference.same_outcomes;
    match &difference.first {
        None if difference.is_whole => html! { p { "Nowhere: all " (same) " changes and places are the same." } },
        None => html! { p { "Not in the first " (same) " changes and places." } },
        Some(first) => html! {
            p { (same) " changes and places are the same; then, at " (seconds(first.time_ns)) ", " (first.of) ":" }
            (decision([0, at], &first.sides[0], first))
            (decision([at, 0], &first.sides[1], first))
        },
    }
}

/// Decision of one side, beside that of another.
fn decision([at, beside]: [usize; 2], side: &Side, first: &First) -> Markup {
    let when = |time_ns: u64| match time_ns == first.time_ns {
        true => String::new(),
        false => format!(", at {}, the last before", seconds(time_ns)),
    };
    html! {
        @match (&side.frequency, &side.placement) {
            (Some(one), _) => details {
                summary { "[" (at + 1) "] " (requested(one)) (when(one.time_ns)) }
                (steps(one))
            },
            (None, Some(one)) => details {
                summary { "[" (at + 1) "] CPU " (one.prev_cpu) " to " (one.chosen_cpu) ": " (one.rule) (when(one.time_ns)) }
                (places(one, &format!("[{}], beside [{}]", at + 1, beside + 1)))
            },
            (None, None) => p { "[" (at + 1) "] no decision about it up to then" },
        }
    }
}

fn requested(one: &Explanation) -> String {
    let mhz = |khz: u32| number(f64::from(khz) / 1e3);
    match one.decision.prev_khz == one.request_khz {
        true => format!("{} MHz stays", mhz(one.request_khz)),
        false => format!("{} to {} MHz", mhz(one.decision.prev_khz), mhz(one.request_khz)),
    }
}

/// Each CPU as a place for the task.
fn places(one: &placement::Explanation, of: &str) -> Markup {
    let headings = ["CPU", "role", "tasks", "state", "capacity", "with the task", "spare", "fits", "energy added"];
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("Table: CPUs as places for the task, {of}")) {
            table {
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody { @for place in &one.candidates {
                    tr {
                        th scope="row" { (place.cpu) }
                        td { (place.roles.join(", ")) }
                        td.n { (place.running) }
                        td { @if !place.allowed { "not allowed" } @else if place.idle { "idle" } @else { "busy" } }
                        td.n { (place.capacity) }
                        td.n { (place.util_with_task) }
                        td.n { (place.spare) }
                        td { (place.fits) }
                        td.n { (place.energy_added.map_or_else(|| "not asked".to_owned(), |energy| energy.to_string())) }
                    }
                } }
            }
        }
    }
}

fn seconds(time_ns: u64) -> String {
    format!("{:.6} s", time_ns as f64 / 1e9)
}
