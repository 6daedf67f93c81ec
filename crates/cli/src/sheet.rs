// SPDX-License-Identifier: GPL-2.0-only
//! Tables for people and for spreadsheets. No colour: a table reads the same in a terminal, a pipe and a log.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use pelton_trace::one_line;
use std::borrow::Cow;
use std::io::IsTerminal;

/// Widest column that counts as words and numbers and is never wrapped.
const WORD_COLUMNS_MAX: u16 = 14;
/// Letters of a name in a table that is too wide for the terminal.
const NAME_LETTERS_MAX: usize = 24;

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Column headings; one starting with `<` is aligned left, others right.
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// So many columns after the first one also say what a row is about: every part of a wide table has them.
    more_keys: usize,
}

impl Sheet {
    /// An empty table. A heading that starts with `<` marks a left-aligned column.
    pub fn new(header: &[&str]) -> Self {
        Sheet { header: header.iter().map(|&h| h.to_owned()).collect(), ..Sheet::default() }
    }

    /// The same table, of which the first so many columns say what a row is about.
    pub fn with_keys(mut self, keys: usize) -> Sheet {
        self.more_keys = keys.saturating_sub(1);
        self
    }

    /// The same table with another word above a column: tables of other programs keep theirs.
    pub fn renamed(mut self, from: &str, to: &str) -> Sheet {
        let column = self.header.iter_mut().find(|h| h.trim_start_matches('<') == from);
        column.into_iter().for_each(|h| *h = h.replace(from, to));
        self
    }

    /// Without columns that are empty in every row, as that of names is where the whole run is meant.
    pub fn without_empty_columns(self) -> Sheet {
        let is_used = |at: usize| self.rows.iter().any(|row| !row[at].is_empty());
        let used: Vec<usize> = (0..self.header.len()).filter(|&at| is_used(at) || self.rows.is_empty()).collect();
        let keys = used.iter().filter(|&&at| at <= self.more_keys).count();
        let pick = |from: &[String]| used.iter().map(|&at| from[at].clone()).collect();
        let rows = self.rows.iter().map(|row| pick(row)).collect();
        Sheet { header: pick(&self.header), rows, more_keys: 0 }.with_keys(keys)
    }

    /// Adds a row; it has as many cells as there are headings.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells);
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Neighbouring rows that differ in their first cell only become one, `2..7`.
    pub fn merged(&self) -> Sheet {
        let mut merged = Sheet { header: self.header.clone(), more_keys: self.more_keys, ..Sheet::default() };
        for group in self.rows.chunk_by(|a, b| a[1..] == b[1..]) {
            let mut row = group[0].clone();
            if group.len() > 1 {
                row[0] = format!("{}..{}", group[0][0], group[group.len() - 1][0]);
            }
            merged.row(row);
        }
        merged
    }

    /// It is no wider than a page of so many columns.
    pub fn fits(&self, width: u16) -> bool {
        self.widths().iter().map(|own| own + 2).sum::<usize>() <= usize::from(width)
    }

    /// Headings and rows.
    pub fn parts_of_rows(&self) -> (Vec<&str>, &[Vec<String>]) {
        (self.headings().map(|(name, _)| name).collect(), &self.rows)
    }

    fn headings(&self) -> impl Iterator<Item = (&str, CellAlignment)> {
        self.header.iter().map(|h| match h.strip_prefix('<') {
            Some(name) => (name, CellAlignment::Left),
            None => (h.as_str(), CellAlignment::Right),
        })
    }

    /// Aligned text. With a `width`, that of a terminal, sentences wrap, long names are cut, and a table that is wider
    /// all the same is printed in parts, each with the first column.
    pub fn text(&self, width: Option<u16>) -> String {
        let Some(width) = width.map(usize::from) else { return self.aligned(None) };
        let widths = self.widths();
        let sentences = widths.iter().filter(|&&w| w > usize::from(WORD_COLUMNS_MAX)).count();
        let words: usize = widths.iter().filter(|&&w| w <= usize::from(WORD_COLUMNS_MAX)).map(|w| w + 2).sum();
        let natural: usize = widths.iter().map(|w| w + 2).sum();
        // A table with keys has names and numbers, which are never broken.
        let can_wrap = self.more_keys == 0 && sentences > 0 && words + sentences * 12 <= width;
        if natural <= width || can_wrap && self.has_sentences() {
            return self.aligned(Some(width as u16));
        }
        let short = self.with_short_names();
        let parts = short.parts(width);
        parts.iter().map(|part| part.within(width)).collect::<Vec<_>>().join("\n")
    }

    /// A part that is still too wide has its cells broken, words too.
    fn within(&self, width: usize) -> String {
        let natural: usize = self.widths().iter().map(|w| w + 2).sum();
        if natural <= width {
            return self.aligned(None);
        }
        let mut table = self.table();
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
        lines(&table)
    }

    /// Letters of the widest cell of each column.
    fn widths(&self) -> Vec<usize> {
        let letters = |text: &str| one_line(text).chars().count();
        let widest = |(at, (name, _)): (usize, (&str, CellAlignment))| {
            self.rows.iter().map(|row| letters(&row[at])).max().unwrap_or(0).max(letters(name))
        };
        self.headings().enumerate().map(widest).collect()
    }

    /// Some wide cell has spaces to wrap at.
    fn has_sentences(&self) -> bool {
        let is_long = |cell: &String| cell.len() > usize::from(WORD_COLUMNS_MAX) && cell.contains(' ');
        self.rows.iter().flatten().any(is_long)
    }

    /// The first column, names, cut to what a person needs to know them again.
    fn with_short_names(&self) -> Sheet {
        let mut sheet = self.clone();
        for row in &mut sheet.rows {
            if let Some(name) = row.first_mut().filter(|name| name.chars().count() > NAME_LETTERS_MAX) {
                *name = name.chars().take(NAME_LETTERS_MAX - 1).chain(['~']).collect();
            }
        }
        sheet
    }

    /// The table in parts of at most this width, where the columns allow it. Each has the columns that say what a row
    /// is about, or the first alone where all of them would leave too little room.
    fn parts(&self, width: usize) -> Vec<Sheet> {
        let widths = self.widths();
        let room = |keys: usize| widths.iter().take(keys).map(|own| own + 2).sum::<usize>();
        let all = 1 + self.more_keys;
        let widest = widths.iter().skip(all).max().copied().unwrap_or(0) + 2;
        let keys = if room(all) + widest <= width { all } else { 1 };
        let first = room(keys);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut left = 0;
        for (at, own) in widths.iter().enumerate().skip(keys) {
            if groups.is_empty() || own + 2 > left {
                groups.push((0..keys).collect());
                left = width.saturating_sub(first);
            }
            groups.last_mut().expect("one was added").push(at);
            left = left.saturating_sub(own + 2);
        }
        let pick = |from: &[String], columns: &[usize]| columns.iter().map(|&at| from[at].clone()).collect();
        let part = |columns: &Vec<usize>| Sheet {
            header: pick(&self.header, columns),
            rows: self.rows.iter().map(|row| pick(row, columns)).collect(),
            more_keys: 0,
        };
        if groups.is_empty() { vec![self.clone()] } else { groups.iter().map(part).collect() }
    }

    /// Aligned text, wrapped to `width` columns when given, with a line under the headings and no other rules.
    fn aligned(&self, width: Option<u16>) -> String {
        let mut table = self.table();
        if let Some(width) = width {
            narrow(&mut table, width);
        }
        lines(&table)
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.headings().map(|(name, align)| Cell::new(name).set_alignment(align)));
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(self.headings())
                .map(|(text, (_, align))| Cell::new(one_line(text)).set_alignment(align));
            table.add_row(cells);
        }
        table
    }

    /// Comma-separated values with a heading line, quoted where needed.
    pub fn csv(&self) -> String {
        let mut out = line(self.headings().map(|(name, _)| name));
        for row in &self.rows {
            out += &line(row.iter().map(String::as_str));
        }
        out
    }
}

fn lines(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|l| l.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Fits a table into a terminal: columns of sentences wrap, columns of words and numbers never do. A table without
/// sentences stays as wide as it is.
fn narrow(table: &mut Table, width: u16) {
    let widths = table.column_max_content_widths();
    let natural: usize = widths.iter().map(|&w| usize::from(w) + 2).sum();
    let fixed: usize = widths.iter().filter(|&&w| w <= WORD_COLUMNS_MAX).map(|&w| usize::from(w) + 2).sum();
    let sentences = widths.iter().filter(|&&w| w > WORD_COLUMNS_MAX).count();
    if natural <= usize::from(width) || sentences == 0 || fixed + sentences * 12 > usize::from(width) {
        return;
    }
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for (column, &content) in table.column_iter_mut().zip(&widths) {
        if content <= WORD_COLUMNS_MAX {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// A cell that no spreadsheet takes for a formula: names come out of files that may hold anything.
fn inert(cell: &str) -> Cow<'_, str> {
    let shown = one_line(cell);
    let runs = shown.starts_with(['=', '+', '-', '@', '|']) && shown.parse::<f64>().is_err();
    if runs { Cow::Owned(format!("'{shown}")) } else { shown }
}

fn quoted(cell: &str) -> String {
    let cell = inert(cell);
    if cell.starts_with('\'') || cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into_owned()
    }
}

/// Columns of the terminal on stdout; `None` when it is no terminal, so nothing is wrapped in files and pipes.
pub fn terminal_width() -> Option<u16> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| width.0.max(40))
}

/// Columns of a page of text where stdout is no terminal.
const PAGE_COLUMNS: u16 = 120;

/// Columns of the terminal, or of a page in files and pipes.
pub fn page_width() -> u16 {
    terminal_width().unwrap_or(PAGE_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(&["<name", "value"]);
        sheet.row(vec!["a".into(), "1".into()]);
        sheet.row(vec!["long name".into(), "1000".into()]);
        sheet
    }

    #[test]
    fn columns_are_aligned_and_lines_end_clean() {
        assert_eq!(sheet().text(None), " name       value\n a              1\n long name   1000\n");
    }

    #[test]
    fn narrow_terminals_wrap_inside_cells() {
        let mut sheet = Sheet::new(&["<text", "n"]);
        sheet.row(vec!["a sentence that is longer than the terminal is wide".into(), "1".into()]);
        assert!(sheet.text(Some(40)).lines().all(|l| l.chars().count() <= 40));
    }

    #[test]
    fn words_and_numbers_are_never_broken() {
        let mut sheet = Sheet::new(&["number", "another", "third", "fourth", "fifth", "sixth"]);
        sheet.row(["1000000"; 6].map(str::to_owned).to_vec());
        let text = sheet.text(Some(40));
        assert!(text.lines().all(|line| line.chars().count() <= 40) && text.matches("1000000").count() == 7, "{text}");
    }

    #[test]
    fn a_table_that_is_too_wide_comes_in_parts_with_its_names() {
        let mut sheet = Sheet::new(&["<name", "one", "two", "three", "four"]);
        let name = "a-name-that-is-much-too-long-for-a-terminal";
        sheet.row([name, "1000000000", "2000000000", "3000000000", "4000000000"].map(str::to_owned).to_vec());
        let text = sheet.text(Some(54));
        assert_eq!(text.lines().filter(|line| line.contains("a-name-that-is-much-too~")).count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 54), "{text}");
        assert!(sheet.text(None).contains(name) && sheet.csv().contains(name));
    }

    #[test]
    fn two_columns_that_are_too_wide_are_broken() {
        let mut sheet = Sheet::new(&["<switch", "<value"]);
        let long = "a_value_that_is_longer_than_what_is_left_of_the_terminal";
        sheet.row(vec!["some_switch_with_a_long_name".into(), long.into()]);
        let text = sheet.text(Some(40));
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }

    #[test]
    fn equal_neighbours_merge() {
        let mut sheet = Sheet::new(&["CPU", "x"]);
        for (cpu, x) in [("0", "a"), ("1", "b"), ("2", "b"), ("3", "b"), ("4", "a")] {
            sheet.row(vec![cpu.into(), x.into()]);
        }
        let merged = sheet.merged();
        assert_eq!(merged.rows.iter().map(|r| r[0].as_str()).collect::<Vec<_>>(), ["0", "1..3", "4"]);
    }

    #[test]
    fn every_part_of_a_wide_table_says_what_its_rows_are_about() {
        let mut sheet = Sheet::new(&["<name", "<quantity", "policy", "median", "change"]).with_keys(3);
        sheet.row(["", "energy_mj", "[1]", "1234567890.5", "+1234567.8 %"].map(str::to_owned).to_vec());
        let text = sheet.without_empty_columns().text(Some(40));
        let parts: Vec<&str> = text.split("\n\n").collect();
        assert!(parts.len() == 2 && parts.iter().all(|part| part.contains("energy_mj     [1]")), "{text}");
        assert!(!text.contains("name"), "{text}");
    }

    #[test]
    fn names_of_numbers_are_not_broken() {
        let mut sheet = Sheet::new(&["<name", "<quantity", "policy", "median", "<confidence"]).with_keys(3);
        sheet.row(["", "step_latency_ms_avg", "[1]", "1606.111", "[-11.1, +177.6] *"].map(str::to_owned).to_vec());
        let text = sheet.without_empty_columns().text(Some(50));
        assert!(text.contains("step_latency_ms_avg") && text.contains("[-11.1, +177.6] *"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
    }

    #[test]
    fn a_unit_is_no_formula() {
        let mut sheet = Sheet::new(&["<unit", "value"]);
        sheet.row(vec!["%".into(), "1".into()]);
        assert_eq!(sheet.csv(), "unit,value\n%,1\n");
    }

    #[test]
    fn names_drive_neither_terminals_nor_spreadsheets() {
        let mut sheet = Sheet::new(&["<a", "n"]);
        for (name, number) in [("\u{1b}]0;t\u{7}x", "-5.2"), ("=cmd|x!A0", "+3"), ("r\u{202e}o\nnew", "-"), ("@a", "1")]
        {
            sheet.row(vec![name.into(), number.into()]);
        }
        let escaped = [" \\u001b]0;t\\u0007x  -5.2", " =cmd|x!A0", " r\\u202eo\\u000anew", " @a"];
        let text = sheet.text(None);
        assert!(text.lines().skip(1).zip(escaped).all(|(line, start)| line.starts_with(start)), "{text}");
        let csv = ["\\u001b]0;t\\u0007x,-5.2", "\"'=cmd|x!A0\",+3", "r\\u202eo\\u000anew,\"'-\"", "\"'@a\",1"];
        assert_eq!(sheet.csv().lines().skip(1).collect::<Vec<_>>(), csv);
    }

    #[test]
    fn csv_quotes_what_it_must() {
        let mut sheet = Sheet::new(&["<a", "b"]);
        sheet.row(vec!["x,\"y\"".into(), "1".into()]);
        assert_eq!(sheet.csv(), "a,b\n\"x,\"\"y\"\"\",1\n");
    }
}
