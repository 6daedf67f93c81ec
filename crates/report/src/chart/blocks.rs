// SPDX-License-Identifier: GPL-2.0-or-later
//! Bars and lines made of block letters.

const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of `share` (0..=1) of `width` letters; what is above 0 is at least an eighth of a letter.
pub fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let part = (eighths % 8).checked_sub(1).map(|at| EIGHTHS[at]);
    "█".repeat(eighths / 8).chars().chain(part).collect()
}

/// One letter per value between 0 and `most`; a space where nothing is known.
pub fn spark(values: &[Option<f64>], most: f64) -> String {
    let letter = |value: &Option<f64>| match value {
        Some(value) if most > 0.0 => HEIGHTS[((value / most).clamp(0.0, 1.0) * 7.0).round() as usize],
        Some(_) => HEIGHTS[0],
        None => ' ',
    };
    values.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!([0.0, 0.001, 0.5, 0.53, 1.0].map(|share| bar(share, 8)), ["", "▏", "████", "████▎", "████████"]);
    }

    #[test]
    fn what_is_not_known_is_a_gap() {
        assert_eq!(spark(&[Some(0.0), None, Some(50.0), Some(100.0)], 100.0), "▁ ▅█");
        assert_eq!(spark(&[Some(0.0)], 0.0), "▁");
    }
}
