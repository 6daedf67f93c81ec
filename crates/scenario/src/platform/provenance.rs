// SPDX-License-Identifier: GPL-2.0-or-later
//! Sources of figures, read out of the comments beside them, so that the text people read is the text that counts.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

/// Degree to which a figure can be trusted; the order is that of docs/guide/platforms.md#quality-of-a-figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quality {
    /// Measured on hardware and published.
    Measured,
    /// Printed by the people who own the board.
    Published,
    /// Read in the device tree.
    DeviceTree,
    /// Read in the source of the kernel.
    KernelSource,
    /// From a kernel formula applied to such figures.
    Computed,
    /// Follows from a published figure.
    Inferred,
    /// A guess, so that the file is usable.
    Estimate,
    /// Not in the file: what the format says holds then.
    Assumed,
    /// The file does not say.
    Unstated,
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quality::Measured => "measured",
            Quality::Published => "published",
            Quality::DeviceTree => "device tree",
            Quality::KernelSource => "kernel source",
            Quality::Computed => "computed",
            Quality::Inferred => "inferred",
            Quality::Estimate => "ESTIMATE",
            Quality::Assumed => "assumed",
            Quality::Unstated => "not stated",
        })
    }
}

impl Quality {
    /// The quality a comment speaks of: an estimate anywhere in it wins, else the first tag.
    pub fn of(comment: &str) -> Quality {
        let lower = comment.to_ascii_lowercase();
        if lower.contains("estimate") {
            return Quality::Estimate;
        }
        let tags = [
            ("measured", Quality::Measured),
            ("published", Quality::Published),
            ("device tree", Quality::DeviceTree),
            ("clock-latency-ns", Quality::DeviceTree),
            ("drivers/", Quality::KernelSource),
            ("intel_cpufreq_", Quality::KernelSource),
            ("the driver ", Quality::KernelSource),
            ("computed", Quality::Computed),
            ("inferred", Quality::Inferred),
        ];
        let first =
            tags.iter().filter_map(|&(word, quality)| Some((lower.find(word)?, quality))).min_by_key(|&(at, _)| at);
        first.map_or(Quality::Unstated, |(_, quality)| quality)
    }
}

/// The comment behind a value, on the same line.
pub(super) fn comment_behind(text: &str, span: &Range<usize>) -> String {
    let rest = text.get(span.end..).unwrap_or("").split('\n').next().unwrap_or("");
    rest.trim_start().strip_prefix('#').map_or_else(String::new, |c| c.trim().to_owned())
}

/// The comment that heads the paragraph of a value: the nearest block of comment lines above it, with no blank line and
/// no table heading in between.
pub(super) fn comment_above(text: &str, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or("");
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let paragraph =
        before[..line_start].lines().rev().map(str::trim).take_while(|l| !l.is_empty() && !l.starts_with('['));
    let from_comment = paragraph.skip_while(|line| !line.starts_with('#'));
    let mut lines: Vec<&str> = from_comment.map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    lines.reverse();
    lines.join(" ")
}

/// The part of a list's comment that speaks of one column: `uv quality: ... `, up to the next column's part.
pub(super) fn column_part<'c>(comment: &'c str, column: &str) -> Option<&'c str> {
    const MARKS: [&str; 5] = ["OPPs: ", "kHz quality:", "kHz:", "uv quality:", "power_mw:"];
    let start = MARKS.iter().filter(|m| m.starts_with(column)).find_map(|m| comment.find(m))?;
    let rest = &comment[start..];
    let end = MARKS.iter().filter_map(|m| rest[1..].find(m)).min().map_or(rest.len(), |i| i + 1);
    Some(rest[..end].trim())
}
