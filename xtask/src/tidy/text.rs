// SPDX-License-Identifier: GPL-2.0-only
//! Rules about a file as text: licence line, length, size, paths of somebody's machine, header comments.

use super::Rule;
use crate::repo::File;

/// Longest source file, lines.
const LINES_MAX: usize = 500;
/// Largest file, bytes.
const SIZE_BYTES_MAX: u64 = 1 << 20;
/// The licence line must be among the first lines (after a `#!` line, or the line of a generator).
const SPDX_WITHIN_LINES: usize = 3;
const SPDX: &str = "SPDX-License-Identifier: GPL-2.0-only";

pub const RULES: &[Rule] = &[
    Rule {
        name: "spdx",
        check: spdx,
        bad: || File::example("scripts/a.sh", "#!/bin/sh\necho\n"),
        good: || File::example("scripts/a.sh", "#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-only\n"),
    },
    Rule {
        name: "file-length",
        check: file_length,
        bad: || File::example("crates/x/src/lib.rs", &"\n".repeat(LINES_MAX)),
        good: || File::example("crates/x/src/lib.rs", &"\n".repeat(LINES_MAX - 1)),
    },
    Rule {
        name: "blob-size",
        check: blob_size,
        bad: || File { size_bytes: SIZE_BYTES_MAX + 1, ..File::example("docs/a.png", "") },
        good: || File { size_bytes: SIZE_BYTES_MAX, ..File::example("docs/a.png", "") },
    },
    Rule {
        name: "machine-path",
        check: machine_path,
        bad: || File::example("docs/a.md", concat!("see /ho", "me/ann/pelton/out\n")),
        good: || File::example("docs/a.md", "see out/ and https://example.org/home/a\n"),
    },
    Rule {
        name: "core-header-comment",
        check: header_comment,
        bad: || File::example("core/include/pelton/x.h", "/* SPDX */\n#ifndef X\n#endif\n"),
        good: || File::example("core/include/pelton/x.h", "/* SPDX */\n/*\n * Purpose.\n */\n#ifndef X\n#endif\n"),
    },
];

/// True for files that are source in the sense of the licence rule.
fn is_source(file: &File) -> bool {
    matches!(file.extension(), "rs" | "c" | "h" | "py" | "sh" | "toml" | "Makefile") || file.path == ".ci/run"
}

fn spdx(file: &File) -> Vec<(usize, String)> {
    let present = file.text.lines().take(SPDX_WITHIN_LINES).any(|line| line.contains(SPDX));
    if present || !is_source(file) { Vec::new() } else { vec![(1, format!("add the line `{SPDX}` at the top"))] }
}

fn file_length(file: &File) -> Vec<(usize, String)> {
    let lines = file.text.lines().count();
    let counts = matches!(file.extension(), "rs" | "c" | "h" | "py" | "sh");
    if lines < LINES_MAX || !counts {
        return Vec::new();
    }
    vec![(0, format!("{lines} lines; split by concept, files stay under {LINES_MAX}"))]
}

fn blob_size(file: &File) -> Vec<(usize, String)> {
    let size = file.size_bytes;
    if size <= SIZE_BYTES_MAX {
        return Vec::new();
    }
    vec![(0, format!("{size} bytes; keep large data out of git, the limit is {SIZE_BYTES_MAX}"))]
}

/// Starts of absolute paths that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

fn machine_path(file: &File) -> Vec<(usize, String)> {
    let breaks = |line: &&str| MACHINE_PATHS.iter().any(|path| starts_a_path(line, path));
    let text = || "a path of one machine; write it relative to the repository".to_owned();
    let lines = file.text.lines().enumerate();
    lines.filter(|(_, line)| breaks(line)).map(|(at, _)| (at + 1, text())).collect()
}

/// True when `path` occurs in `line` and is not the middle of a longer path or address.
fn starts_a_path(line: &str, path: &str) -> bool {
    let is_middle = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '$' | '}' | '~' | '*');
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(is_middle))
}

fn header_comment(file: &File) -> Vec<(usize, String)> {
    if !file.is_under(&["core/include/"]) || file.extension() != "h" {
        return Vec::new();
    }
    let before_guard = file.text.split("#ifndef").next().unwrap_or("");
    if before_guard.contains("\n * ") {
        return Vec::new();
    }
    vec![(1, "open with a comment: purpose, formula, units, source, known deviations".to_owned())]
}
