// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables for people, for pages and for spreadsheets. Colours come last ([`crate::paint`]): a table reads the same in a
//! terminal, a pipe and a log.

use crate::paint;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use pelton_trace::one_line;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// Widest column that counts as words and numbers and is never wrapped.
const WORD_COLUMNS_MAX: u16 = 14;
/// Letters of a name in a table that is too wide for the terminal.
const NAME_LETTERS_MAX: usize = 24;
/// Narrowest column of sentences, where its words would allow less.
const SENTENCE_COLUMNS_MIN: usize = 12;

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Column headings; one starting with `<` is aligned left, others right.
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Number of columns after the first one that name a row's subject: every part of a wide table repeats them.
    more_keys: usize,
}

impl Sheet {
    /// An empty table. A heading that starts with `<` marks a left-aligned column.
    pub fn new(header: &[&str]) -> Self {
        Sheet { header: header.iter().map(|&h| h.to_owned()).collect(), ..Sheet::default() }
    }

    /// Makes the first `keys` columns name a row's subject.
    pub fn with_keys(mut self, keys: usize) -> Sheet {
        self.more_keys = keys.saturating_sub(1);
        self
    }

    /// Replaces the heading of a column: tables of other programs keep theirs.
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

    /// Table for a screen: what is not known has a dash, from the column `from` on, where a cell is empty.
    pub fn with_dashes(mut self, from: usize) -> Sheet {
        let cells = self.rows.iter_mut().flat_map(|row| row.iter_mut().skip(from));
        cells.filter(|cell| cell.is_empty()).for_each(|cell| *cell = "-".to_owned());
        self
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

    /// True if the table is no wider than a page of so many columns.
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

    /// Aligned text. With a `width`, that of a terminal, sentences wrap between words, and a table that is wider all
    /// the same is printed in parts, each with the first column.
    pub fn text(&self, width: Option<u16>) -> String {
        if is_markdown() {
            return self.markdown();
        }
        let Some(width) = width.map(usize::from) else { return self.aligned(None) };
        let least: usize = self.least_widths().iter().map(|own| own + 2).sum();
        // A table with keys has names and numbers, which are never broken.
        if self.fits(width as u16) || self.more_keys == 0 && self.has_sentences() && least <= width {
            return self.aligned(Some(width as u16));
        }
        let short = self.with_short_names(width);
        let parts = short.parts(width);
        parts.iter().map(|part| part.within(width)).collect::<Vec<_>>().join("\n")
    }

    /// Letters that each column needs: all of them where it has names and numbers, its longest word where it has
    /// sentences.
    fn least_widths(&self) -> Vec<usize> {
        let longest_word = |text: &str| text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        let least = |(at, own): (usize, usize)| {
            let cells = self.rows.iter().map(|row| longest_word(&one_line(&row[at])));
            let words = cells.chain([longest_word(self.name_of(at))]).max().unwrap_or(0);
            if self.is_of_sentences(at) { words.max(SENTENCE_COLUMNS_MIN).min(own) } else { own }
        };
        self.widths().into_iter().enumerate().map(least).collect()
    }

    fn name_of(&self, column: usize) -> &str {
        self.headings().nth(column).map_or("", |(name, _)| name)
    }

    /// Some cell is long and has several words: `1.5 .. 2.5` and `[-1.5, +2.5] *` are one number.
    fn is_of_sentences(&self, column: usize) -> bool {
        let is_sentence = |cell: &String| {
            let words = cell.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
            cell.chars().count() > usize::from(WORD_COLUMNS_MAX) && words > 1
        };
        self.rows.iter().any(|row| is_sentence(&row[column]))
    }

    fn has_sentences(&self) -> bool {
        (0..self.header.len()).any(|column| self.is_of_sentences(column))
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

    /// The first column, names, cut to what a person needs to know them again: where they do not fit beside the other
    /// columns, or where cutting leaves them all different.
    fn with_short_names(&self, width: usize) -> Sheet {
        let short = |name: &str| match name.chars().count() > NAME_LETTERS_MAX {
            true => name.chars().take(NAME_LETTERS_MAX - 1).chain(['~']).collect(),
            false => name.to_owned(),
        };
        let names: BTreeSet<&str> = self.rows.iter().filter_map(|row| row.first()).map(String::as_str).collect();
        let cut: BTreeSet<String> = names.iter().map(|name| short(name)).collect();
        let widths = self.widths();
        let beside = widths.iter().skip(1).max().copied().unwrap_or(0);
        if cut.len() < names.len() && widths.first().is_some_and(|own| own + beside + 4 <= width) {
            return self.clone();
        }
        let mut sheet = self.clone();
        sheet.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|name| *name = short(name));
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

    /// Aligned text, wrapped to `width` columns when given, with a line under the headings and no other rules. Columns
    /// of sentences wrap, columns of names and numbers never do.
    fn aligned(&self, width: Option<u16>) -> String {
        let mut table = self.table();
        if let Some(width) = width.filter(|&width| !self.fits(width)) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            let least = self.least_widths();
            for (at, column) in table.column_iter_mut().enumerate() {
                column.set_constraint(match self.is_of_sentences(at) {
                    // Room for the words, and the two blanks beside them.
                    true => ColumnConstraint::LowerBoundary(Width::Fixed(least[at] as u16 + 2)),
                    false => ColumnConstraint::ContentWidth,
                });
            }
        }
        lines(&table)
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.headings().map(|(name, align)| Cell::new(paint::strong(name)).set_alignment(align)));
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(self.headings())
                .map(|(text, (_, align))| Cell::new(paint::cell(&one_line(text))).set_alignment(align));
            table.add_row(cells);
        }
        table
    }

    /// A table of Markdown: a bar in a cell would end it.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let cell = |text: &str| one_line(text).replace('\\', "\\\\").replace('|', "\\|");
        let rule = |(_, align): (&str, CellAlignment)| match align {
            CellAlignment::Right => "--:".to_owned(),
            _ => "---".to_owned(),
        };
        let head = line(self.headings().map(|(name, _)| cell(name)).collect());
        let rules = line(self.headings().map(rule).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|text| cell(text)).collect()));
        head + &rules + &rows.collect::<String>()
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

/// Tables are Markdown in this program's output.
static MARKDOWN: AtomicBool = AtomicBool::new(false);

/// Text in a page of Markdown, in which names out of files are neither elements of HTML nor links.
pub fn inert_in_pages(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match c {
            '<' if next.is_ascii_alphabetic() || "/!?".contains(next) => out += "&lt;",
            ']' if next == '(' => out += "]\\",
            c => out.push(c),
        }
    }
    out
}

/// Chooses the form of all tables for people, before the first is made.
pub fn choose(markdown: bool) {
    MARKDOWN.store(markdown, Ordering::Relaxed);
}

/// Tables for people are Markdown.
pub fn is_markdown() -> bool {
    MARKDOWN.load(Ordering::Relaxed)
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

    /// Text of the table as printed without colours.
    fn printed(sheet: &Sheet, width: Option<u16>) -> String {
        paint::finish(&sheet.text(width), false, str::to_owned)
    }

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(&["<name", "value"]);
        sheet.row(vec!["a".into(), "1".into()]);
        sheet.row(vec!["long name".into(), "1000".into()]);
        sheet
    }

    #[test]
    fn names_in_a_page_are_neither_elements_nor_links() {
        let shown = inert_in_pages("<b>a</b> < 3 ![x](y) a[1] (z) <!-- <?");
        assert_eq!(shown, "&lt;b>a&lt;/b> < 3 ![x]\\(y) a[1] (z) &lt;!-- &lt;?");
    }

    #[test]
    fn columns_are_aligned_and_lines_end_clean() {
        assert_eq!(printed(&sheet(), None), " name       value\n a              1\n long name   1000\n");
    }

    #[test]
    fn narrow_terminals_wrap_inside_cells() {
        let mut sheet = Sheet::new(&["<text", "n"]);
        sheet.row(vec!["a sentence that is longer than the terminal is wide".into(), "1".into()]);
        assert!(printed(&sheet, Some(40)).lines().all(|l| l.chars().count() <= 40));
    }

    #[test]
    fn words_and_numbers_are_never_broken() {
        let mut sheet = Sheet::new(&["number", "another", "third", "fourth", "fifth", "sixth"]);
        sheet.row(["1000000"; 6].map(str::to_owned).to_vec());
        let text = printed(&sheet, Some(40));
        assert!(text.lines().all(|line| line.chars().count() <= 40) && text.matches("1000000").count() == 7, "{text}");
    }

    #[test]
    fn a_table_that_is_too_wide_comes_in_parts_with_its_names() {
        let mut sheet = Sheet::new(&["<name", "one", "two", "three", "four"]);
        let name = "a-name-that-is-much-too-long-for-a-terminal";
        sheet.row([name, "1000000000", "2000000000", "3000000000", "4000000000"].map(str::to_owned).to_vec());
        let text = printed(&sheet, Some(54));
        assert_eq!(text.lines().filter(|line| line.contains("a-name-that-is-much-too~")).count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 54), "{text}");
        assert!(printed(&sheet, None).contains(name) && sheet.csv().contains(name));
    }

    #[test]
    fn two_columns_that_are_too_wide_are_broken() {
        let mut sheet = Sheet::new(&["<switch", "<value"]);
        let long = "a_value_that_is_longer_than_what_is_left_of_the_terminal";
        sheet.row(vec!["some_switch_with_a_long_name".into(), long.into()]);
        let text = printed(&sheet, Some(40));
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
        let text = printed(&sheet.without_empty_columns(), Some(40));
        let parts: Vec<&str> = text.split("\n\n").collect();
        assert!(parts.len() == 2 && parts.iter().all(|part| part.contains("energy_mj     [1]")), "{text}");
        assert!(!text.contains("name"), "{text}");
    }

    #[test]
    fn names_of_numbers_are_not_broken() {
        let mut sheet = Sheet::new(&["<name", "<quantity", "policy", "median", "<confidence"]).with_keys(3);
        sheet.row(["", "step_latency_ms_avg", "[1]", "1606.111", "[-11.1, +177.6] *"].map(str::to_owned).to_vec());
        let text = printed(&sheet.without_empty_columns(), Some(50));
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
        let text = printed(&sheet, None);
        assert!(text.lines().skip(1).zip(escaped).all(|(line, start)| line.starts_with(start)), "{text}");
        let csv = ["\\u001b]0;t\\u0007x,-5.2", "\"'=cmd|x!A0\",+3", "r\\u202eo\\u000anew,\"'-\"", "\"'@a\",1"];
        assert_eq!(sheet.csv().lines().skip(1).collect::<Vec<_>>(), csv);
    }

    #[test]
    fn only_sentences_wrap_and_only_between_words() {
        let mut sheet = Sheet::new(&["<platform", "CPUs", "<domains", "<what it is"]);
        let what = "a sentence about the board that takes more than one line";
        sheet.row(["odroid-n2-s922x-as-shipped", "6", "cpu-little, cpu-big", what].map(str::to_owned).to_vec());
        let shown = printed(&sheet, Some(72));
        assert!(shown.contains("odroid-n2-s922x-as-shipped"), "{shown}");
        assert!(what.split(' ').all(|word| shown.contains(word)), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 72), "{shown}");
    }

    #[test]
    fn names_that_cutting_would_make_equal_stay_whole() {
        let mut sheet = Sheet::new(&["<row", "published", "simulated", "another", "and another"]);
        for end in ["before", "after"] {
            let name = format!("latency_cyclictest_deep_32.{end}");
            sheet.row([name.as_str(), "1000000000", "1000000000", "1000000000", "1"].map(str::to_owned).to_vec());
        }
        let shown = printed(&sheet, Some(60));
        assert!(shown.contains("latency_cyclictest_deep_32.before") && !shown.contains('~'), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    }

    #[test]
    fn a_table_of_markdown_has_a_line_of_rules() {
        let mut sheet = Sheet::new(&["<name", "value"]);
        sheet.row(vec!["a|b".into(), "1".into()]);
        assert_eq!(sheet.markdown(), "| name | value |\n| --- | --: |\n| a\\|b | 1 |\n");
    }

    #[test]
    fn csv_quotes_what_it_must() {
        let mut sheet = Sheet::new(&["<a", "b"]);
        sheet.row(vec!["x,\"y\"".into(), "1".into()]);
        assert_eq!(sheet.csv(), "a,b\n\"x,\"\"y\"\"\",1\n");
    }
}
