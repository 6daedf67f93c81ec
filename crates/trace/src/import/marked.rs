// SPDX-License-Identifier: GPL-2.0-or-later
//! Texts that programs write into a trace themselves (`trace_marker`) and that are events all the same.

use pelton_schema::Event;

use super::text::number::{cpu_number, decimal};

/// Names of the event that holds a program's text.
pub(super) const NAMES: [&str; 4] = ["bprint", "cpu_frequency_devlib", "print", "tracing_mark_write"];

/// A frequency that devlib or LISA wrote because the kernel records changes only: `cpu_frequency: state=N cpu_id=N` or
/// `cpu_frequency_devlib: state=N cpu_id=N`, in kHz. `whole`: the text is the fields alone.
pub(super) fn frequency(text: &[u8], whole: bool) -> Option<Event> {
    const MARKS: [&[u8]; 2] = [b"cpu_frequency_devlib:", b"cpu_frequency:"];
    let begins = |mark: &[u8]| memchr::memmem::find(text, mark).map(|at| &text[at + mark.len()..]);
    let fields = MARKS.into_iter().find_map(begins).or(whole.then_some(text))?;
    let number = |key: &[u8]| {
        let words = fields.split(|&byte| byte.is_ascii_whitespace() || byte == 0);
        words.filter_map(|word| word.strip_prefix(key)).find_map(decimal)
    };
    let freq_khz = u32::try_from(number(b"state=")?).ok()?;
    Some(Event::CpuFrequency { cpu: cpu_number(number(b"cpu_id=")?)?, freq_khz })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frequencies_that_programs_write_are_events() {
        let told = |text: &str, whole| match frequency(text.as_bytes(), whole) {
            Some(Event::CpuFrequency { cpu, freq_khz }) => Some((cpu, freq_khz)),
            _ => None,
        };
        assert_eq!(told("cpu_frequency: state=450000 cpu_id=5", false), Some((5, 450_000)));
        assert_eq!(told("0xffff: cpu_frequency_devlib: state=450000 cpu_id=5\n\0junk", false), Some((5, 450_000)));
        assert_eq!(told("state=450000 cpu_id=5", true), Some((5, 450_000)));
        for other in
            ["B|123|frame", "state=450000 cpu_id=5", "cpu_frequency: state=fast cpu_id=5", "cpu_frequency:", ""]
        {
            assert_eq!(told(other, false), None, "{other}");
        }
    }
}
