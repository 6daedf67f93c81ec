// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns that say of themselves that their value is not known.

use crate::{CPU_UNKNOWN, Event, EventInfo};

/// Columns in which all ones say so.
const ALL_ONES: [(&str, &str); 4] =
    [("util_est", "ewma"), ("util_est", "util_avg"), ("pelt_state", "cpu"), ("lost_events", "cpu")];
/// Columns of a choice of the governor in which 0 says so, where the form it was recorded in is not the complete one.
const CHOICE: [&str; 8] =
    ["resolved_khz", "cur_khz", "max_khz", "raw_khz", "next_khz", "forced", "domain_cpus", "idle_calls"];

impl EventInfo {
    /// Value of a column where it is not known: all ones where that says so of itself, else 0.
    #[must_use]
    pub fn unknown_value(&self, column: &str) -> u64 {
        if ALL_ONES.contains(&(self.name, column)) { u64::from(CPU_UNKNOWN) } else { 0 }
    }
}

impl Event {
    /// Columns whose value says that it is not known, one bit each.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        let Some(info) = EventInfo::of_code(self.code()) else { return 0 };
        let incomplete = matches!(self, Event::NextFreq { domain_cpus: 0, .. });
        let (mut unknown, mut at) = (0, 0);
        self.each_value(|value| {
            let name = info.columns[at].name;
            let ones = value == u64::from(CPU_UNKNOWN) && ALL_ONES.contains(&(info.name, name));
            unknown |= u64::from(ones || incomplete && value == 0 && CHOICE.contains(&name)) << at;
            at += 1;
        });
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EVENTS;

    #[test]
    fn columns_that_may_be_unknown_are_declared() {
        let has = |event: &str, column| EVENTS.iter().any(|info| info.name == event && info.column(column).is_some());
        assert!(ALL_ONES.iter().all(|(event, column)| has(event, column)));
        assert!(CHOICE.iter().all(|column| has("sugov_next_freq", column)));
    }

    #[test]
    fn only_what_says_so_is_unknown() {
        let estimate =
            |ewma, util_avg| Event::UtilEst { cpu: 0, signal: 0, object: 0, tid: 7, enqueued: 9, ewma, util_avg };
        assert_eq!((estimate(0, 0).unknown(), estimate(u32::MAX, u32::MAX).unknown()), (0, 0b110_0000));
        let woken = Event::SchedWakeup { cpu: 0, tid: 7, prio: u32::MAX, target_cpu: 0 };
        assert_eq!(woken.unknown(), 0, "-1 is the priority of deadline tasks");
    }
}
