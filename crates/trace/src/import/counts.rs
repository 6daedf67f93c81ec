// SPDX-License-Identifier: GPL-2.0-or-later
//! Counting events without a search per event.

use pelton_schema::{Event, EventInfo};

use super::TraceInfo;

/// Events after which the counts are carried over to [`TraceInfo`].
const FLUSH_EVENTS: u32 = 4096;

/// Events handed out since the last carry-over, by code.
pub(super) struct Counts {
    by_code: [u32; 256],
    total: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { by_code: [0; 256], total: 0 }
    }
}

impl Counts {
    /// Counts one event.
    #[inline]
    pub fn event(&mut self, event: &Event, info: &mut TraceInfo) {
        self.by_code[usize::from(event.code())] += 1;
        self.total += 1;
        if self.total == FLUSH_EVENTS {
            self.flush(info);
        }
    }

    /// Carries the counts over.
    pub fn flush(&mut self, info: &mut TraceInfo) {
        for (code, count) in (0..=u8::MAX).zip(&mut self.by_code).filter(|(_, count)| **count != 0) {
            if let Some(event) = EventInfo::of_code(code) {
                *info.events.entry(event.name).or_default() += u64::from(*count);
            }
            *count = 0;
        }
        self.total = 0;
    }
}
