// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison as plain text for a mail to a list: no line is longer than 75 columns.

use super::{CompareRow, Comparison, is_answer};
use crate::number::number;
use std::fmt::Write as _;

/// Columns that a mail shows without breaking lines, quoted once or twice.
const COLUMNS: usize = 75;

/// Answers of a comparison: the runs, then a block of lines for each side beside its base. What is asked for by name
/// is there as well.
pub fn table(comparison: &Comparison, only: &[String]) -> String {
    let run = &comparison.run;
    let seeds = comparison.seeds.len();
    let mut text = String::new();
    let head = format!("pelton {} (core {})", run.version, pelton_core::CORE_HASH);
    line(&mut text, &format!("{head}: {} on {}", run.workload, run.platform));
    line(&mut text, &format!("{} s, {seeds} seeds from {}, medians", run.duration_s, comparison.seeds[0]));
    for (at, side) in comparison.sides().enumerate() {
        line(&mut text, &format!("[{}] {side}", at + 1));
    }
    let rows = || comparison.rows.iter().filter(|row| is_answer(row) || only.iter().any(|name| name == row.quantity));
    for (at, base) in
        comparison.bases.iter().enumerate().filter(|(at, base)| at != *base || comparison.bases.len() == 1)
    {
        let names = [format!("[{}]", base + 1), format!("[{}]", at + 1)];
        let [before, after] = if at == *base { [String::new(), names[1].clone()] } else { names };
        let _ = writeln!(text, "\n{:<24} {before:>9} {after:>9} {:>8}  95 % interval", "", "change");
        rows().for_each(|row| line(&mut text, &row_text(row, *base, at)));
    }
    comparison.remarks.iter().for_each(|remark| line(&mut text, &format!("\nnote: {remark}")));
    text
}

fn row_text(row: &CompareRow, base: usize, at: usize) -> String {
    let of = if row.of.is_empty() { String::new() } else { format!(" {}", row.of) };
    let name = format!("{}{of}", row.quantity);
    let shown = |side: usize| row.cells[side].median.map_or_else(|| "?".to_owned(), number);
    let before = if at == base { String::new() } else { shown(base) };
    let cell = &row.cells[at];
    let change = cell.change_pct.map_or_else(String::new, |change| format!("{change:+.1} %"));
    let interval = cell.change_ci95_pct.map_or_else(String::new, |(low, high)| format!("[{low:+.1}, {high:+.1}]"));
    let star = if cell.is_significant() { " *" } else { "" };
    format!("{name:<24} {before:>9} {:>9} {change:>8}  {interval}{star}", shown(at))
}

/// A line, cut where a mail would break it.
fn line(text: &mut String, line: &str) {
    let plain = pelton_trace::one_line(line.trim_start_matches('\n'));
    if line.starts_with('\n') {
        text.push('\n');
    }
    let mut room = String::new();
    for word in plain.split_inclusive([' ', ',']) {
        if room.chars().count() + word.trim_end().chars().count() > COLUMNS && !room.trim().is_empty() {
            let _ = writeln!(text, "{}", room.trim_end());
            room = "    ".to_owned();
        }
        // A word that no line has room for, as a path, is cut into lines.
        let mut letters = word.chars();
        while room.chars().count() + letters.clone().count() > COLUMNS + 1 {
            let part: String = letters.by_ref().take(COLUMNS - room.chars().count()).collect();
            let _ = writeln!(text, "{room}{part}");
            room = "    ".to_owned();
        }
        room.extend(letters);
    }
    let _ = writeln!(text, "{}", room.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::compare::{CompareRequest, compare_all};
    use crate::watch::Unwatched;

    fn compared(policies: &[&str], workload: &str) -> Comparison {
        let input = serde_json::json!({"platform": "hikey-6220", "workload": workload, "duration_ns": 200_000_000});
        let request = CompareRequest {
            input: serde_json::from_value(input).expect("an input"),
            policies: policies.iter().map(|&policy| policy.to_owned()).collect(),
            seeds: 6,
            ..CompareRequest::default()
        };
        compare_all(&request, &Unwatched).expect("a comparison")
    }

    #[test]
    fn no_line_is_wider_than_a_mail_and_each_side_stands_beside_its_base() {
        let long = "7.2,rate_limit_us=10000,hook_filter=h1,gate=r1_sliding,gate_window_min_us=4000,util_est=off";
        let comparison = compared(&["7.2", "6.1", long], "periodic:run_us=3000,period_us=10000");
        let text = table(&comparison, &["update_count".to_owned()]);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.matches("\nenergy_mj").count(), 2, "{text}");
        assert_eq!(text.matches("\nupdate_count").count(), 2, "{text}");
        assert!(text.lines().any(|line| line.starts_with("energy_mj") && line.contains(']')), "{text}");
        assert!(text.contains("[1] 7.2\n[2] 6.1\n") && text.contains("95 % interval"), "{text}");
    }

    #[test]
    fn a_path_of_many_letters_is_cut() {
        let mut comparison = compared(&["7.2"], "busy:cpus=0");
        comparison.policies = vec![format!("/tmp/{}/p.toml", "x".repeat(200))];
        let text = table(&comparison, &[]);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }

    #[test]
    fn one_policy_is_a_block_without_changes() {
        let text = table(&compared(&["7.2"], "busy:cpus=0"), &[]);
        assert!(text.contains("energy_mj") && !text.contains('*'), "{text}");
    }
}
