// SPDX-License-Identifier: GPL-2.0-only
//! Text of tracefs `trace`, `trace-cmd report`, systrace pages and `perf script`.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use memchr::memmem::find;
use pelton_schema::{CPU_UNKNOWN, Event, PeltSignal, pack_name};

use super::events::{KEYS_MAX, Spelling, spellings, values};
use super::head::Head;
use super::number::{CPU_RANGE, cpu_number, decimal, hexadecimal, number};
use super::page::{Page, Part};
use super::positional;
use super::source::{Bad, Output, Parser, Seen, TextLines, bad};
use super::state;
use crate::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Task groups whose paths are kept.
const GROUPS_KEPT: usize = 1 << 16;
/// Most columns of an event.
const COLUMNS_MAX: usize = 32;
/// Facts kept for the report.
const REMARKS_KEPT: usize = 32;

/// A text trace.
pub struct TextSource(TextLines<Ftrace>);

impl TextSource {
    /// Reads a text trace of this kind; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path, format: Format) -> TextSource {
        let page = (format == Format::SystraceHtml).then(Page::default);
        let parser = Ftrace { spellings: spellings(), groups: BTreeMap::new(), last_ns: 0, page };
        TextSource(TextLines::new(Box::new(reader), path, format, parser))
    }

    /// Bytes of memory held for lines and events.
    pub fn buffered_bytes(&self) -> usize {
        self.0.buffered_bytes()
    }
}

impl Source for TextSource {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        self.0.next()
    }

    fn info(&self) -> &TraceInfo {
        self.0.info()
    }
}

struct Ftrace {
    spellings: Vec<Spelling>,
    /// Numbers of task groups by path.
    groups: BTreeMap<Vec<u8>, u32>,
    /// Time of the line before.
    last_ns: u64,
    /// The page around the trace.
    page: Option<Page>,
}

impl Parser for Ftrace {
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        let Some(page) = &mut self.page else { return self.trace_line(line, out) };
        match page.line(line) {
            Part::Outside => Ok(Seen::Passed),
            Part::Trace(inside) => {
                let inside = inside.into_owned();
                self.trace_line(&inside, out)
            }
        }
    }

    fn help(&self) -> &'static str {
        "give the text of tracefs `trace`, the output of `trace-cmd report` or of `perf script`"
    }

    fn patient(&self) -> bool {
        self.page.is_some()
    }
}

impl Ftrace {
    fn trace_line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        if line.trim_ascii().is_empty() {
            return Ok(Seen::Passed);
        }
        if line.starts_with(b"#") || self.is_preamble(line, out)? {
            remark(line, out);
            return Ok(Seen::Passed);
        }
        let head = Head::parse(line)?;
        let base = line.len() - head.fields.len();
        self.last_ns = head.time_ns;
        out.resolution(head.step_ns);
        out.cpu(head.cpu);
        out.name(head.tid, head.comm);
        self.event(&head, out).map_err(|bad| Bad { at: bad.at + base, ..bad })?;
        Ok(Seen::Understood)
    }

    /// Lines that are no events and not damage; lost events among them.
    fn is_preamble(&mut self, line: &[u8], out: &mut Output) -> Result<bool, Bad> {
        if let Some(rest) = line.strip_prefix(b"CPU:") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let Some(cpu) = decimal(&rest[..digits]).and_then(cpu_number) else { return bad(4, CPU_RANGE) };
            let count = rest[digits..].split(|byte| !byte.is_ascii_digit()).find_map(decimal).unwrap_or(0);
            out.info.lost = out.info.lost.saturating_add(count);
            out.info.lost_unknown += u64::from(count == 0);
            out.event(self.last_ns, Event::LostEvents { cpu, count });
            return Ok(true);
        }
        if let Some(cpus) = line.strip_prefix(b"cpus=").and_then(decimal).and_then(cpu_number) {
            out.info.cpus = out.info.cpus.max(cpus);
        }
        let words: [&[u8]; 4] = [b"version = ", b"cpus=", b"trace-cmd ", b"CPU "];
        Ok(words.iter().any(|word| line.starts_with(word)) && Head::parse(line).is_err())
    }

    fn event(&mut self, head: &Head<'_>, out: &mut Output) -> Result<(), Bad> {
        let name = head.event.strip_prefix(b"lisa__").unwrap_or(head.event);
        let Ok(index) = self.spellings.binary_search_by(|spelling| spelling.name.as_bytes().cmp(name)) else {
            if find(head.fields, b"trace_event_clock_sync").is_some() {
                remark(head.fields, out);
            }
            out.info.skip(&String::from_utf8_lossy(&head.event[..head.event.len().min(64)]));
            return Ok(());
        };
        if let Some((event, columns)) = positional::event(head, name, out) {
            let spelling = &self.spellings[index];
            columns.iter().for_each(|column| out.info.has_column(spelling.event, column));
            out.event(head.time_ns, event);
            return Ok(());
        }
        let spelling = &mut self.spellings[index];
        let found = values(&spelling.keys, head.fields);
        let event = build(spelling, &found, head, out)?;
        names(spelling, &found, out);
        self.hand_out(index, &found, head, event, out)
    }

    /// Hands out an event, or the events that a line stands for.
    fn hand_out(
        &mut self,
        index: usize,
        found: &[Option<&[u8]>; KEYS_MAX],
        head: &Head<'_>,
        event: Event,
        out: &mut Output,
    ) -> Result<(), Bad> {
        let spelling = &self.spellings[index];
        let text = |name: &str| spelling.keys.iter().position(|key| key.name == name).and_then(|key| found[key]);
        let path = text("path").filter(|path| *path != b"/" && *path != b"(null)");
        let time_ns = head.time_ns;
        match event {
            Event::PeltSe { cpu, tid, util_avg, runnable_avg, load_avg, .. } if tid == u32::MAX => {
                let group = self.group(path.unwrap_or(b"/"), out);
                out.event(time_ns, Event::PeltGroup { cpu, group, entity: 1, util_avg, runnable_avg, load_avg });
            }
            Event::PeltCfs { cpu, util_avg, runnable_avg, load_avg, .. } if path.is_some() => {
                let group = self.group(path.unwrap_or(b"/"), out);
                out.event(time_ns, Event::PeltGroup { cpu, group, entity: 0, util_avg, runnable_avg, load_avg });
            }
            Event::UtilEst { cpu, object, tid, enqueued, ewma, .. }
                if spelling.name.ends_with("s") || spelling.name.ends_with("cpu") =>
            {
                let signal = PeltSignal::Queue as u32;
                out.event(time_ns, Event::UtilEst { cpu, signal, object, tid, enqueued, ewma });
            }
            Event::CpuFrequency { freq_khz, .. } if spelling.name.starts_with("thermal") => {
                let Some(mask) = text("cpus").and_then(hexadecimal) else { return bad(0, "`cpus` is no mask") };
                let cpus = (0..64).filter(|cpu| mask >> cpu & 1 == 1);
                cpus.for_each(|cpu| out.event(time_ns, Event::CpuFrequency { cpu, freq_khz }));
            }
            Event::TaskName { tid, .. } => {
                let name = out.info.names.get(&tid).map_or("", String::as_str);
                let (name_0, name_8) = pack_name(name);
                out.event(time_ns, Event::TaskName { tid, name_0, name_8 });
            }
            event => out.event(time_ns, event),
        }
        Ok(())
    }

    /// The number of a task group.
    fn group(&mut self, path: &[u8], out: &mut Output) -> u32 {
        if let Some(&group) = self.groups.get(path) {
            return group;
        }
        if self.groups.len() >= GROUPS_KEPT {
            return CPU_UNKNOWN;
        }
        let group = out.info.groups.len() as u32;
        out.info.groups.push(String::from_utf8_lossy(&path[..path.len().min(256)]).into_owned());
        self.groups.insert(path.to_owned(), group);
        group
    }
}

/// The event of a line, from the values of its keys.
fn build(
    spelling: &mut Spelling,
    found: &[Option<&[u8]>; KEYS_MAX],
    head: &Head<'_>,
    out: &mut Output,
) -> Result<Event, Bad> {
    let mut stored = [0u64; COLUMNS_MAX];
    let mut present = 0u64;
    if let Some(cpu) = spelling.cpu {
        (stored[cpu], present) = (u64::from(head.cpu), 1 << cpu);
    }
    for (key, text) in spelling.keys.iter().zip(found) {
        let Some(column) = key.column else { continue };
        let Some(text) = text else {
            if key.must {
                return bad(0, format!("{} without `{}`", spelling.name, key.name));
            }
            continue;
        };
        let about = &spelling.event.columns[column];
        stored[column] = match column_value(about.name, text) {
            Some(value) => value,
            None => return bad(offset(head.fields, text), format!("`{}` is not what it should be", key.name)),
        };
        present |= 1 << column;
    }
    let new = present & !spelling.told;
    if new != 0 {
        let columns = spelling.event.columns.iter().enumerate().filter(|(index, _)| new >> index & 1 == 1);
        columns.for_each(|(_, column)| out.info.has_column(spelling.event, column.name));
        spelling.told |= present;
    }
    let stored = &stored[..spelling.event.columns.len()];
    Event::from_values(spelling.event.code, stored)
        .map_or_else(|| bad(0, format!("{} with a number of more than 32 bits", spelling.name)), Ok)
}

/// The stored value of a column.
fn column_value(column: &str, text: &[u8]) -> Option<u64> {
    let text = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or(text);
    match column {
        "prev_state" => state::of_text(text).map(u64::from),
        name if name.ends_with("cpu") => number(text).and_then(cpu_number).map(u64::from),
        "load_avg" | "change" => number(text),
        _ => number(text).map(|value| super::number::narrow(value).map_or(value, u64::from)),
    }
}

/// Where a part of a text begins in it.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// Remembers the names a line tells.
fn names(spelling: &Spelling, found: &[Option<&[u8]>; KEYS_MAX], out: &mut Output) {
    for (key, name) in spelling.keys.iter().zip(found) {
        let (Some(task), Some(name)) = (key.task, name) else { continue };
        let tid = found[task].and_then(|text| decimal(text.split(|byte| *byte == b' ').next()?));
        let Some(tid) = tid.and_then(|tid| u32::try_from(tid).ok()).filter(|tid| *tid != 0) else { continue };
        let name = if key.name == "filename" { name.rsplit(|byte| *byte == b'/').next().unwrap_or(name) } else { name };
        if !name.starts_with(b"<") || !name.ends_with(b">") {
            out.name(tid, name);
        }
    }
}

/// Keeps a fact for people.
fn remark(line: &[u8], out: &mut Output) {
    let text = line.trim_ascii_start().strip_prefix(b"#").unwrap_or(line).trim_ascii();
    let facts: [&[u8]; 6] =
        [b"tracer:", b"entries-in-buffer", b"trace_event_clock_sync", b"version = ", b"CPU ", b"clock:"];
    if facts.iter().any(|fact| text.starts_with(fact)) && out.info.remarks.len() < REMARKS_KEPT {
        out.info.remarks.push(String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned());
    }
}
