// SPDX-License-Identifier: GPL-2.0-or-later
//! The page: one file with its tables, pictures and columns, a style and a script. Without the script tables, pictures
//! and explanations are there.

mod command;
mod decisions;
mod parted;
mod tables;
pub mod value;
mod words;

use crate::chart::{compared, svg};
use crate::pack;
use crate::request::{Followed, ReportRequest};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use pelton_lab::compare::{Comparison, is_answer};
use pelton_lab::number::number;
use pelton_lab::plan::PowerWords;
use pelton_lab::verbs::difference::Difference;
use serde_json::json;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The library that draws time lines; empty where this program was built without it.
const LINES_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/lines.js"));
const LINES_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/lines.css"));
const LINES_LICENCE: &str = include_str!(concat!(env!("OUT_DIR"), "/lines.txt"));
/// A page loads nothing: what is in it is all that it may use.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Content of the page of a comparison.
pub(crate) struct Content<'a> {
    /// Numbers over all seeds.
    pub comparison: &'a Comparison,
    /// A run of each side.
    pub runs: Vec<Followed>,
    /// First decisions in which sides differ from the first one.
    pub parted: Vec<(usize, Difference)>,
    /// Sources of power.
    pub powers: PowerWords,
    /// The request, so that its readers can make it again.
    pub request: &'a ReportRequest,
}

/// The whole file.
pub(crate) fn html(content: &Content<'_>) -> String {
    let about = &content.comparison.run;
    let title = format!("{} on {}", about.workload, about.platform);
    let body = html! {
        (answer(content))
        @if content.runs.iter().any(|run| !run.panels.is_empty()) { (lines(content)) }
        (parted::section(content))
        (decisions::section(content))
        (pictures(content))
        (tables::all(content.comparison))
        (inputs(content))
    };
    let drawn = content.runs.iter().map(|run| pack::columns(&run.series)).collect::<Vec<_>>();
    let scripts = html! {
        script type="application/json" id="meta" { (PreEscaped(pack::json(&meta(content)))) }
        @for (at, columns) in drawn.iter().enumerate() {
            script type="application/octet-stream" id=(format!("columns-{at}")) { (PreEscaped(columns)) }
        }
        script { (PreEscaped(LINES_SCRIPT)) }
        script { (PreEscaped(SCRIPT)) }
    };
    whole(&title, &body, &scripts)
}

/// A page around its content.
pub(crate) fn whole(title: &str, body: &Markup, scripts: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " - Pelton" }
                style { (PreEscaped(LINES_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (title) } }
                main { (body) }
                footer {
                    p { "Made by Pelton " (env!("CARGO_PKG_VERSION")) ". The file is whole: it loads nothing." }
                    @if !LINES_LICENCE.is_empty() && !scripts.0.is_empty() {
                        details { summary { "Licence of uPlot, which draws the time lines" } pre { (LINES_LICENCE) } }
                    }
                }
                (scripts)
            }
        }
    };
    without_controls(page.into_string())
}

/// A page may be printed to a terminal: names in it must not drive that.
fn without_controls(page: String) -> String {
    let drives = |c: char| c.is_control() && c != '\n' && c != '\t';
    if page.contains(drives) { page.replace(drives, "\u{fffd}") } else { page }
}

/// The answer in words, and its table.
fn answer(content: &Content<'_>) -> Markup {
    let comparison = content.comparison;
    html! {
        section aria-labelledby="answer" {
            h2 id="answer" { "In short" }
            @for sentence in words::sentences(comparison) { p.answer { (sentence) } }
            (tables::answers(comparison))
            @for remark in &comparison.remarks { p.note { (remark) } }
            @if let Some(words) = words::chance(comparison).in_words() { p.note { (words) } }
        }
    }
}

/// Places for the time lines, which the script fills.
fn lines(content: &Content<'_>) -> Markup {
    let sides: Vec<String> = content.comparison.sides().take(content.runs.len()).collect();
    let seed = content.comparison.seeds.first().copied().unwrap_or(1);
    html! {
        section aria-labelledby="lines" {
            h2 id="lines" { "Over time" }
            @if LINES_SCRIPT.is_empty() {
                p.note { "No time lines: this program was built without the library that draws them (web/package.json)." }
            } @else {
                noscript { p.note { "Time lines need JavaScript; tables, pictures and explanations do not." } }
                p { "The run of seed " (seed) ". Drag to zoom, all panels follow. Keys: left and right move, + and - zoom, 0 shows all." }
                div.bar hidden {
                    fieldset { legend { "Run" }
                        @for (at, side) in sides.iter().enumerate() {
                            label { input type="radio" name="side" value=(at) checked[at == 0]; " [" (at + 1) "] " (side) }
                        }
                    }
                    div.buttons role="group" aria-label="Part that is shown" {
                        @for (what, sign, words) in BUTTONS {
                            button type="button" data-do=(what) aria-label=(words) { (sign) }
                        }
                        button type="button" id="perfetto" { "open in Perfetto" }
                        output id="range" aria-live="polite" {}
                    }
                }
                p.note id="served" hidden {
                    "Browsers let no local file talk to Perfetto: " code { "pelton serve" } " this page, and open it from there."
                }
                div id="panels" tabindex="0" role="group" aria-label="Time lines" {}
            }
        }
    }
}

/// Buttons over the time lines: what they do, what stands on them, and words for those who do not see that.
const BUTTONS: [(&str, &str, &str); 5] = [
    ("earlier", "\u{25c0}", "earlier"),
    ("later", "\u{25b6}", "later"),
    ("in", "+", "zoom in"),
    ("out", "\u{2212}", "zoom out"),
    ("all", "all", "show all"),
];

/// Facts for the script: what the columns are.
fn meta(content: &Content<'_>) -> serde_json::Value {
    let run = |run: &Followed| {
        json!({
            "duration_s": run.duration_ns as f64 / 1e9,
            "tick_s": run.tick_ns as f64 / 1e9,
            "tasks": run.tasks,
            "panels": run.panels,
            "series": run.series,
            "decisions": run.decisions.iter().map(decisions::mark).collect::<Vec<_>>(),
        })
    };
    json!({ "runs": content.runs.iter().map(run).collect::<Vec<_>>() })
}

/// Pictures: the answers as bars, and where the time went.
fn pictures(content: &Content<'_>) -> Markup {
    let mut drawn = content.comparison.clone();
    drawn.chance = words::chance(&drawn);
    html! {
        section aria-labelledby="pictures" {
            h2 id="pictures" { "Where the time went" }
            figure.wide tabindex="0" aria-label="Bars of the answers and of time at frequencies and in idle states" {
                (PreEscaped(inline(&svg(&compared::picture(&drawn, is_answer)))))
                figcaption { "Numbers of every bar are in the tables below." }
            }
        }
    }
}

/// A picture inside a page: for those who do not see it, the tables say the same.
fn inline(svg: &str) -> String {
    svg.replacen("<svg ", "<svg aria-hidden=\"true\" ", 1)
}

/// Inputs, and how to make the page again.
fn inputs(content: &Content<'_>) -> Markup {
    let (about, plans) = (&content.comparison.run, &content.comparison.plans);
    html! {
        section aria-labelledby="inputs" {
            h2 id="inputs" { "What was run" }
            dl {
                dt { "platform" } dd { (about.platform) }
                dt { "workload" } dd { (about.workload) }
                dt { "length" } dd { (number(about.duration_s)) " s at " (about.hz) " Hz ticks" }
                dt { "seeds" } dd { (words::seeds(&content.comparison.seeds)) }
                dt { "power that is charged" } dd { (content.powers.drawn) }
                dt { "power that places tasks" } dd { (content.powers.model) }
                dt { "version" } dd { (about.version) ", results of schema " (about.schema) }
            }
            (tables::policies(content.comparison, plans))
            h3 { "Make it again" }
            pre.wide tabindex="0" { code { (command::of(content.request)) } }
        }
    }
}
