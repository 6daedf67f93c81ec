// SPDX-License-Identifier: GPL-2.0-or-later
//! Balances, counted: what `pelton record --balances --format json` counts, as it comes, and the searches that they
//! make where a table is asked for.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use pelton_live::{BalanceSession, BalanceSummary, KINDS, TableSession};
use serde_json::{Value, json};

use crate::{SETTLE, Table, Work};

/// Counts while the load runs; with a `table`, searches are written there.
///
/// # Errors
/// When the kernel cannot be recorded, the load cannot be started, or nothing can be written.
pub fn count(work: &Work, table: Option<&Path>) -> Result<Value, Box<dyn Error>> {
    let mut session = BalanceSession::start(table.is_some())?;
    let mut out = table.map(Table::create).transpose()?;
    let mut put = |line: &str| _ = out.as_mut().map(|out| out.put(line));
    put(&session.header());
    let (workload, duration) = &work.loads[0];
    let running = work.start(workload)?;
    std::thread::park_timeout(SETTLE);
    session.settled()?;
    let begin = Instant::now();
    while begin.elapsed() < *duration {
        session.poll(&mut put);
    }
    let notes = running.notes.clone();
    let summary = session.finish(&mut put)?;
    drop(running);
    if let Some(out) = out {
        out.finish(Some(&summary.machine))?;
    }
    Ok(json!({
        "workload": workload, "cpus": summary.cpus, "decisions": summary.decisions, "lost": summary.lost,
        "counts": counts(&summary), "load": [], "notes": notes,
    }))
}

/// Counts by the names that they have in results, and the times that shares are made of.
fn counts(summary: &BalanceSummary) -> Value {
    let kinds = KINDS.iter().zip(&summary.counts.kinds).map(|(name, kind)| {
        json!({
            "kind": name, "balances": kind.balances, "pulls": kind.pulls, "detached": kind.detached,
            "spent_ns": kind.spent_ns,
        })
    });
    json!({
        "seconds": summary.seconds, "kinds": kinds.collect::<Vec<_>>(), "asked": summary.counts.asked,
        "runnable_ns": summary.counts.runnable_ns,
    })
}
