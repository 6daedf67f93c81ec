// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers that a recorded run and a simulated one have in common.

/// A number.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Kind of the subject: run, cpu, domain or task; several are joined by `, `.
    pub scope: &'static str,
    /// Name, with its unit.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

macro_rules! quantities {
    ($( $scope:literal $name:literal [$unit:literal] $doc:literal; )*) => {
        /// Every number of a replay, in table order.
        pub const QUANTITIES: &[Quantity] =
            &[ $( Quantity { scope: $scope, name: $name, unit: $unit, doc: $doc }, )* ];
    };
}

quantities! {
    "run, cpu" "busy_ms" ["ms"] "CPU time spent in tasks.";
    "run" "work_undone_ms" ["ms"] "Work of the recording that was still to do at the end, on a CPU of capacity 1024.";
    "run, domain" "energy_active_mj" ["mJ"] "Energy of busy CPUs: time at each frequency times what a busy CPU draws there.";
    "run, task" "wakeup_latency_us_avg" ["us"] "Mean time from wake-up, or start, to execution.";
    "run, task" "wakeup_latency_us_p95" ["us"] "The time that 95 of 100 wake-ups do not exceed.";
    "run, task" "wakeup_latency_us_max" ["us"] "Longest time from wake-up, or start, to execution.";
    "domain" "frequency_mhz_avg" ["MHz"] "Mean frequency over time.";
    "domain" "transitions" ["count"] "Frequency changes.";
    "domain" "residency_distance_pct" ["%"] "Share of the time that would have to move to another frequency to make both sides the same.";
    "task" "run_ms" ["ms"] "Time executing.";
    "task" "wakeups" ["count"] "Wake-ups that were followed by execution.";
}

/// The unit of a number.
pub(crate) fn unit(name: &str) -> &'static str {
    QUANTITIES.iter().find(|q| q.name == name).map_or("", |q| q.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_that_is_judged_is_declared() {
        assert!(crate::workload::TOLERANCES.iter().all(|t| !unit(t.quantity).is_empty()));
    }
}
