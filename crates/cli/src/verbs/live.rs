// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton live`: the policy core as the scheduler of the running kernel, and requests to a running one.

use super::common::{Screen, failure, print, print_json};
use crate::args::{Format, Global, LiveArgs, LiveAsk, LivePlacement, LiveStartArgs};
use crate::exit::{Exit, Failure};
use files::Files;
use metrics::Metrics;
use pelton_lab::number::number;
use pelton_lab::plan::PolicySpec;
use pelton_lab::results::Outcome;
use pelton_lab::results::live::{End, LiveRecorded, LiveReport, LiveStatus};
use pelton_lab::run::LabError;
use pelton_lab::verbs::live::{self, Answer, Ask, LiveRequest, LiveShow, POLICY, Placement, SOCKET};
use std::io::IsTerminal;
use std::net::TcpListener;
use std::path::Path;
use view::View;

mod files;
mod metrics;
mod sheets;
mod unit;
mod view;

/// Time between two states on a terminal, ns.
const EVERY_NS: u64 = 1_000_000_000;

/// Runs the verb.
pub fn live(args: &LiveArgs, global: &Global) -> Result<Exit, Failure> {
    if let Some(ask) = &args.ask {
        if args.start != LiveStartArgs::default() {
            let hint = "only --socket and flags of the output go with it";
            return Err(Failure::new(Exit::Usage, "a request to a running one starts none", Some(hint)));
        }
        return asked(ask, args.socket.as_deref().unwrap_or(Path::new(SOCKET)), global);
    }
    if args.start.unit {
        print(&unit::unit(args)?)?;
        return Ok(Exit::Good);
    }
    run(args, global)
}

/// Runs a scheduler, or observes, until the end.
fn run(args: &LiveArgs, global: &Global) -> Result<Exit, Failure> {
    let request = request(args, global);
    let mut shown = Shown {
        global,
        view: View::default(),
        listener: args.start.prometheus.map(Metrics::open).transpose()?,
        metrics: None,
        observes: args.start.observe,
        failure: None,
    };
    let screen = Screen::new(global);
    let mut files = Files::new(args.start.record.as_deref())?;
    if args.start.observe {
        let observed = live::observe(&request, &mut shown, &mut files, &screen);
        let observed = observed.map_err(|error| files.failure.take().unwrap_or_else(|| shown.failed(error)))?;
        let text = sheets::observed(&observed) + &recorded(observed.recorded.as_ref());
        say(&observed, &text, &sheets::observed_cpus(&observed.cpus).csv(), global)?;
        return Ok(Exit::Good);
    }
    let report = live::live(&request, &mut shown, &mut files, &screen);
    let report = report.map_err(|error| files.failure.take().unwrap_or_else(|| shown.failed(error)))?;
    say(&report, &ended(&report), &sheets::counts(&report.status).csv(), global)?;
    if report.end == End::Kernel {
        return Err(Failure::new(Exit::Ended, reason(&report.status), Some("all tasks are the kernel's again")));
    }
    Ok(Exit::Good)
}

fn request(args: &LiveArgs, global: &Global) -> LiveRequest {
    let start = &args.start;
    let mut policy = PolicySpec::parse(start.policy.as_deref().unwrap_or(POLICY));
    policy.sets.extend(start.sets.iter().cloned());
    let on_terminal = (std::io::stdout().is_terminal() && !global.quiet).then_some(EVERY_NS);
    LiveRequest {
        policy,
        frequencies: !start.no_frequencies,
        placement: match start.placement {
            LivePlacement::Auto => Placement::Auto,
            LivePlacement::Core => Placement::Core,
            LivePlacement::Kernel => Placement::Kernel,
        },
        own_clamps: start.own_clamps,
        record: start.record.clone(),
        duration_ns: start.length,
        every_ns: start.every.or(on_terminal),
        socket: args.socket.clone(),
        platform: start.platform.clone(),
        stall_after_ns: start.stall_after,
    }
}

/// Prints a result; a table of it as CSV.
fn say<T: Outcome>(result: &T, text: &str, csv: &str, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(result),
        Format::Csv => print(csv),
        Format::Table | Format::Markdown | Format::Toml => print(text),
    }
}

/// A scheduler that has ended, in words.
fn ended(report: &LiveReport) -> String {
    let why = match report.end {
        End::Time => "its time was over",
        End::Signal => "a signal came",
        End::Request => "it was asked to",
        End::Kernel => "the kernel ended it",
    };
    let (seconds, counts) = (number(report.status.seconds), sheets::events(&report.status.counts));
    format!("ended after {seconds} s: {why}\n{counts}{}", recorded(report.recorded.as_ref()))
}

/// Contents and files of a recording.
fn recorded(recorded: Option<&LiveRecorded>) -> String {
    let Some(LiveRecorded { files, decisions, placements, lost }) = recorded else { return String::new() };
    format!(
        "recorded {decisions} calls of the governor and {placements} placements, {lost} lost: {}\n",
        files.join(", ")
    )
}

/// The kernel's reason for an end.
fn reason(status: &LiveStatus) -> String {
    let Some(ended) = &status.ended else { return "the kernel ended the scheduler".to_owned() };
    let words = [&ended.reason, &ended.message].map(|text| text.trim());
    let words: Vec<&str> = words.into_iter().filter(|text| !text.is_empty()).collect();
    format!("the kernel ended the scheduler: {} (kind {}, code {})", words.join(": "), ended.kind, ended.code)
}

/// Terminal, format and listener of a running scheduler.
struct Shown<'a> {
    global: &'a Global,
    view: View,
    /// Address of the metrics, until they are served.
    listener: Option<TcpListener>,
    metrics: Option<Metrics>,
    observes: bool,
    failure: Option<Failure>,
}

impl Shown<'_> {
    /// Failure of a run that ended with this error.
    fn failed(&mut self, error: LabError) -> Failure {
        self.failure.take().unwrap_or_else(|| failure(error))
    }

    fn keep(&mut self, printed: Result<(), Failure>) -> Result<(), LabError> {
        printed.map_err(|failure| {
            self.failure = Some(failure);
            LabError::Caller
        })
    }
}

impl LiveShow for Shown<'_> {
    fn machine(&mut self, machine: &str) -> Result<(), LabError> {
        let is_text = matches!(self.global.format, Format::Table | Format::Markdown | Format::Toml);
        let printed = if is_text && !self.global.quiet { print(machine) } else { Ok(()) };
        self.keep(printed)
    }

    fn begins(&mut self, verified: Option<u32>) {
        match self.listener.take().map(Metrics::start).transpose() {
            Ok(metrics) => self.metrics = metrics,
            Err(failure) => crate::say(&failure.text),
        }
        if self.global.quiet {
            return;
        }
        if let Some(instructions) = verified.filter(|_| self.global.verbose > 0) {
            crate::say(&format!("note: the kernel's verifier looked at {instructions} instructions"));
        }
        crate::say(match self.observes {
            true => "observing; nothing is changed; Ctrl-C ends",
            false => "running; Ctrl-C ends and hands all tasks back to the kernel",
        });
    }

    fn status(&mut self, status: &LiveStatus) -> Result<(), LabError> {
        let printed = match self.global.format {
            Format::Json => print_json(status),
            Format::Csv => print(&sheets::cpus(status).csv()),
            Format::Table | Format::Markdown | Format::Toml => self.view.show(&sheets::state(status)),
        };
        self.keep(printed)
    }

    fn serve(&mut self, metrics: &dyn Fn() -> String) {
        if let Some(listener) = &mut self.metrics {
            listener.serve(metrics);
        }
    }
}

/// Asks a running one.
fn asked(ask: &LiveAsk, socket: &Path, global: &Global) -> Result<Exit, Failure> {
    let request = match ask.clone() {
        LiveAsk::Status => Ask::Status,
        LiveAsk::Boost { cgroup, percent } => Ask::Boost { cgroup, percent },
        LiveAsk::Clamp { cgroup, min, max } => Ask::Clamp { cgroup, min, max },
        LiveAsk::Set { setting: (name, value) } => Ask::Set { name, value },
        LiveAsk::Explain { cpu } => Ask::Explain { cpu },
        LiveAsk::Stop => Ask::Stop,
    };
    match live::ask(socket, &request).map_err(failure)? {
        Answer::Status(status) => say(&status, &sheets::state(&status), &sheets::cpus(&status).csv(), global)?,
        Answer::Group(group) => {
            let sheet = sheets::groups(std::slice::from_ref(&group));
            say(&group, &sheets::text(&sheet), &sheet.csv(), global)?;
        }
        Answer::Number(set) => {
            let line = format!("{}={}\n", set.name, set.value);
            say(&set, &line, &format!("name,value\n{},{}\n", set.name, set.value), global)?;
        }
        Answer::Explained(explained) => {
            let sheet = sheets::terms(&explained);
            say(&explained, &sheets::explained(&explained), &sheet.csv(), global)?;
        }
        Answer::Stopped(stopped) => {
            let seconds = number(stopped.seconds);
            say(&stopped, &format!("it ends, after {seconds} s\n"), &format!("seconds\n{seconds}\n"), global)?;
        }
    }
    Ok(Exit::Good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn help_names_policy_and_socket_where_none_is_given() {
        let mut root = Cli::command();
        let help = root.find_subcommand_mut("live").expect("a verb").render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(POLICY) && help.contains(SOCKET), "{help}");
    }
}
