// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions of kernels that headers and proofs cite.

use std::collections::BTreeMap;

use crate::repo::File;

/// File and line of a citation.
pub type Place = (String, usize);

/// Every name that is cited, with the first place.
pub fn cited(files: &[File]) -> BTreeMap<String, Place> {
    let mut found = BTreeMap::new();
    for file in files {
        let lines = if file.is_under(&["core/include/pelton/"]) {
            sources(&file.text)
        } else if file.is_under(&["docs/rules/proofs/"]) && file.extension() == "toml" {
            reads(&file.text)
        } else {
            continue;
        };
        for (line, text) in lines {
            for name in names(text) {
                found.entry(name.to_owned()).or_insert((file.path.clone(), line));
            }
        }
    }
    found
}

/// Lines of a header from `Source:` to the deviations, or to the end of the comment.
fn sources(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let begins = line.split_once("Source:");
        let rest = begins.map_or(line, |(_, rest)| rest);
        inside |= begins.is_some();
        if !inside {
            continue;
        }
        let end = rest.find("Deviation").or_else(|| rest.find("*/"));
        found.push((at + 1, &rest[..end.unwrap_or(rest.len())]));
        inside = end.is_none();
    }
    found
}

/// Strings of the `read` lists of a file of proofs, without those that say that something is absent.
fn reads(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        inside |= line.starts_with("read = [");
        if inside {
            let strings = line.split('"').skip(1).step_by(2);
            found.extend(strings.map(|text| (at + 1, text.split("(no ").next().unwrap_or(text))));
            inside = !line.trim_end().ends_with(']');
        }
    }
    found
}

/// Names of functions in prose: words with an underscore, in small letters, that are no files.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_./-".contains(c)));
    words.map(|word| word.trim_end_matches('.')).filter(|word| is_name(word))
}

fn is_name(word: &str) -> bool {
    let small = word.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit());
    small && word.contains('_') && !word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_cites_from_its_source_to_its_deviations() {
        let text = "/*\n * Not this_one.\n *\n * Source: Linux 7.2 kernel/sched/fair.c (place_entity,\n * __pick_eevdf), kernel/\n \
                    * cpufreq_schedutil.c sugov_work. No RT_SHARE, fair.c and sched/sd_flags.h; form=a_b.\n \
                    * Deviations: not_that.\n */\nu32 nor_this(void);\n";
        let found = cited(&[File::example("core/include/pelton/a.h", text)]);
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["__pick_eevdf", "a_b", "place_entity", "sugov_work"]);
        assert_eq!(found["__pick_eevdf"], ("core/include/pelton/a.h".to_owned(), 5));
    }

    #[test]
    fn a_source_without_deviations_ends_with_its_comment() {
        let text = "/* Source: task_hot. */\nu32 not_this(void);\n";
        let found = cited(&[File::example("core/include/pelton/a.h", text)]);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["task_hot"]);
    }

    #[test]
    fn a_proof_cites_what_was_read_and_not_what_is_absent() {
        let text = "switch = \"no_name\"\nread = [\"5.4 kernel/sched/fair.c task_hot, get_it\"]\ntest = \"a::not_it\"\n\
                    read = [\n    \"5.4 a_c.c (no not_there)\",\n    \"6.1.192 sugov_work\",\n]\nsays = \"nor this_one\"\n";
        let found = cited(&[File::example("docs/rules/proofs/a.toml", text)]);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["get_it", "sugov_work", "task_hot"]);
    }
}
