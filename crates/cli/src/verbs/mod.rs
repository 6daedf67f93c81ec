// SPDX-License-Identifier: GPL-2.0-only
//! One file per verb: what the arguments mean and how the result is printed.

mod carried;
mod common;
mod compare;
mod distinguish;
mod explain;
mod explain_placement;
mod export_tables;
mod front;
mod placements;
mod platform;
mod policy;
#[cfg(feature = "record")]
mod record;
#[cfg(not(feature = "record"))]
#[path = "no_record.rs"]
mod record;
mod recorded;
mod replay;
mod reproduce;
mod run;
mod trace;
mod validate;
mod workload;

use crate::args::{Cli, PlatformVerb, PolicyVerb, TraceVerb, Verb, WorkloadVerb};
use crate::exit::{Exit, Failure};

/// Does what was asked.
pub fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let global = &cli.global;
    match &cli.verb {
        Verb::Run(args) => run::run(args, global),
        Verb::Compare(args) => compare::compare(args, global),
        Verb::Front(args) => front::front(args, global),
        Verb::Replay(args) => replay::replay(args, global),
        Verb::Reproduce(args) => reproduce::reproduce(args, global),
        Verb::Record(args) => record::record(args, global),
        Verb::Explain(args) => explain::explain(args, global),
        Verb::Validate(args) => validate::validate_traces(args, global),
        Verb::Platform(PlatformVerb::List) => platform::list(global),
        Verb::Platform(PlatformVerb::Show { platform }) => platform::show(platform, global),
        Verb::Platform(PlatformVerb::Check { file }) => platform::check(file, global),
        Verb::Policy(PolicyVerb::List) => policy::list(global),
        Verb::Policy(PolicyVerb::Show(args)) => policy::show(args, global),
        Verb::Workload(WorkloadVerb::FromTrace(args)) => workload::from_trace(args, global),
        Verb::Trace(TraceVerb::Info(args)) => trace::info(args, global),
        Verb::Trace(TraceVerb::Export(args)) => trace::export(args, global),
    }
}
