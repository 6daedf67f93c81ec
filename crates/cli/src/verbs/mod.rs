// SPDX-License-Identifier: GPL-2.0-or-later
//! One file per verb: what the arguments mean and how the result is printed.

mod check;
mod clamps;
mod common;
mod compare;
mod decisions;
mod distinguish;
mod explain;
mod explain_balance;
mod explain_diff;
mod explain_placement;
mod explain_recorded;
mod explain_thermal;
mod export_tables;
mod front;
mod import;
mod kernel;
mod kernel_diff;
mod kernel_state;
#[cfg(feature = "record")]
mod live;
#[cfg(not(feature = "record"))]
#[path = "no_live.rs"]
mod live;
mod placements;
mod platform;
mod policy;
#[cfg(feature = "record")]
mod record;
#[cfg(not(feature = "record"))]
#[path = "no_record.rs"]
mod record;
mod replay;
mod report;
mod reproduce;
mod reproduce_csv;
mod result;
mod run;
mod serve;
mod shell;
mod sweep;
mod trace;
mod validate;
mod why;
mod workload;

use crate::args::{
    Cli, Format, KernelVerb, PlatformVerb, PolicyVerb, ResultVerb, ShellVerb, TraceVerb, Verb, WorkloadVerb,
};
use crate::exit::{Exit, Failure};
use crate::sheet;

/// Runs the verb of the command line.
pub fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let global = &cli.global;
    sheet::choose(global.format == Format::Markdown);
    let has_toml = matches!(&cli.verb, Verb::Platform(PlatformVerb::Show { .. } | PlatformVerb::Import(_)));
    if global.format == Format::Toml && !has_toml {
        let hint = "table, json, csv or markdown; `pelton platform show` and `import` have toml";
        return Err(Failure::new(Exit::Usage, "--format toml: this is no platform", Some(hint)));
    }
    match &cli.verb {
        Verb::Run(args) => run::run(args, global),
        Verb::Compare(args) => compare::compare(args, global),
        Verb::Sweep(args) => sweep::sweep(args, global),
        Verb::Report(args) => report::report(args, global),
        Verb::Serve(args) => serve::serve(args, global),
        Verb::Front(args) => front::front(args, global),
        Verb::Why(args) => why::why(args, global),
        Verb::Replay(args) => replay::replay(args, global),
        Verb::Reproduce(args) => reproduce::reproduce(args, global),
        Verb::Check(args) => check::check(args, global),
        Verb::Record(args) => record::record(args, global),
        Verb::Live(args) => live::live(args, global),
        Verb::Explain(args) => explain::explain(args, global),
        Verb::Validate(args) => validate::validate_traces(args, global),
        Verb::Platform(PlatformVerb::List) => platform::list(global),
        Verb::Platform(PlatformVerb::Show { platform }) => platform::show(platform, global),
        Verb::Platform(PlatformVerb::Import(args)) => import::import(args, global),
        Verb::Platform(PlatformVerb::Check { file }) => platform::check(file, global),
        Verb::Policy(PolicyVerb::List) => policy::list(global),
        Verb::Policy(PolicyVerb::Show(args)) => policy::show(args, global),
        Verb::Kernel(KernelVerb::Build(args)) => kernel::build(args, global),
        Verb::Kernel(KernelVerb::List) => kernel::list(global),
        Verb::Kernel(KernelVerb::Show { name }) => kernel::show(name, global),
        Verb::Kernel(KernelVerb::Diff(args)) => kernel_diff::diff(args, global),
        Verb::Kernel(KernelVerb::Remove { name }) => kernel::remove(name, global),
        Verb::Workload(WorkloadVerb::List) => workload::list(global),
        Verb::Workload(WorkloadVerb::Show { model }) => workload::show(model, global),
        Verb::Workload(WorkloadVerb::FromTrace(args)) => workload::from_trace(args, global),
        Verb::Result(ResultVerb::Quantities) => result::quantities(global),
        Verb::Result(ResultVerb::Schema { kind }) => result::schema(kind.as_deref(), global),
        Verb::Shell(ShellVerb::Completions { shell }) => shell::completions(*shell),
        Verb::Shell(ShellVerb::Man { verb, all }) => shell::man(verb, all.as_deref()),
        Verb::Trace(TraceVerb::Info(args)) => trace::info(args, global),
        Verb::Trace(TraceVerb::Export(args)) => trace::export(args, global),
    }
}
