// SPDX-License-Identifier: GPL-2.0-only
//! Tables for people and for spreadsheets. No colour: a table reads the same in a terminal, a pipe and a log.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use std::io::IsTerminal;

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Column headings; one starting with `<` is aligned left, others right.
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// An empty table. A heading that starts with `<` marks a left-aligned column.
    pub fn new(header: &[&'static str]) -> Self {
        Sheet { header: header.to_vec(), rows: Vec::new() }
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

    fn headings(&self) -> impl Iterator<Item = (&'static str, CellAlignment)> + '_ {
        self.header.iter().map(|h| match h.strip_prefix('<') {
            Some(name) => (name, CellAlignment::Left),
            None => (*h, CellAlignment::Right),
        })
    }

    /// Aligned text, wrapped to `width` columns when given, with a line under the headings and no other rules.
    pub fn text(&self, width: Option<u16>) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        table.set_header(self.headings().map(|(name, align)| Cell::new(name).set_alignment(align)));
        for row in &self.rows {
            let cells = row.iter().zip(self.headings()).map(|(text, (_, align))| Cell::new(text).set_alignment(align));
            table.add_row(cells);
        }
        let lines: Vec<String> = table.lines().map(|l| l.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
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

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

/// Columns of the terminal on stdout; `None` when it is no terminal, so nothing is wrapped in files and pipes.
pub fn terminal_width() -> Option<u16> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| width.0.max(40))
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
    fn csv_quotes_what_it_must() {
        let mut sheet = Sheet::new(&["<a", "b"]);
        sheet.row(vec!["x,\"y\"".into(), "1".into()]);
        assert_eq!(sheet.csv(), "a,b\n\"x,\"\"y\"\"\",1\n");
    }
}
