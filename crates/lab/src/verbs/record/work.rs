// SPDX-License-Identifier: GPL-2.0-or-later
//! Work that runs during a recording, and the length of the recording.

use super::{RecordFiles, RecordRequest};
use crate::run::{Fault, LabError, Refusal};
use crate::watch::{Amount, Watch, is_stopped};
use pelton_live::loads::{LOADS, Load, Results, Running};
use pelton_live::{LiveError, READER_NICE, set_nice};
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

/// Length of a recording when nothing else ends it, ns.
const DURATION_NS: u64 = 10_000_000_000;
/// Time that a load runs before counting begins, ns: its tasks have spread over the CPUs by then.
const SETTLES_NS: u64 = 500_000_000;

/// Work that runs during a recording.
pub(super) struct Work<'a> {
    request: &'a RecordRequest,
    load: Option<Load>,
    command: Option<Child>,
    running: Option<Running>,
    pub code: Option<i32>,
}

impl<'a> Work<'a> {
    /// Nothing runs yet.
    pub fn of(request: &'a RecordRequest) -> Result<Work<'a>, LabError> {
        let load = request.load.as_deref().map(load).transpose()?;
        request.command.first().map_or(Ok(()), |program| can_start(program))?;
        Ok(Work { request, load, command: None, running: None, code: None })
    }

    pub fn start(&mut self, watch: &dyn Watch) -> Result<(), LabError> {
        self.command = match self.request.command.split_first() {
            None => None,
            Some((program, rest)) => Some(Command::new(program).args(rest).spawn().map_err(|error| {
                let reason = format!("cannot start {}: {error}", program.display());
                LabError::refused(Fault::Machine, reason, "is it installed and in PATH?")
            })?),
        };
        let refused = |error: std::io::Error| {
            let reason = format!("cannot run the load {}: {error}", self.request.load.as_deref().unwrap_or(""));
            let hint = "loads need root; cgroup-moves, quotas, idle-groups and clamps need the cpu controller, \
                        version 1, at /sys/fs/cgroup/cpu";
            LabError::refused(Fault::Machine, reason, hint)
        };
        self.running = self.load.take().map(Load::start).transpose().map_err(refused)?;
        self.notes().iter().for_each(|note| watch.note(note));
        Ok(())
    }

    /// Recorded work, in words.
    pub fn workload(&self) -> String {
        self.request.workload()
    }

    /// Notes on parts of the load that could not be run as it asks.
    pub fn notes(&self) -> Vec<String> {
        self.running.iter().flat_map(|load| load.notes.clone()).collect()
    }

    /// Time that a load runs before it counts, ns; 0 without a load.
    pub fn settles_ns(&self) -> u64 {
        if self.running.is_some() { SETTLES_NS } else { 0 }
    }

    /// Lets `poll` take records until the time is over or the user ends it. It gets the time since the start, ns, and
    /// returns how far the recording is, in words.
    pub fn last(
        &mut self,
        extra_ns: u64,
        watch: &dyn Watch,
        files: &mut dyn RecordFiles,
        mut poll: impl FnMut(&mut dyn RecordFiles, u64) -> Result<String, LabError>,
    ) -> Result<(), LabError> {
        let unbounded = if self.command.is_some() { u64::MAX } else { DURATION_NS };
        let until_ns = self.request.duration_ns.unwrap_or(unbounded).saturating_add(extra_ns);
        watch.begins("recording", Amount::Time(if until_ns == u64::MAX { 0 } else { until_ns }));
        let (start, mut told_ns) = (std::time::Instant::now(), 0);
        loop {
            let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            watch.at(&poll(files, elapsed_ns)?);
            watch.advance(elapsed_ns - told_ns);
            told_ns = elapsed_ns;
            if is_stopped(watch) || files.have_failed() || elapsed_ns >= until_ns || self.is_over() {
                // What the buffers hold belongs to the recording, however long writing it takes.
                watch.ends();
                return Ok(());
            }
        }
    }

    /// True once the command has ended; a load never ends by itself.
    fn is_over(&mut self) -> bool {
        let Some(child) = &mut self.command else { return false };
        match child.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                self.code = status.code().or(status.signal().map(|signal| 128 + signal));
                true
            }
            Err(_) => true,
        }
    }

    /// Ends the load; what it measured is whole then. A command that still runs is left alone.
    pub fn results(&mut self) -> Results {
        self.running.iter_mut().for_each(Running::stop);
        self.running.as_ref().map(Running::results).unwrap_or_default()
    }
}

/// A recorder that waits for its turn loses events; one that may not go first still records. Load and command have
/// their own priority by now.
pub(super) fn goes_first() {
    let _ = set_nice(READER_NICE);
}

fn load(name: &str) -> Result<Load, LabError> {
    Load::of_text(name).map_err(|what| {
        let known = LOADS.map(|(name, _)| name).join(", ");
        let help = format!("loads: {known}; or parts as busy:threads=2+bursts:run_us=300,sleep_us=500");
        LabError::refused(Fault::Request, format!("`{name}` is no load: {what}"), &help)
    })
}

/// Checks that the program exists and can be executed, by the shell's rules for looking it up.
fn can_start(program: &Path) -> Result<(), LabError> {
    let is_program = |path: &Path| {
        let is_executable = |meta: Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        path.metadata().is_ok_and(is_executable)
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = match program.components().count() {
        1 => std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program))),
        _ => is_program(program),
    };
    let reason = || format!("cannot start {}: there is no such program", program.display());
    if found { Ok(()) } else { Err(LabError::refused(Fault::Machine, reason(), "is it installed and in PATH?")) }
}

/// Error with a line for each thing that is missing, and how to get it.
pub(super) fn cannot(error: LiveError) -> LabError {
    match error {
        LiveError::Missing(missing) => {
            let list: String = missing.iter().map(|what| format!("\n  missing: {what}")).collect();
            let reason = format!("this machine cannot record{list}");
            LabError::Refused(Refusal { fault: Fault::Machine, reason, hint: None })
        }
        LiveError::Refused { .. } => {
            LabError::refused(Fault::Machine, error, "a security policy (lockdown, seccomp) may forbid it")
        }
    }
}
