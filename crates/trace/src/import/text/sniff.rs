// SPDX-License-Identifier: GPL-2.0-only
//! Which kind of text a file is, from its first bytes.

use crate::import::Format;
use crate::import::csv;

/// The kind of text that begins with these bytes; `None` when it is none that can be read.
///
/// ```
/// use pelton_trace::import::{Format, text::sniff_text};
/// assert_eq!(sniff_text(b"start_s,duration_s,cpu,pid,comm,duty_cycle\n"), Some(Format::ActivationCsv));
/// assert_eq!(sniff_text(b"\x7fELF"), None);
/// ```
pub fn sniff_text(first_bytes: &[u8]) -> Option<Format> {
    csv::sniff(first_bytes)
}
