// SPDX-License-Identifier: GPL-2.0-or-later
//! A scheduler from its start to its end.

use super::ask::read;
use super::observed;
use super::recording::Recording;
use super::{LiveFiles, LiveRequest, LiveShow, Placement, SOCKET};
use crate::plan;
use crate::results::live::{End, LiveNumber, LiveObserved, LiveReport, LiveStatus};
use crate::run::{Fault, LabError, Refusal};
use crate::watch::{Watch, is_stopped};
use pelton_live::LiveError;
use pelton_live::control::{Served, Server};
use pelton_live::scheduler::{Attached, Host, Machine, Observer, Options, Placing, Records, refusals};
use pelton_live::watch::Snapshot;
use pelton_scenario::policy::PolicyChoice;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time between two looks at signals, the kernel and the socket.
const LOOK: Duration = Duration::from_millis(100);

/// A scheduler or an observer that runs here.
trait Run: Host + Records {
    /// Does what is due; true: it started again on a machine that has changed.
    ///
    /// # Errors
    /// When it cannot start again.
    fn turn(&mut self) -> Result<bool, LiveError> {
        Ok(false)
    }
}

impl Run for Attached {
    fn turn(&mut self) -> Result<bool, LiveError> {
        self.stall_when_due();
        self.start_again_when_due()
    }
}

impl Run for Observer {
    fn turn(&mut self) -> Result<bool, LiveError> {
        self.follow();
        Ok(false)
    }
}

/// Everything that a start needs, and what is said about it at the end.
struct Start {
    machine: Machine,
    options: Options,
    choice: PolicyChoice,
}

impl Start {
    /// The machine as its files show it, and the choices of the request.
    fn of(request: &LiveRequest, watch: &dyn Watch) -> Result<Start, LabError> {
        let choice = plan::core_policy(&request.policy)?;
        watch.warn(&choice.warnings);
        let mut machine = Machine::here();
        if let Some(us) = choice.rate_limit_us {
            let us = u32::try_from(us).unwrap_or(u32::MAX);
            machine.cpus.iter_mut().for_each(|cpu| cpu.rate_limit_us = Some(us));
        }
        let options = Options {
            policy: choice.policy,
            frequencies: request.frequencies,
            placing: match request.placement {
                Placement::Auto => Placing::Auto,
                Placement::Core => Placing::Core,
                Placement::Kernel => Placing::Kernel,
            },
            own_clamps: request.own_clamps,
            record: request.record.is_some(),
            stall_after: request.stall_after_ns.map(Duration::from_nanos),
        };
        Ok(Start { machine, options, choice })
    }

    /// Switches and numbers that differ from the profile.
    fn set(&self) -> Vec<LiveNumber> {
        let set = self.choice.set.iter().cloned();
        set.map(|(name, value)| LiveNumber { name, value }).collect()
    }

    fn lines(&self) -> Vec<String> {
        self.machine.to_string().lines().map(str::to_owned).collect()
    }

    /// The recording, where one was asked for.
    fn recording<'a>(&self, files: &'a mut dyn LiveFiles) -> Result<Option<Recording<'a>>, LabError> {
        if !self.options.record {
            return Ok(None);
        }
        Recording::begin(files, &self.machine, &self.choice.profile).map(Some)
    }
}

/// Runs the core as the scheduler of this machine until the time is over, `watch` or the socket says so, or the kernel
/// ends it. The kernel's own scheduler has the tasks again when this returns.
///
/// # Errors
/// When the policy is wrong, this machine cannot run it, another one runs, or the state cannot be shown.
pub fn live(
    request: &LiveRequest,
    show: &mut dyn LiveShow,
    files: &mut dyn LiveFiles,
    watch: &dyn Watch,
) -> Result<LiveReport, LabError> {
    let mut start = Start::of(request, watch)?;
    let reasons = refusals(&start.machine, &start.options);
    if !reasons.is_empty() {
        show.machine(&start.machine.to_string())?;
        return Err(missing(&reasons));
    }
    start.machine = start.machine.described().map_err(cannot)?;
    show.machine(&start.machine.to_string())?;
    let mut server = serve(request.socket.as_deref().unwrap_or(Path::new(SOCKET)))?;
    let mut recording = start.recording(files)?;
    let mut host = Attached::start(&start.machine, &start.options).map_err(cannot)?;
    give_up_privileges(watch);
    show.begins(Some(host.verified_in_all()));
    let end = last(&mut host, Some(&mut server), recording.as_mut(), request, show, watch)?;
    let status = status(&Snapshot::of(&host))?;
    let recorded = recording.map(|recording| recording.end(&mut host)).transpose()?;
    drop(host);
    Ok(LiveReport { set: start.set(), machine: start.lines(), profile: start.choice.profile, end, status, recorded })
}

/// Gives up all privileges but those that load a program anew, for a number that is set.
fn give_up_privileges(watch: &dyn Watch) {
    if let Err(why) = pelton_live::drop_privileges() {
        watch.note(&format!("privileges that are not needed could not be dropped: {why}"));
    }
}

/// Lets the core decide beside the kernel, and change nothing, until the time is over or `watch` says so.
///
/// # Errors
/// When the policy is wrong, this machine shows too little, or the state cannot be shown.
pub fn observe(
    request: &LiveRequest,
    show: &mut dyn LiveShow,
    files: &mut dyn LiveFiles,
    watch: &dyn Watch,
) -> Result<LiveObserved, LabError> {
    let mut start = Start::of(request, watch)?;
    match start.machine.clone().described() {
        Ok(machine) => start.machine = machine,
        // Frequencies can be observed without domains and an energy model.
        Err(why) => {
            let why = why.to_string();
            watch.note(&format!("no domains and no energy model: {}", why.lines().next().unwrap_or_default()));
        }
    }
    show.machine(&start.machine.to_string())?;
    let mut server = request.socket.as_deref().map(serve).transpose()?;
    let mut recording = start.recording(files)?;
    let powers = observed::powers(request, &start.machine)?;
    let mut host = Observer::start(&start.machine, &start.options, powers).map_err(cannot)?;
    give_up_privileges(watch);
    show.begins(None);
    let end = last(&mut host, server.as_mut(), recording.as_mut(), request, show, watch)?;
    host.follow();
    let (status, cpus) = (status(&Snapshot::of(&host))?, host.report());
    let (load_tracking, energy) = (host.compared(), host.energy());
    let recorded = recording.map(|recording| recording.end(&mut host)).transpose()?;
    Ok(LiveObserved {
        set: start.set(),
        machine: start.lines(),
        profile: start.choice.profile,
        end,
        seconds: status.seconds,
        counts: status.counts,
        cpus: cpus.iter().map(observed::cpu).collect(),
        load_tracking: load_tracking.into_iter().map(observed::compared).collect(),
        energy: energy.and_then(observed::energy),
        recorded,
    })
}

/// Serves and shows until there is a reason to end.
fn last<H: Run>(
    host: &mut H,
    mut server: Option<&mut Server>,
    mut recording: Option<&mut Recording<'_>>,
    request: &LiveRequest,
    show: &mut dyn LiveShow,
    watch: &dyn Watch,
) -> Result<End, LabError> {
    let begin = Instant::now();
    let until = request.duration_ns.map(Duration::from_nanos);
    let mut shown = Duration::ZERO;
    let end = loop {
        if host.turn().map_err(cannot)? {
            watch.note("CPUs came or went, for which the kernel ends a scheduler: it runs again");
        }
        let now = begin.elapsed();
        let is_written = recording.as_mut().is_none_or(|recording| recording.follow(host));
        if !is_written || is_stopped(watch) {
            break End::Signal;
        }
        if host.ended().is_some() {
            break End::Kernel;
        }
        if until.is_some_and(|until| now >= until) {
            break End::Time;
        }
        if request.every_ns.is_some_and(|every_ns| now - shown >= Duration::from_nanos(every_ns)) {
            shown = now;
            show.status(&status(&Snapshot::of(host))?)?;
        }
        let wait = [until.map(|until| until - now), next(request, now, shown)];
        let wait = wait.into_iter().flatten().fold(LOOK, Duration::min);
        let served = match &mut server {
            Some(server) => server.serve_once(host, wait),
            None => {
                std::thread::park_timeout(wait);
                Served::Nothing
            }
        };
        if served == Served::Stop {
            break End::Request;
        }
        show.serve(&|| Snapshot::of(host).prometheus());
    };
    // How long it takes to hand the tasks back is the kernel's affair.
    watch.ends();
    Ok(end)
}

/// Time until the state is shown again.
fn next(request: &LiveRequest, now: Duration, shown: Duration) -> Option<Duration> {
    request.every_ns.map(|every_ns| (shown + Duration::from_nanos(every_ns)).saturating_sub(now))
}

fn status(snapshot: &Snapshot) -> Result<LiveStatus, LabError> {
    read(snapshot.value())
}

fn serve(socket: &Path) -> Result<Server, LabError> {
    Server::open(socket).map_err(|why| LabError::refused(Fault::Machine, why, "--socket PATH gives another one"))
}

/// Error with a line for each thing that is missing, and how to get it.
fn missing(reasons: &[String]) -> LabError {
    let list: String = reasons.iter().map(|what| format!("\n  missing: {what}")).collect();
    let reason = format!("this machine cannot run the core as its scheduler{list}");
    LabError::Refused(Refusal { fault: Fault::Machine, reason, hint: None })
}

fn cannot(error: LiveError) -> LabError {
    match error {
        LiveError::Missing(reasons) => missing(&reasons),
        LiveError::Refused { .. } => {
            LabError::refused(Fault::Machine, error, "a security policy (lockdown, seccomp) may forbid it")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::live::{LiveCpu, LiveGroup};
    use pelton_live::scheduler::{CpuView, Ended, Group};

    #[test]
    fn a_state_is_read_with_every_field_as_it_was_written() {
        let cpu = CpuView { cpu: 3, boost_percent: -7, wanted_khz: 5, khz: Some(9), ..CpuView::default() };
        let snapshot = Snapshot {
            seconds: 0.5,
            counts: vec![("targets", 4), ("again", 1)],
            cpus: vec![cpu, CpuView::default()],
            groups: vec![("/a".to_owned(), Group { boost_percent: 30, min: 1, max: 2 })],
            compared: Vec::new(),
            energy: None,
            ended: Some(Ended { kind: 1026, code: -1, reason: "stall".into(), message: "a task".into() }),
        };
        let status = status(&snapshot).expect("it is of this version");
        assert_eq!(serde_json::to_value(&status).expect("JSON"), snapshot.value(), "no field more and none less");
        let LiveCpu { cpu, boost_percent, wanted_khz, khz, .. } = status.cpus[0];
        assert_eq!((cpu, boost_percent, wanted_khz, khz), (3, -7, Some(5), Some(9)));
        assert_eq!(status.cpus[1].wanted_khz, None);
        assert_eq!(status.groups, [LiveGroup { cgroup: "/a".into(), boost_percent: 30, min: 1, max: 2 }]);
        assert_eq!(status.counts[0].event, "targets");
    }
}
