// SPDX-License-Identifier: GPL-2.0-or-later
//! Unified diffs: which files, which lines.

use std::ops::Range;

/// Lines that were taken away and that came, each from 1; an empty range stands in front of its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the file before.
    pub old: Range<usize>,
    /// Lines of the file after.
    pub new: Range<usize>,
}

/// Part of a diff that is about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Name before, without its first folder; none: the file is new.
    pub old: Option<String>,
    /// Name after; none: the file is removed.
    pub new: Option<String>,
    /// Its lines in the text of the diff, from 0.
    pub lines: Range<usize>,
    /// Hunks, with their context.
    pub hunks: Vec<Hunk>,
}

impl Section {
    /// Name of the file, the one after where it has one.
    pub fn path(&self) -> &str {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or_default()
    }
}

/// Parts of a diff. Text in front of the first, as that of a mail, belongs to none.
pub fn sections(text: &str) -> Vec<Section> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut found: Vec<Section> = Vec::new();
    // Between `diff --git` and the first hunk.
    let mut is_header = false;
    let mut at = 0;
    while at < lines.len() {
        let begin = at;
        let next = |n: usize| lines.get(begin + n).copied().unwrap_or_default();
        if let Some(names) = next(0).strip_prefix("diff --git ") {
            found.push(of_git(names, begin));
            is_header = true;
        } else if next(0).starts_with("--- ") && next(1).starts_with("+++ ") && next(2).starts_with("@@ ") {
            let (old, new) = (name(next(0)), name(next(1)));
            let is_same = |last: &Section| (new.is_some() && last.new == new) || (old.is_some() && last.old == old);
            if !std::mem::take(&mut is_header) || !found.last().is_some_and(is_same) {
                found.push(Section { lines: begin..begin, ..Section::default() });
            }
            if let Some(last) = found.last_mut() {
                (last.old, last.new) = (old, new);
            }
            at += 1;
        } else if let (Some(hunk), Some(last)) = (hunk(next(0)), found.last_mut()) {
            at += body(&lines[begin + 1..], &hunk);
            last.hunks.push(hunk);
        } else if !is_header {
            at += 1;
            continue;
        }
        at += 1;
        if let Some(last) = found.last_mut() {
            last.lines.end = at;
        }
    }
    found
}

/// Names of `a/FILE b/FILE`, for parts that only rename or change modes.
fn of_git(names: &str, begin: usize) -> Section {
    let (old, new) = names.split_once(" b/").unwrap_or((names, names));
    let old = old.strip_prefix("a/").unwrap_or(old);
    Section { old: Some(old.to_owned()), new: Some(new.to_owned()), lines: begin..begin, ..Section::default() }
}

/// Name behind `---` or `+++`, without its first folder, as `patch -p1` takes it.
fn name(line: &str) -> Option<String> {
    let name = line.get(4..)?.split('\t').next()?.trim();
    let inner = name.split_once('/').map_or(name, |(_, inner)| inner);
    (name != "/dev/null").then(|| inner.trim_start_matches('/').to_owned())
}

/// Ranges of `@@ -10,3 +12,4 @@`.
pub fn hunk(line: &str) -> Option<Hunk> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut range = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        // Nothing at line 7 stands behind it.
        let start = start.checked_add(usize::from(count == 0))?;
        Some(start..start.checked_add(count)?)
    };
    Some(Hunk { old: range('-')?, new: range('+')? })
}

/// Number of lines that a hunk has below its header.
fn body(lines: &[&str], hunk: &Hunk) -> usize {
    let (mut old, mut new) = (hunk.old.len(), hunk.new.len());
    let mut count = 0;
    for line in lines {
        if old == 0 && new == 0 && !line.starts_with('\\') {
            break;
        }
        match line.as_bytes().first() {
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'+') => new = new.saturating_sub(1),
            Some(b'\\') => {}
            _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "\
From: someone
Subject: margin

--- not a part
---
 kernel/sched/fair.c | 2 +-

diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c
index 1..2 100644
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c\t2026-01-01
@@ -10,3 +10,4 @@ static int f(void)
 a
--- removed, begins with dashes
+++ b/like a name
+b
 c
@@ -40 +41,0 @@
-gone
\\ No newline at end of file
diff --git a/old.h b/new.h
similarity index 100%
rename from old.h
rename to new.h
--- /dev/null
+++ b/include/linux/new.h
@@ -0,0 +1,2 @@
+x
+y
-- 
2.47
";

    #[test]
    fn a_mail_with_a_diff_is_read() {
        let found = sections(MAIL);
        let names: Vec<_> = found.iter().map(|section| (section.old.as_deref(), section.new.as_deref())).collect();
        let fair = Some("kernel/sched/fair.c");
        assert_eq!(names, [(fair, fair), (Some("old.h"), Some("new.h")), (None, Some("include/linux/new.h"))]);
        assert_eq!(found[0].hunks, [Hunk { old: 10..13, new: 10..14 }, Hunk { old: 40..41, new: 42..42 }]);
        assert_eq!(found[2].hunks, [Hunk { old: 1..1, new: 1..3 }]);
        let lines: Vec<&str> = MAIL.split('\n').collect();
        let ends = found.iter().map(|section| (lines[section.lines.start], lines[section.lines.end - 1]));
        let expected = [
            ("diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c", "\\ No newline at end of file"),
            ("diff --git a/old.h b/new.h", "rename to new.h"),
            ("--- /dev/null", "+y"),
        ];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn damaged_headers_are_no_hunks() {
        for line in ["@@", "@@ -1 @@", "@@ -a,b +1 @@", "@@ -1,2 +18446744073709551615,9 @@", ""] {
            assert_eq!(hunk(line), None, "{line}");
        }
        assert!(sections("@@ -1 +1 @@\n-a\n+b\n").is_empty());
        assert_eq!(sections("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a").len(), 1);
    }
}
