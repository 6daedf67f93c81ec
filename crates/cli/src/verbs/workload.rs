// SPDX-License-Identifier: GPL-2.0-only
//! `pelton workload`: workloads made from traces.

use super::common::{Screen, failure, part, print};
use crate::args::{FromTraceArgs, Global};
use crate::exit::{Exit, Failure};
use crate::output;
use pelton_lab::verbs::workload::{self, FromTraceRequest};

/// Does what was asked.
pub fn from_trace(args: &FromTraceArgs, global: &Global) -> Result<Exit, Failure> {
    output::spare(args.output.as_slice(), std::slice::from_ref(&args.trace))?;
    let request = FromTraceRequest { trace: args.trace.clone(), part: part(&args.part), model: args.model };
    let text = workload::from_trace(&request, &Screen::new(global)).map_err(failure)?;
    match &args.output {
        None => print(&text)?,
        Some(path) => output::write(path, &text)?,
    }
    Ok(Exit::Good)
}
