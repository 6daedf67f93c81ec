// SPDX-License-Identifier: GPL-2.0-or-later
//! Several files of one recording as one trace: tables of one signal each, as notebooks keep them.

use pelton_schema::EVENTS;
use pelton_trace::import::{ImportError, Source, Timed, TraceInfo};

/// Files read side by side, in the order of their times.
pub struct Merged {
    parts: Vec<Part>,
    info: TraceInfo,
    started: bool,
}

struct Part {
    source: Box<dyn Source>,
    next: Option<Timed>,
}

impl Merged {
    /// Several files; at equal times the first goes first. `None` for no file.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Option<Merged> {
        let info = sources.first()?.info().clone();
        let parts = sources.into_iter().map(|source| Part { source, next: None }).collect();
        Some(Merged { parts, info, started: false })
    }

    /// Takes over what the parts have learned about themselves.
    fn learn(&mut self) {
        self.info.lost = self.parts.iter().map(|part| part.source.info().lost).sum();
        self.info.lost_unknown = self.parts.iter().map(|part| part.source.info().lost_unknown).sum();
        self.info.damaged = self.parts.iter().map(|part| part.source.info().damaged).sum();
        for part in &self.parts {
            let of = part.source.info();
            self.info.names.extend(of.names.iter().map(|(tid, name)| (*tid, name.clone())));
            self.info.other_forms.extend(of.other_forms.iter().map(|(name, form)| (name.clone(), form.clone())));
            for event in EVENTS {
                let carried = event.columns.iter().filter(|column| of.carries(event.name, column.name));
                carried.for_each(|column| self.info.has_column(event, column.name));
            }
        }
    }
}

impl Source for Merged {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        if !self.started {
            self.started = true;
            for part in &mut self.parts {
                part.next = part.source.next()?;
            }
        }
        let ahead = |(index, part): (usize, &Part)| part.next.map(|timed| (timed.time_ns, index));
        let Some((_, index)) = self.parts.iter().enumerate().filter_map(ahead).min() else {
            self.learn();
            return Ok(None);
        };
        let part = &mut self.parts[index];
        let following = part.source.next()?;
        Ok(std::mem::replace(&mut part.next, following))
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}
