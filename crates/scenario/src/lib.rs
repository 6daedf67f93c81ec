// SPDX-License-Identifier: GPL-2.0-or-later
//! Everything a person writes - platforms, workloads, policies - becomes a checked plan here, or a list of messages
//! that point at the offending characters.

pub mod behaviour;
pub mod bench;
pub mod diagnostic;
pub mod fit;
#[expect(clippy::result_large_err, reason = "a message is made once per import, where it ends")]
pub mod import;
pub mod platform;
pub mod policy;
pub mod reading;
pub mod rtapp;
pub mod tree;
pub mod workload;

pub use diagnostic::{Diagnostic, Diagnostics, Severity, SourceFile, render};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_file_line_caret_and_range() {
        let file = SourceFile::new("a.toml", "x = 1\ncapacity = 2000\ny = 2\n");
        let d = file.error(17..21, "capacity is out of range").label("2000").allowed("1..=1024");
        let text = render(&d.into(), 80, false);
        assert!(text.contains("a.toml:2:12"), "{text}");
        assert!(text.contains("allowed: 1..=1024"), "{text}");
    }

    #[test]
    fn any_span_of_any_text_renders() {
        let long = "é".repeat(5000) + "\u{1b}[31m";
        for text in ["", "\n", "a", "a\r\nb", "\u{202e}x\n", long.as_str(), "\n\n\n"] {
            let file = SourceFile::new("f", text);
            for span in [0..0, 0..1, 1..1, 1..9, 0..usize::MAX, 4000..4001, 9000..20000] {
                let out = render(&file.error(span, "m\u{7}").label("l").into(), 80, false);
                assert!(out.len() < 2000 && !out.contains('\u{1b}') && !out.contains('\u{7}'), "{out}");
            }
        }
    }

    #[test]
    fn typos_are_recognised() {
        use crate::diagnostic::did_you_mean;
        let keys = ["capacity", "cpus", "opps", "idle_state"];
        assert_eq!(did_you_mean("capacty", keys), Some("capacity"));
        assert_eq!(did_you_mean("idle-states", keys), Some("idle_state"));
        assert_eq!(did_you_mean("zebra", keys), None);
    }
}
