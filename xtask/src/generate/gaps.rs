// SPDX-License-Identifier: GPL-2.0-or-later
//! Known gaps of `docs/gaps.toml`: the list of all, links to it on pages of rules, and whether each cited one exists.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;

use super::{Output, output, page};
use crate::repo::File;

const SOURCE: &str = "docs/gaps.toml";
const LIST: &str = "docs/gaps.md";
const RULES: &str = "docs/rules/";
/// Sizes that say nothing beside the symptom.
const SAID: [&str; 2] = ["as said", "not measured"];
/// Six lines of 120 columns.
const CHARS_MAX: usize = 720;
/// Topics in their order on the list, with their headings.
const TOPICS: &[(&str, &str)] = &[
    ("load-tracking", "Load tracking"),
    ("clock", "Clock"),
    ("groups", "Task groups"),
    ("governor", "Governors"),
    ("hooks-and-gates", "Hooks and gates"),
    ("placement", "Placement"),
    ("balance", "Balancing"),
    ("idle", "Idle states"),
    ("clamps", "Utilization clamps"),
    ("bandwidth", "Quotas"),
    ("deadline", "Real-time and deadline classes"),
    ("fair", "Fair class"),
    ("limits-and-pressure", "Limits and pressure"),
    ("thermal", "Thermal"),
    ("boost", "Boosts"),
    ("published", "Published tables and boards"),
    ("platforms", "Platforms and energy"),
    ("workloads", "Workloads"),
    ("traces", "Traces and validation"),
    ("guests", "Live guests"),
    ("command-line", "Command line and speed"),
];

/// One difference between the model and a kernel or a board.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    id: String,
    topic: String,
    /// Symptom that a user sees.
    symptom: String,
    /// A figure, or that there is none.
    size: String,
    /// The rule that is missing or simplified.
    cause: String,
    /// The test that fails when this changes.
    test: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    gap: Vec<Gap>,
}

/// The rendered files, and what is wrong with the gaps or with a citation of one.
pub struct Gaps {
    pub outputs: Vec<Output>,
    pub findings: Vec<String>,
}

/// Reads, checks and renders the gaps of the tree.
///
/// # Errors
/// When the file is not what a list of gaps looks like.
pub fn gaps(files: &[File]) -> Result<Gaps, String> {
    let text = files.iter().find(|file| file.path == SOURCE).map_or("gap = []", |file| &file.text);
    let List { gap } = toml::from_str(text).map_err(|error| format!("{SOURCE}: {error}"))?;
    let mut findings: Vec<String> = gap.iter().filter_map(fault).collect();
    findings.extend(twice(&gap));
    findings.extend(uncited(&gap, files));
    let mut outputs = vec![page(LIST, SOURCE, &list(&gap))];
    for file in files.iter().filter(|file| file.path.starts_with(RULES) && file.extension() == "md") {
        match filled(&gap, file) {
            Ok(text) => outputs.push(output(&file.path, text)),
            Err(text) => findings.push(format!("{}: {text}", file.path)),
        }
    }
    Ok(Gaps { outputs, findings })
}

/// Defect of one entry.
fn fault(gap: &Gap) -> Option<String> {
    let chars: usize = [&gap.symptom, &gap.size, &gap.cause, &gap.test].map(|text| text.chars().count()).iter().sum();
    let wrong = if !is_topic(&gap.topic) {
        format!("no topic is called `{}`", gap.topic)
    } else if chars > CHARS_MAX {
        format!("{chars} characters; at most {CHARS_MAX}")
    } else if ids(&gap.id).next().is_none_or(|id| id != gap.id) {
        "an id is F- and three digits".to_owned()
    } else {
        return None;
    };
    Some(format!("{SOURCE}: {}: {wrong}", gap.id))
}

fn is_topic(name: &str) -> bool {
    TOPICS.iter().any(|(topic, _)| *topic == name)
}

/// Ids that several entries have.
fn twice(gaps: &[Gap]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let again = gaps.iter().filter(|gap| !seen.insert(gap.id.as_str()));
    again.map(|gap| format!("{SOURCE}: {}: two entries have this id", gap.id)).collect()
}

/// Ids that a page, a comment or a scenario names and no entry has. The change log may name closed ones.
fn uncited(gaps: &[Gap], files: &[File]) -> Vec<String> {
    let known: BTreeSet<&str> = gaps.iter().map(|gap| gap.id.as_str()).collect();
    let is_text = |file: &&File| matches!(file.extension(), "md" | "rs" | "toml" | "c" | "h" | "sh" | "py" | "asl");
    let read = files.iter().filter(is_text).filter(|file| !file.is_under(&["CHANGELOG.md", LIST, file!()]));
    let lines = read.flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (file, at + 1, line)));
    let unknown = lines.flat_map(|(file, at, line)| ids(line).map(move |id| (file, at, id)));
    let unknown = unknown.filter(|(_, _, id)| !known.contains(id));
    unknown.map(|(file, at, id)| format!("{}:{at}: {id} is no gap of {SOURCE}", file.path)).collect()
}

/// Every `F-` with three digits that is a word of its own.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("F-").filter_map(move |(at, _)| {
        let id = line.get(at..at + 5)?;
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let alone = !line[..at].ends_with(is_word) && !line[at + 5..].starts_with(|c: char| c.is_alphanumeric());
        (alone && id[2..].bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
    })
}

/// The list of all, each with all that is known of it.
fn list(gaps: &[Gap]) -> String {
    let mut out = format!(
        "# Where the model is known to be wrong\n\n{} gaps, by topic, the largest first: what a user sees, how large it \
         is, and the rule that is missing or simplified. The test that fails when this changes stands in \
         [gaps.toml](gaps.toml). How true the rest is: [a notebook or a paper](README.md#a-notebook-or-a-paper), and for \
         each switch of a profile [sources](fidelity/sources.md).\n",
        gaps.len()
    );
    for (topic, title) in TOPICS {
        let of: Vec<&Gap> = gaps.iter().filter(|gap| gap.topic == *topic).collect();
        if of.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {title}\n\n");
        of.iter().for_each(|gap| out.push_str(&item(gap)));
    }
    out
}

fn anchor(gap: &Gap) -> String {
    format!("<a id=\"{}\"></a>{}", gap.id.to_lowercase(), gap.id)
}

/// One gap; its test stands in the source alone.
fn item(gap: &Gap) -> String {
    let mut out = format!("- **{}** {}\n", anchor(gap), gap.symptom);
    let size = gap.size.trim_end_matches('.');
    let size = if SAID.contains(&size) { String::new() } else { format!("Size: {size}. ") };
    let _ = writeln!(out, "  {size}Cause: {}", gap.cause);
    out
}

/// A page of rules with what stands between its markers written anew.
fn filled(gaps: &[Gap], page: &File) -> Result<String, String> {
    const OPEN: &str = "<!-- gaps:";
    const CLOSE: &str = "<!-- /gaps -->";
    let (mut out, mut rest) = (String::new(), page.text.as_str());
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (topic, after) = after.split_once(" -->").ok_or("a marker of gaps does not end")?;
        let (_, behind) =
            after.split_once(CLOSE).ok_or_else(|| format!("no `{CLOSE}` behind the marker of {topic}"))?;
        if !is_topic(topic) {
            return Err(format!("no topic of {SOURCE} is called `{topic}`"));
        }
        let _ = write!(out, "{before}{OPEN}{topic} -->\n{}{CLOSE}", section(gaps, topic));
        rest = behind;
    }
    let expected = page.path.strip_prefix(RULES).and_then(|name| name.strip_suffix(".md")).unwrap_or("");
    if gaps.iter().any(|gap| gap.topic == expected) && !out.contains(&format!("{OPEN}{expected} -->")) {
        return Err(format!("its gaps need the markers `{OPEN}{expected} -->` and `{CLOSE}`"));
    }
    Ok(out + rest)
}

/// Links to the gaps of one topic, as seen from the folder of rules.
fn section(gaps: &[Gap], topic: &str) -> String {
    let of = gaps.iter().filter(|gap| gap.topic == topic);
    let links: Vec<String> = of.map(|gap| format!("[{}](../gaps.md#{})", gap.id, gap.id.to_lowercase())).collect();
    if links.is_empty() { "None is known.\n".to_owned() } else { format!("{}.\n", links.join(",\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(id: &str, topic: &str) -> String {
        format!(
            "[[gap]]\nid = '{id}'\ntopic = '{topic}'\nsymptom = 'Wrong.'\nsize = '[1](a.md)'\ncause = 'x'\ntest = 't'\n"
        )
    }

    fn run(source: &str, others: &[(&str, &str)]) -> Gaps {
        let mut files = vec![File::example(SOURCE, source)];
        files.extend(others.iter().map(|(path, text)| File::example(path, text)));
        gaps(&files).expect("a list")
    }

    #[test]
    fn pages_of_rules_link_to_the_list_which_has_every_gap_in_full() {
        let page = "# Idle\n<!-- gaps:idle -->\nold\n<!-- /gaps -->\nend\n";
        let two = [toml("F-001", "idle"), toml("F-002", "idle").replace("[1](a.md)", "as said")].concat();
        let found = run(&two, &[("docs/rules/idle.md", page)]);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        let text = "# Idle\n<!-- gaps:idle -->\n[F-001](../gaps.md#f-001),\n[F-002](../gaps.md#f-002).\n\
                    <!-- /gaps -->\nend\n";
        assert_eq!(found.outputs[1].text, text);
        let list = &found.outputs[0].text;
        assert!(list.contains("\n- **<a id=\"f-001\"></a>F-001** Wrong.\n  Size: [1](a.md). Cause: x\n"));
        assert!(list.ends_with("</a>F-002** Wrong.\n  Cause: x\n"), "{list}");
    }

    #[test]
    fn a_page_of_a_topic_without_gaps_says_so() {
        let page = "# Idle\n<!-- gaps:idle -->\n<!-- /gaps -->\n";
        let found = run(&toml("F-001", "published"), &[("docs/rules/idle.md", page)]);
        assert_eq!(found.outputs[1].text, "# Idle\n<!-- gaps:idle -->\nNone is known.\n<!-- /gaps -->\n");
    }

    #[test]
    fn markers_of_unknown_topics_and_pages_without_markers_are_named() {
        let page = "<!-- gaps:idel -->\n<!-- /gaps -->\n";
        assert_eq!(
            run(&toml("F-001", "clock"), &[("docs/rules/idle.md", page)]).findings,
            ["docs/rules/idle.md: no topic of docs/gaps.toml is called `idel`"]
        );
        assert_eq!(
            run(&toml("F-001", "clock"), &[("docs/rules/clock.md", "# Clock\n")]).findings,
            ["docs/rules/clock.md: its gaps need the markers `<!-- gaps:clock -->` and `<!-- /gaps -->`"]
        );
    }

    #[test]
    fn a_cited_gap_that_is_not_listed_is_named_with_its_line() {
        let found =
            run(&toml("F-001", "idle"), &[("a.rs", "// F-001, PF-003\n// (F-002)\n"), ("CHANGELOG.md", "F-002")]);
        assert_eq!(found.findings, ["a.rs:2: F-002 is no gap of docs/gaps.toml"]);
    }

    #[test]
    fn entries_are_short_of_a_known_topic_and_have_an_id_of_their_own() {
        let long = toml("F-003", "idle").replace("Wrong.", &"x".repeat(CHARS_MAX));
        let all = [toml("F-001", "idle"), toml("F-001", "x"), long, toml("F-1", "idle")].concat();
        let faults = ["no topic is called `x`", "731 characters; at most 720", "F- and three digits", "two entries"];
        let found = run(&all, &[]).findings;
        assert_eq!(found.len(), faults.len(), "{found:?}");
        assert!(found.iter().zip(faults).all(|(text, part)| text.contains(part)), "{found:?}");
    }
}
