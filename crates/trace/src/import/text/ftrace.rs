// SPDX-License-Identifier: GPL-2.0-or-later
//! Text of tracefs `trace`, `trace-cmd report`, systrace pages and `perf script`.

use std::io::BufRead;
use std::path::Path;

use memchr::memmem::find;
use pelton_schema::Event;

use super::head::Head;
use super::keys::{Keyed, events, names_in};
use super::number::{CPU_RANGE, cpu_number, decimal};
use super::page::{Page, Part};
use super::positional;
use super::source::{Bad, Output, Parser, Seen, TextLines, bad};
use crate::import::Format;
use crate::import::decode::Wrong;
use crate::import::marked;

/// Facts kept for the report.
const REMARKS_KEPT: usize = 32;

/// A text trace.
pub type TextSource = TextLines<Ftrace>;

impl TextSource {
    /// Reads a text trace of this kind; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path, format: Format) -> TextSource {
        let page = (format == Format::SystraceHtml).then(Page::default);
        TextLines::over(Box::new(reader), path, format, Ftrace { events: events(), last_ns: 0, page })
    }
}

/// Lines of ftrace.
pub struct Ftrace {
    events: Vec<Keyed>,
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
        if self.page.is_some() {
            return "give a page of systrace with its trace in it, or the text itself";
        }
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
        let head = match Head::parse(line) {
            Ok(head) => head,
            Err(bad) => return call_chain(line).map(|what| out.pass_over(what)).ok_or(bad),
        };
        let base = line.len() - head.fields.len();
        self.last_ns = head.time_ns;
        out.resolution(head.step_ns);
        out.cpu(head.cpu);
        out.notes.name(head.tid, head.comm);
        self.event(&head, out).map_err(|bad| Bad { at: bad.at + base, ..bad })?;
        Ok(Seen::Understood)
    }

    /// Lines that are no events and not damage; lost events among them.
    fn is_preamble(&mut self, line: &[u8], out: &mut Output) -> Result<bool, Bad> {
        if let Some(rest) = line.strip_prefix(b"CPU:") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let Some(cpu) = decimal(&rest[..digits]).and_then(cpu_number) else { return bad(4, CPU_RANGE) };
            let count = rest[digits..].split(|byte| !byte.is_ascii_digit()).find_map(decimal).unwrap_or(0);
            out.notes.info.lost = out.notes.info.lost.saturating_add(count);
            out.notes.info.lost_unknown += u64::from(count == 0);
            out.event(self.last_ns, Event::LostEvents { cpu, count });
            return Ok(true);
        }
        if let Some(cpus) = line.strip_prefix(b"cpus=").and_then(decimal).and_then(cpu_number) {
            out.notes.info.cpus = out.notes.info.cpus.max(cpus);
        }
        let words: [&[u8]; 4] = [b"version = ", b"cpus=", b"trace-cmd ", b"CPU "];
        Ok(words.iter().any(|word| line.starts_with(word)) && Head::parse(line).is_err())
    }

    fn event(&mut self, head: &Head<'_>, out: &mut Output) -> Result<(), Bad> {
        let name = head.event.strip_prefix(b"lisa__").unwrap_or(head.event);
        if marked::NAMES.iter().any(|marked| marked.as_bytes() == name)
            && let Some(event) = marked::frequency(head.fields, name == b"cpu_frequency_devlib")
        {
            out.event(head.time_ns, event);
            return Ok(());
        }
        let Ok(index) = self.events.binary_search_by(|event| event.name.as_bytes().cmp(name)) else {
            if find(head.fields, b"trace_event_clock_sync").is_some() {
                remark(head.fields, out);
            }
            out.notes.info.skip(&String::from_utf8_lossy(&head.event[..head.event.len().min(64)]));
            return Ok(());
        };
        if let Some(event) = positional::event(head, name, out) {
            out.event(head.time_ns, event);
            return Ok(());
        }
        let was_read = self.events[index].was_read();
        let (values, plan) = self.events[index].line(head.fields, &mut out.notes.info);
        if let Some(missing) = plan.missing {
            // Where no line of the event was whole, it is another event of that name; else this line is damaged.
            out.notes.info.other_form(&plan.name, || names_in(head.fields));
            if was_read {
                return bad(0, format!("{} without `{missing}`", plan.name));
            }
            out.notes.info.skip(&plan.name);
            return Ok(());
        }
        match plan.read(&values, head.cpu, &mut out.notes) {
            Ok(event) => hand_out(head.time_ns, event, plan.cpus(&values), out),
            Err(Wrong::Meaningless) => out.notes.info.skip(&plan.name),
            Err(Wrong::Field(place)) => {
                let (key, text) = values.at(place);
                return bad(offset(head.fields, text), format!("`{key}` is not what it should be"));
            }
        }
        Ok(())
    }
}

/// Kind of a line that belongs to the call chain of the event above it: its head, or one function of it. ftrace and
/// `trace-cmd report` write `=> function`, `perf script` an address and what is there, indented.
fn call_chain(line: &[u8]) -> Option<&'static str> {
    let text = line.trim_ascii();
    if text.ends_with(b"<stack trace>") {
        return Some("kernel_stack");
    }
    if text.ends_with(b"<user stack trace>") {
        return Some("user_stack");
    }
    let address = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let of_perf = line[0].is_ascii_whitespace() && address >= 4 && text.get(address) == Some(&b' ');
    (of_perf || text.starts_with(b"=> ")).then_some("functions of call chains")
}

/// Hands out an event, of each CPU of a set when there is one.
fn hand_out(time_ns: u64, event: Event, cpus: Option<u64>, out: &mut Output) {
    let (Event::CpuFrequency { freq_khz, .. }, Some(cpus)) = (event, cpus) else {
        return out.event(time_ns, event);
    };
    let cpus = (0..64).filter(|cpu| cpus >> cpu & 1 == 1);
    cpus.for_each(|cpu| out.event(time_ns, Event::CpuFrequency { cpu, freq_khz }));
}

/// Offset at which a part of a text begins in it.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// Keeps a fact for people.
fn remark(line: &[u8], out: &mut Output) {
    let text = line.trim_ascii_start().strip_prefix(b"#").unwrap_or(line).trim_ascii();
    // As `perf script --header` writes it, and our own text.
    if let Some(kernel) = [&b"os release :"[..], b"kernel "].iter().find_map(|before| text.strip_prefix(*before)) {
        return out.notes.info.kernel_named_in(&String::from_utf8_lossy(&kernel[..kernel.len().min(200)]));
    }
    let facts: [&[u8]; 6] =
        [b"tracer:", b"entries-in-buffer", b"trace_event_clock_sync", b"version = ", b"CPU ", b"clock:"];
    if facts.iter().any(|fact| text.starts_with(fact)) && out.notes.info.remarks.len() < REMARKS_KEPT {
        out.notes.info.remarks.push(String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned());
    }
}
