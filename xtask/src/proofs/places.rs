// SPDX-License-Identifier: GPL-2.0-or-later
//! Existence of the files and functions that proofs name, in the releases that they name. The texts of kernels are not
//! part of the project: a folder with one tree per profile is given.

use std::path::Path;

use super::check::version;
use super::{Facts, How, facts};
use crate::repo;

/// Looks up every place that was read; the error names those that do not exist.
///
/// # Errors
/// When a place does not exist, or the proofs cannot be read.
pub fn check(folder: &Path) -> Result<(), String> {
    let facts = facts(&repo::files()?)?;
    let mut looked = 0;
    let mut found = Vec::new();
    for proof in facts.proofs.iter().filter(|proof| proof.how == How::Source) {
        for place in &proof.read {
            looked += 1;
            let wrong = defect(&facts, folder, place);
            found.extend(wrong.map(|text| format!("{}: {}: {place}: {text}", proof.file, proof.switch)));
        }
    }
    println!("proofs: {looked} places looked up, {} wrong", found.len());
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

fn defect(facts: &Facts, folder: &Path, place: &str) -> Option<String> {
    let tree = folder.join(facts.releases.tree(version(place)));
    let mut words = place.split_whitespace().skip(1);
    let path = tree.join(words.next().unwrap_or(""));
    let rest: Vec<&str> = words.collect();
    match std::fs::read(&path) {
        Err(_) => Some("no such file".to_owned()),
        Ok(bytes) => absent(&String::from_utf8_lossy(&bytes), &rest.join(" ")),
    }
}

/// The first name of `a, b` or `(no c)` that the text contradicts.
fn absent(text: &str, names: &str) -> Option<String> {
    if let Some(name) = names.strip_prefix("(no ") {
        let name = name.trim_end_matches(')');
        return has(text, name).then(|| format!("{name} is there"));
    }
    let named = names.split([',', ' ']).filter(|name| is_name(name));
    named.into_iter().find(|name| !has(text, name)).map(|name| format!("{name} is not there"))
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// True when the text has this whole word.
fn has(text: &str, name: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let whole = |at: usize| !part(text[..at].chars().next_back()) && !part(text[at + name.len()..].chars().next());
    text.match_indices(name).any(|(at, _)| whole(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words_and_absence_is_a_claim_too() {
        let text = "static void update_load_avg(struct cfs_rq *cfs_rq)\n";
        assert_eq!(absent(text, "update_load_avg, cfs_rq"), None);
        assert_eq!(absent(text, "load_avg"), Some("load_avg is not there".to_owned()));
        assert_eq!((absent(text, "(no fair_server)"), absent(text, "(no cfs_rq)").is_some()), (None, true));
    }
}
