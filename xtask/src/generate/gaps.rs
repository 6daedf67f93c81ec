// SPDX-License-Identifier: GPL-2.0-or-later
//! Known gaps of `docs/gaps.toml`: the list of all, the ends of the pages of rules, and whether each cited one exists.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;

use super::{Output, output, page};
use crate::repo::File;

const SOURCE: &str = "docs/gaps.toml";
const LIST: &str = "docs/gaps.md";
const RULES: &str = "docs/rules/";
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
    let mut outputs = vec![page(LIST, SOURCE, &list(&gap, files))];
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

/// The list of all: a line for each gap whose topic has a page of rules, which holds the entry; entries of the others.
fn list(gaps: &[Gap], files: &[File]) -> String {
    let mut out = format!(
        "# Where the model is known to be wrong\n\n{} gaps, by topic, the largest first. A gap has a number that is \
         never used again, a symptom, a size (measured end to end where one was), a cause, and a test where one fails \
         when it changes. Each stands in full in one place: at the end of its page of rules, else here. How true the \
         rest is: [traces](fidelity/traces.md), [balances](fidelity/balances.md), [residency](fidelity/residency.md), \
         [clamps beside boards](fidelity/clamp-boards.md), [ramps](fidelity/ramps.md), and for each switch of a \
         profile [sources](fidelity/sources.md).\n",
        gaps.len()
    );
    for (topic, title) in TOPICS {
        let of: Vec<&Gap> = gaps.iter().filter(|gap| gap.topic == *topic).collect();
        let path = format!("{RULES}{topic}.md");
        if of.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {title}\n\n");
        if files.iter().any(|file| file.path == path) {
            let _ = write!(out, "In full: [{topic}](rules/{topic}.md#known-gaps).\n\n");
            of.iter().for_each(|gap| out.push_str(&row(gap)));
        } else {
            of.iter().for_each(|gap| out.push_str(&item(gap, true)));
        }
    }
    out
}

fn anchor(gap: &Gap) -> String {
    format!("<a id=\"{}\"></a>{}", gap.id.to_lowercase(), gap.id)
}

/// Beginnings of the symptom and of the size, as far as one was measured.
fn row(gap: &Gap) -> String {
    let end = [". ", "; "].iter().filter_map(|mark| gap.symptom.find(mark)).min();
    let symptom = end.map_or(gap.symptom.trim_end_matches('.'), |at| &gap.symptom[..at]);
    let size = gap.size.split_once("; ").map_or(gap.size.as_str(), |(first, _)| first).trim_end_matches('.');
    let size = if size == "not measured" { String::new() } else { format!(" ({size})") };
    format!("- **{}** {symptom}{size}.\n", anchor(gap))
}

/// One gap with all that is known of it.
fn item(gap: &Gap, is_home: bool) -> String {
    let id = if is_home { anchor(gap) } else { gap.id.clone() };
    let mut out =
        format!("- **{id}** {}\n  Size: {}. Cause: {}", gap.symptom, gap.size.trim_end_matches('.'), gap.cause);
    if gap.test != "none" {
        let _ = write!(out, " Test: {}.", gap.test.trim_end_matches('.'));
    }
    out + "\n"
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

/// The gaps of one topic, as seen from the folder of rules.
fn section(gaps: &[Gap], topic: &str) -> String {
    let items: String = gaps.iter().filter(|gap| gap.topic == topic).map(|gap| item(gap, false)).collect();
    if items.is_empty() { "None is known.\n".to_owned() } else { items.replace("](", "](../") }
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
    fn gaps_stand_between_the_markers_of_their_topic_and_links_lead_from_there() {
        let page = "# Idle\n<!-- gaps:idle -->\nold\n<!-- /gaps -->\nend\n";
        let found = run(&toml("F-001", "idle"), &[("docs/rules/idle.md", page)]);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        let text = "# Idle\n<!-- gaps:idle -->\n- **F-001** Wrong.\n  Size: [1](../a.md). Cause: x Test: t.\n\
                    <!-- /gaps -->\nend\n";
        assert_eq!(found.outputs[1].text, text);
        assert!(found.outputs[0].text.contains("\n- **<a id=\"f-001\"></a>F-001** Wrong ([1](a.md)).\n"));
    }

    #[test]
    fn the_list_has_an_entry_in_full_only_where_its_topic_has_no_page() {
        let long = toml("F-001", "idle").replace("Wrong.", "To 5.4 wrong. And slow.");
        let long = long.replace("[1](a.md)", "1 ms; often");
        let page = "<!-- gaps:idle -->\n<!-- /gaps -->\n";
        let listed = run(&long, &[("docs/rules/idle.md", page)]);
        let line = "- **<a id=\"f-001\"></a>F-001** To 5.4 wrong (1 ms).\n";
        assert!(listed.outputs[0].text.ends_with(line), "{}", listed.outputs[0].text);
        let entry = "**F-001** To 5.4 wrong. And slow.\n  Size: 1 ms; often. Cause: x Test: t.\n";
        assert!(listed.outputs[1].text.contains(entry), "{}", listed.outputs[1].text);
        let alone = run(&long.replace("'t'", "'none'"), &[]);
        let entry = "**<a id=\"f-001\"></a>F-001** To 5.4 wrong. And slow.\n  Size: 1 ms; often. Cause: x\n";
        assert!(alone.outputs[0].text.ends_with(entry), "{}", alone.outputs[0].text);
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
