// SPDX-License-Identifier: GPL-2.0-or-later
//! Links between pages lead to files that exist.

use std::collections::BTreeSet;

use super::Finding;
use crate::repo::File;

/// Links of Markdown pages to files or folders that are not in the repository.
pub fn check(files: &[File]) -> Vec<Finding> {
    let known = known_paths(files);
    let pages = files.iter().filter(|file| file.extension() == "md");
    pages.flat_map(|page| page_findings(page, &known)).collect()
}

/// Every file and every folder above one.
fn known_paths(files: &[File]) -> BTreeSet<&str> {
    files.iter().flat_map(|file| folders(&file.path).chain([file.path.as_str()])).collect()
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn page_findings(page: &File, known: &BTreeSet<&str>) -> Vec<Finding> {
    let broken = |target: &&str| !known.contains(resolve(&page.path, target).as_str());
    let lines = page.text.lines().enumerate();
    let found =
        lines.flat_map(|(at, line)| targets(line).into_iter().filter(broken).map(move |target| (at + 1, target)));
    let finding = |(line, target): (usize, &str)| Finding {
        rule: "links",
        path: page.path.clone(),
        line,
        text: format!("`{target}` leads nowhere"),
    };
    found.map(finding).collect()
}

/// Targets of `](target)` that name files: no addresses, no places within a page.
fn targets(line: &str) -> Vec<&str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = ends.map(|target| target.split('#').next().unwrap_or(""));
    files.filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// Path from the top of the repository of a link on page `from`.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> Vec<String> {
        let files =
            [File::example("docs/a.md", text), File::example("docs/signals/b.md", ""), File::example("LICENSE", "")];
        check(&files).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn links_to_files_folders_places_and_addresses_pass() {
        assert!(
            broken("[a](signals/b.md#x) [b](../LICENSE) [c](signals/) [d](#here) [e](https://x.org/y) [f](a.md)")
                .is_empty()
        );
    }

    #[test]
    fn a_link_to_nothing_fails() {
        assert_eq!(broken("see [a](signals/c.md)"), ["`signals/c.md` leads nowhere"]);
        assert_eq!(broken("see [a](docs/a.md)").len(), 1, "links start at the page");
    }
}
