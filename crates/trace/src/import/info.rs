// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts that a reader learns about a trace besides its events.

use std::collections::BTreeMap;
use std::fmt;

use pelton_schema::{EVENTS, Event, EventInfo};

use crate::header::RunHeader;

/// Kind of file of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Text of tracefs `trace` or `trace-cmd report`.
    FtraceText,
    /// A page made by systrace, with ftrace text inside.
    SystraceHtml,
    /// `perf script` of scheduler events.
    PerfScript,
    /// `trace.dat` of trace-cmd.
    TraceDat,
    /// Perfetto protobuf.
    Perfetto,
    /// A table of load-tracking calls or tracepoints, one row per event.
    PeltCsv,
    /// A table of frequency and placement decisions.
    DecisionCsv,
    /// A table of time and value, one signal per file.
    SeriesCsv,
    /// A table of task activations.
    ActivationCsv,
    /// Our own log.
    PeltonLog,
}

impl Format {
    /// Every kind.
    pub const ALL: [Format; 10] = [
        Format::FtraceText,
        Format::SystraceHtml,
        Format::PerfScript,
        Format::TraceDat,
        Format::Perfetto,
        Format::PeltCsv,
        Format::DecisionCsv,
        Format::SeriesCsv,
        Format::ActivationCsv,
        Format::PeltonLog,
    ];

    /// Name for people and for `--input-format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::FtraceText => "ftrace-text",
            Format::SystraceHtml => "systrace-html",
            Format::PerfScript => "perf-script",
            Format::TraceDat => "trace-dat",
            Format::Perfetto => "perfetto",
            Format::PeltCsv => "pelt-csv",
            Format::DecisionCsv => "decision-csv",
            Format::SeriesCsv => "series-csv",
            Format::ActivationCsv => "activation-csv",
            Format::PeltonLog => "pelton-log",
        }
    }
}

/// Something in a trace that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Line in a text file, from 1; byte offset in a binary one.
    pub position: u64,
    /// Defect, in one sentence.
    pub what: String,
}

/// Facts known about a trace; grow while it is read.
#[derive(Clone, Debug)]
pub struct TraceInfo {
    /// Kind of file.
    pub format: Format,
    /// Steps of the time stamps: 1000 when they have microseconds only.
    pub resolution_ns: u64,
    /// CPUs, as far as the header or the events show.
    pub cpus: u32,
    /// Last known name of every task.
    pub names: BTreeMap<u32, String>,
    /// Paths of task groups by the numbers used in events.
    pub groups: Vec<String>,
    /// Header of our own logs.
    pub header: Option<RunHeader>,
    /// Task ids are those of a run of ours, dense from 1, and not a kernel's.
    pub run_ids: bool,
    /// Release of the kernel that was recorded, as `uname -r` says it, where the trace names it.
    pub kernel: Option<String>,
    /// Facts for people: tracer, clock, buffer sizes.
    pub remarks: Vec<String>,
    /// Events handed out, by name.
    pub events: BTreeMap<&'static str, u64>,
    /// Events in the file that have no meaning here, by the file's name for them.
    pub skipped: BTreeMap<String, u64>,
    /// Events the recorder says it lost, as far as it says how many.
    pub lost: u64,
    /// Places where it lost an unknown number.
    pub lost_unknown: u64,
    /// Number of places that could not be read.
    pub damaged: u64,
    /// The first few of them.
    pub damage: Vec<Damage>,
    /// Events that were not read because they have other fields than the event of that name, by the file's name.
    pub other_forms: BTreeMap<String, OtherForm>,
    /// Columns the file really has, by event code, one bit per column: the others read as 0 and mean nothing.
    present: BTreeMap<u8, u64>,
    /// Columns that every form of an event in this file has; in the others 0 may say that the form has no such column.
    in_every_form: BTreeMap<u8, u64>,
}

/// An event with a known name and other fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherForm {
    /// Fields that it has.
    pub fields: Vec<String>,
    /// Fields without which an event of this name is not read.
    pub expected: Vec<&'static str>,
    /// Events of this form.
    pub count: u64,
}

impl fmt::Display for OtherForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = self.expected.join(", ");
        match self.fields.as_slice() {
            [] => write!(f, "{} events lack a field; expected {expected}", self.count),
            has => write!(f, "{} events have fields {}; expected {expected}", self.count, has.join(", ")),
        }
    }
}

impl TraceInfo {
    /// Number of places that are kept for the report.
    const DAMAGE_KEPT: usize = 8;
    /// Number of names of skipped events that are counted apart.
    const SKIPPED_KEPT: usize = 1024;

    /// Facts about a trace of which nothing has been read.
    pub fn new(format: Format) -> TraceInfo {
        TraceInfo {
            format,
            resolution_ns: 1,
            cpus: 0,
            names: BTreeMap::new(),
            groups: Vec::new(),
            header: None,
            run_ids: false,
            kernel: None,
            remarks: Vec::new(),
            events: BTreeMap::new(),
            skipped: BTreeMap::new(),
            lost: 0,
            lost_unknown: 0,
            damaged: 0,
            damage: Vec::new(),
            other_forms: BTreeMap::new(),
            present: BTreeMap::new(),
            in_every_form: BTreeMap::new(),
        }
    }

    /// The kernel by what `uname -a` or a line like it says: the first word that begins with a number and a dot.
    pub(crate) fn kernel_named_in(&mut self, text: &str) {
        let is_release = |word: &&str| {
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && word[digits..].starts_with('.')
        };
        self.kernel = text.split_whitespace().find(is_release).map(str::to_owned).or(self.kernel.take());
    }

    /// Name of a task.
    pub fn task_name(&self, tid: u32) -> String {
        match self.names.get(&tid) {
            Some(name) => name.clone(),
            None if tid == 0 => "idle".to_owned(),
            None => crate::header::unnamed_task(tid),
        }
    }

    /// Remembers a task's name; cheap when it is the one already known.
    pub fn name_task(&mut self, tid: u32, name: &str) {
        if name.is_empty() || self.names.get(&tid).is_some_and(|known| known == name) {
            return;
        }
        self.names.insert(tid, name.to_owned());
    }

    /// Counts an event that has no meaning here.
    pub fn skip(&mut self, name: &str) {
        if let Some(count) = self.skipped.get_mut(name) {
            *count += 1;
        } else {
            let name = if self.skipped.len() < Self::SKIPPED_KEPT { name } else { "(other)" };
            *self.skipped.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Notes a place that could not be read.
    pub fn damage_at(&mut self, position: u64, what: impl fmt::Display) {
        self.damaged += 1;
        if self.damage.len() < Self::DAMAGE_KEPT {
            self.damage.push(Damage { position, what: what.to_string() });
        }
    }

    /// Notes the place where reading ended early; it is among those that are kept, however many came before.
    pub fn ends_at(&mut self, position: u64, what: impl fmt::Display) {
        self.damage.truncate(Self::DAMAGE_KEPT - 1);
        self.damage_at(position, what);
    }

    /// Says that the file carries this column of this event.
    pub fn has_column(&mut self, event: &'static EventInfo, column: &str) {
        if let Some(index) = event.column(column) {
            *self.present.entry(event.code).or_default() |= 1 << index;
        }
    }

    /// Says that the file carries all columns of this event.
    pub fn has_all_columns(&mut self, event: &'static EventInfo) {
        self.present.insert(event.code, u64::MAX);
        self.in_every_form.entry(event.code).or_insert(u64::MAX);
    }

    /// Says that some events of this kind have these columns and no others, one bit each.
    pub(crate) fn has_form(&mut self, event: &'static EventInfo, columns: u64) {
        *self.in_every_form.entry(event.code).or_insert(u64::MAX) &= columns;
    }

    /// Columns of an event whose value is known, one bit each. Where a file has several forms of an event, 0 in a
    /// column that not all of them have counts as not known.
    pub fn known(&self, event: &Event) -> u64 {
        let present = self.present.get(&event.code()).copied().unwrap_or(0);
        let sure = self.in_every_form.get(&event.code()).copied().unwrap_or(present);
        let unsure = |mask: u64, value| if value == 0 { mask & sure } else { mask };
        let (mut known, mut at) = (0, 0);
        event.each_value(|value| {
            known |= unsure(present, value) & 1 << at;
            at += 1;
        });
        known & !event.unknown()
    }

    /// Counts an event with a known name that was not read because it has other fields.
    pub(crate) fn other_form(&mut self, name: &str, fields: impl FnOnce() -> Vec<String>) {
        if !self.other_forms.contains_key(name) && self.other_forms.len() < Self::SKIPPED_KEPT {
            let expected = super::spelling::needed_fields(name);
            self.other_forms.insert(name.to_owned(), OtherForm { fields: fields(), expected, count: 0 });
        }
        if let Some(form) = self.other_forms.get_mut(name) {
            form.count += 1;
        }
    }

    /// True when the file carries this column; a value of a column it does not carry is 0 and means nothing.
    pub fn carries(&self, event: &str, column: &str) -> bool {
        let Some(info) = EVENTS.iter().find(|info| info.name == event) else { return false };
        let mask = self.present.get(&info.code).copied().unwrap_or(0);
        info.column(column).is_some_and(|index| mask >> index & 1 == 1)
    }

    /// True when the trace was read without a gap: nothing damaged, nothing lost.
    pub fn is_complete(&self) -> bool {
        self.damaged == 0 && self.lost == 0 && self.lost_unknown == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_columns_of_the_file_are_carried() {
        let mut info = TraceInfo::new(Format::FtraceText);
        let event = EVENTS.iter().find(|e| e.name == "pelt_se").expect("declared");
        info.has_column(event, "util_avg");
        assert!(info.carries("pelt_se", "util_avg") && !info.carries("pelt_se", "load_avg"));
        assert!(!info.carries("pelt_cfs", "util_avg") && !info.carries("no_such_event", "util_avg"));
    }

    #[test]
    fn a_kernel_is_named_by_the_first_word_that_looks_like_a_release() {
        let named = |text: &str| {
            let mut info = TraceInfo::new(Format::TraceDat);
            info.kernel_named_in(text);
            info.kernel
        };
        for text in ["Linux host 6.18.44-amd64 x86_64", "6.18.44-amd64", "Linux 4-cpu-box 6.18.44-amd64 #1 6.12"] {
            assert_eq!(named(text).as_deref(), Some("6.18.44-amd64"), "{text}");
        }
        assert_eq!((named("tracer: nop"), named("")), (None, None));
    }

    #[test]
    fn a_hostile_file_cannot_grow_the_lists() {
        let mut info = TraceInfo::new(Format::FtraceText);
        for i in 0..100_000 {
            info.skip(&format!("event{i}"));
            info.damage_at(i, "bad");
        }
        assert!(info.skipped.len() <= TraceInfo::SKIPPED_KEPT + 1 && info.damage.len() == TraceInfo::DAMAGE_KEPT);
        assert_eq!((info.skipped.values().sum::<u64>(), info.damaged), (100_000, 100_000));
    }
}
