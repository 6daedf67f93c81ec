// SPDX-License-Identifier: GPL-2.0-or-later
//! Balances of tasks between CPUs, counted: in a running kernel and in the simulator alike.

use schemars::JsonSchema;
use serde::Serialize;

/// Counts of balances of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BalanceKind {
    /// Kind of balance: `periodic` of a CPU for itself at a tick, `nohz_idle` of one for others that are idle,
    /// `newidle` of one that is about to be idle, `active` of a CPU whose running task is stopped.
    pub kind: &'static str,
    /// Domains that were balanced.
    pub balances: u64,
    /// Balances that had tasks moved.
    pub pulls: u64,
    /// Tasks that moved.
    pub detached: u64,
    /// Time in balances, ns.
    pub spent_ns: u64,
}

/// Counts of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BalanceCounts {
    /// For how long, s.
    pub seconds: f64,
    /// By kind.
    pub kinds: Vec<BalanceKind>,
    /// Running tasks that were to be stopped and moved.
    pub asked: u64,
    /// Share of the time of all CPUs with 0, 1, 2 ... runnable tasks, %; the last number stands for more as well.
    pub runnable_percent: Vec<f64>,
    /// Shares of the time of each CPU alone, %.
    pub runnable_percent_of_cpus: Vec<Vec<f64>>,
}

/// Shares of times, %.
fn percent(times: &[u64]) -> Vec<f64> {
    let all: u64 = times.iter().sum();
    times.iter().map(|ns| *ns as f64 * 100.0 / all.max(1) as f64).collect()
}

impl BalanceCounts {
    /// Counts, and of each CPU the time with so many runnable tasks.
    pub fn new(seconds: f64, kinds: Vec<BalanceKind>, asked: u64, runnable_ns: &[Vec<u64>]) -> BalanceCounts {
        let most = runnable_ns.iter().map(Vec::len).max().unwrap_or(0);
        let sum = |tasks| runnable_ns.iter().filter_map(|times| times.get(tasks)).sum();
        let all: Vec<u64> = (0..most).map(sum).collect();
        BalanceCounts {
            seconds,
            kinds,
            asked,
            runnable_percent: percent(&all),
            runnable_percent_of_cpus: runnable_ns.iter().map(|times| percent(times)).collect(),
        }
    }
}

/// A figure that a load measured itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LoadFigures {
    /// Name: `hackbench_s` a run of hackbench, s; `schbench_us` a latency of schbench, us; `call_ns`, `switch_ns` the
    /// time that writing or reading a message takes, and waking and switching besides.
    pub name: &'static str,
    /// Number of measurements.
    pub count: u64,
    /// 50, 75, 90, 95, 99 % of them are below.
    pub quantiles: Vec<f64>,
    /// The largest.
    pub max: f64,
}

/// Printed result of a recording of balances.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BalancesRecorded {
    /// Files written: the table, and the machine beside it; none without a table.
    pub files: Vec<String>,
    /// The load, as `--load` or the command had it.
    pub workload: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Searches in the table.
    pub decisions: u64,
    /// Searches that had no room in the buffer, or came cut off.
    pub lost: u64,
    /// The counts.
    pub counts: BalanceCounts,
    /// Figures that the load measured.
    pub load: Vec<LoadFigures>,
    /// Parts that could not be done as asked.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_shares() {
        let counts = BalanceCounts::new(1.0, Vec::new(), 0, &[vec![75, 25], vec![25, 75]]);
        assert_eq!(counts.runnable_percent, [50.0, 50.0]);
        assert_eq!(counts.runnable_percent_of_cpus, [[75.0, 25.0], [25.0, 75.0]]);
    }
}
