// SPDX-License-Identifier: GPL-2.0-or-later
//! A part of a trace: some time, some CPUs, some tasks.

use pelton_schema::{Event, EventInfo};

use super::convert::each_tid;
use super::{ImportError, Source, Timed, TraceInfo};

/// Selection of a part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// From so long after the first event on, ns.
    pub from_ns: Option<u64>,
    /// Up to so long after the first event, ns.
    pub to_ns: Option<u64>,
    /// Only what happened on these CPUs; none = all.
    pub cpus: Vec<u32>,
    /// Only what is about these tasks, by name or id; none = all.
    pub tasks: Vec<String>,
}

impl Part {
    /// True for the whole trace.
    pub fn is_all(&self) -> bool {
        *self == Part::default()
    }

    fn has(&self, since_ns: u64, event: &Event, info: &TraceInfo) -> bool {
        let in_time = self.from_ns.is_none_or(|from| since_ns >= from) && self.to_ns.is_none_or(|to| since_ns < to);
        in_time && self.has_cpu(event) && self.has_task(event, info)
    }

    /// An event without a CPU, as a name, belongs to all.
    fn has_cpu(&self, event: &Event) -> bool {
        self.cpus.is_empty() || cpu(event).is_none_or(|cpu| self.cpus.contains(&cpu))
    }

    fn has_task(&self, event: &Event, info: &TraceInfo) -> bool {
        let mut has = self.tasks.is_empty();
        each_tid(event, |tid| {
            let is_meant = |task: &String| *task == tid.to_string() || info.names.get(&tid) == Some(task);
            has |= self.tasks.iter().any(is_meant);
        });
        has
    }
}

/// The CPU that an event is of.
fn cpu(event: &Event) -> Option<u32> {
    let declared = EventInfo::of_code(event.code())?;
    let (mut columns, mut found) = (declared.columns.iter(), None);
    event.each_value(|value| {
        if columns.next().is_some_and(|column| column.name == "cpu") {
            found = Some(value as u32);
        }
    });
    found
}

/// A trace of which only a part is handed out.
pub struct Narrowed {
    inner: Box<dyn Source>,
    part: Part,
    first_ns: Option<u64>,
}

impl Narrowed {
    /// This part of a trace.
    pub fn new(inner: Box<dyn Source>, part: Part) -> Narrowed {
        Narrowed { inner, part, first_ns: None }
    }
}

impl Source for Narrowed {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        while let Some(timed) = self.inner.next()? {
            let since_ns = timed.time_ns - *self.first_ns.get_or_insert(timed.time_ns);
            if self.part.to_ns.is_some_and(|to| since_ns >= to) {
                return Ok(None);
            }
            if self.part.has(since_ns, &timed.event, self.inner.info()) {
                return Ok(Some(timed));
            }
        }
        Ok(None)
    }

    fn info(&self) -> &TraceInfo {
        self.inner.info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Format;

    struct Given(Vec<Timed>, TraceInfo);

    impl Source for Given {
        fn next(&mut self) -> Result<Option<Timed>, ImportError> {
            Ok(if self.0.is_empty() { None } else { Some(self.0.remove(0)) })
        }

        fn info(&self) -> &TraceInfo {
            &self.1
        }
    }

    fn left(part: Part) -> Vec<u64> {
        let switch = |cpu, next_tid| Event::SchedSwitch {
            cpu,
            prev_tid: 0,
            prev_prio: 0,
            prev_state: 0,
            next_tid,
            next_prio: 0,
        };
        let events = [(100, switch(0, 7)), (200, switch(1, 8)), (300, Event::CpuFrequency { cpu: 1, freq_khz: 5 })];
        let events = events.map(|(time_ns, event)| Timed { time_ns, event }).to_vec();
        let mut info = TraceInfo::new(Format::FtraceText);
        info.names.insert(7, "ui".to_owned());
        let mut narrowed = Narrowed::new(Box::new(Given(events, info)), part);
        std::iter::from_fn(|| narrowed.next().expect("no file")).map(|timed| timed.time_ns).collect()
    }

    #[test]
    fn a_part_is_some_time_some_cpus_or_some_tasks() {
        assert_eq!(left(Part::default()), [100, 200, 300]);
        assert_eq!(left(Part { from_ns: Some(100), to_ns: Some(200), ..Part::default() }), [200]);
        assert_eq!(left(Part { cpus: vec![1], ..Part::default() }), [200, 300]);
        assert_eq!(left(Part { tasks: vec!["ui".into()], ..Part::default() }), [100]);
        assert_eq!(left(Part { tasks: vec!["8".into()], ..Part::default() }), [200]);
    }
}
