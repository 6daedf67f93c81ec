// SPDX-License-Identifier: GPL-2.0-or-later
//! A scheduler that is attached: loads it, gives it boosts, clamps and numbers, reads what its callbacks count.

use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, OpenObject};
use pelton_core::Policy;

use super::given::{has_switches, policy_here, set_up};
use super::groups::Groups;
use super::machine::Machine;
use super::readings::Readings;
use super::recorded::Recorded;
use super::words::{bytes, section, write_section};
use super::{CpuView, Ended, Explanation, Group, Host, Options, Records};
use crate::machine::{READER_NICE, set_nice};
use crate::session::{LiveError, keep_messages, refused};

static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scheduler.bpf.o"));
/// Program with the switches of the usual policy compiled in.
static USUAL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scheduler_usual.bpf.o"));

/// A running scheduler; it ends when this is dropped.
pub struct Attached {
    machine: Machine,
    options: Options,
    groups: Groups,
    generation: u64,
    running: Running,
    begin: Instant,
    /// Error of the kernel at a program that was to take over.
    not_taken: Option<String>,
    read: Readings,
    recorded: Recorded,
    /// Since when a CPU came or went, for which the kernel ended the scheduler.
    away_since: Option<Instant>,
}

/// Time without a change of CPUs after which it starts again: a suspend takes one after the other.
const SETTLED: Duration = Duration::from_secs(1);
/// The kernel asks for another start (`SCX_ECODE_ACT_RESTART`), as when a CPU comes or goes.
const ACT_RESTART: i64 = 1 << 48;

/// The kernel's side.
struct Running {
    object: Object,
    links: Vec<Link>,
    verified: u32,
}

/// Loads the scheduler. The verifier's work must not wait behind the load of the machine.
fn load(machine: &Machine, options: &Options) -> Result<Object, LiveError> {
    keep_messages();
    // Where it is not allowed the load takes longer.
    let _ = set_nice(READER_NICE);
    let loaded = load_now(machine, options);
    let _ = set_nice(0);
    loaded
}

/// The program of a policy, not loaded yet.
fn program(policy: &Policy) -> libbpf_rs::Result<OpenObject> {
    let mut usual = ObjectBuilder::default().open_memory(USUAL)?;
    let known = usual.maps_mut().any(|map| {
        map.name() == ".rodata.usual" && map.initial_value().is_some_and(|value| has_switches(policy, value))
    });
    if known { Ok(usual) } else { ObjectBuilder::default().open_memory(PROGRAM) }
}

fn load_now(machine: &Machine, options: &Options) -> Result<Object, LiveError> {
    let mut open = program(&options.policy).map_err(|e| refused("read the scheduler", e))?;
    set_up(&mut open, machine, options).map_err(|e| refused("set the scheduler up", e))?;
    open.load().map_err(|e| refused("load the scheduler", e))
}

/// Faults for tests, as `live_state.h` numbers them.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Nothing is dispatched.
    Stall = 1,
    /// A number is wrong.
    Count = 2,
}

/// Programs of tracepoints.
const TRACEPOINTS: [&str; 2] = ["live_migrate", "live_rmdir"];

/// Tracepoints first: no move of a task is missed.
fn attach(mut object: Object) -> Result<Running, LiveError> {
    let verified = object.progs().map(|program| facts(&program).verified_insns).sum();
    let mut links = Vec::new();
    for program in object.progs_mut().filter(|program| TRACEPOINTS.iter().any(|name| program.name() == *name)) {
        links.push(program.attach().map_err(|e| refused("attach to a tracepoint", e))?);
    }
    for mut map in object.maps_mut().filter(|map| map.name() == "live_ops") {
        links.push(map.attach_struct_ops().map_err(|e| refused("take the scheduler", e))?);
    }
    Ok(Running { object, links, verified })
}

/// Facts of the kernel about a program.
fn facts(program: &libbpf_rs::Program<'_>) -> libbpf_sys::bpf_prog_info {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut length = size_of_val(&info) as u32;
    // SAFETY: the record is as long as `length` states. It stays empty where the kernel refuses.
    unsafe { libbpf_sys::bpf_prog_get_info_by_fd(program.as_fd().as_raw_fd(), &raw mut info, &raw mut length) };
    info
}

impl Attached {
    /// Starts a scheduler.
    ///
    /// # Errors
    /// The kernel refuses the program or the scheduler, with its words.
    pub fn start(machine: &Machine, options: &Options) -> Result<Attached, LiveError> {
        let object = load(machine, options)?;
        let mut recorded = Recorded::new();
        recorded.follow(&object, policy_here(&options.policy, machine), options.record)?;
        Ok(Attached {
            running: attach(object)?,
            machine: machine.clone(),
            options: options.clone(),
            groups: Groups::default(),
            generation: 0,
            begin: Instant::now(),
            not_taken: None,
            read: Readings::of(machine, options),
            recorded,
            away_since: None,
        })
    }

    /// Instructions that the kernel's verifier looked at, by program.
    pub fn verified(&self) -> Vec<(String, u32)> {
        let of = |p: libbpf_rs::Program<'_>| (p.name().to_string_lossy().into_owned(), facts(&p).verified_insns);
        self.running.object.progs().map(of).filter(|(_, n)| *n > 0).collect()
    }

    /// Runs of each program and time in them, ns, while `kernel.bpf_stats_enabled` is 1.
    pub fn run_times(&self) -> Vec<(String, u64, u64)> {
        let of = |p: libbpf_rs::Program<'_>| {
            let facts = facts(&p);
            (p.name().to_string_lossy().into_owned(), facts.run_cnt, facts.run_time_ns)
        };
        self.running.object.progs().map(of).collect()
    }

    /// Instructions that the verifier looked at in all.
    pub fn verified_in_all(&self) -> u32 {
        self.running.verified
    }

    /// Ends dispatching when its time has come: for tests of the kernel's watchdog.
    pub fn stall_when_due(&mut self) {
        if self.options.stall_after.is_some_and(|after: Duration| self.begin.elapsed() >= after) {
            self.options.stall_after = None;
            self.give(Some(Fault::Stall));
        }
    }

    /// Starts again on the machine as it is now, once its CPUs no longer come and go. A recording is of one machine and
    /// ends instead.
    ///
    /// # Errors
    /// The kernel shows no domains, or refuses the scheduler.
    pub fn start_again_when_due(&mut self) -> Result<bool, LiveError> {
        let asks = self.ended_by_kernel().is_some_and(|ended| ended.code & ACT_RESTART != 0);
        if !asks || self.options.record {
            return Ok(false);
        }
        if self.away_since.get_or_insert_with(Instant::now).elapsed() < SETTLED {
            return Ok(false);
        }
        self.away_since = None;
        self.machine = Machine::here().described()?;
        self.read = Readings::of(&self.machine, &self.options);
        let object = load(&self.machine, &self.options)?;
        self.take_over(object, self.options.clone())?;
        Ok(true)
    }

    /// Another program in the place of the one that ran.
    fn take_over(&mut self, object: Object, options: Options) -> Result<(), LiveError> {
        self.running.links.clear();
        self.recorded.leave(&self.counts());
        self.recorded.follow(&object, policy_here(&options.policy, &self.machine), options.record)?;
        self.running = attach(object)?;
        self.options = options;
        self.give(None);
        Ok(())
    }

    /// Reason of an end by the kernel.
    fn ended_by_kernel(&self) -> Option<Ended> {
        let all = section(&self.running.object, ".bss.ended");
        let text = |from: usize, length: usize| {
            let bytes = bytes(all.get(from..from + length / 8)?);
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        let kind = all.first().copied().unwrap_or(0) as u32;
        (kind != 0).then(|| Ended {
            kind,
            code: all.get(1).copied().unwrap_or(0) as i64,
            reason: text(2, 128).unwrap_or_default(),
            message: text(18, 256).unwrap_or_default(),
        })
    }

    /// Makes a count wrong: for tests of what becomes of the tasks then.
    pub fn spoil(&mut self) {
        self.give(Some(Fault::Count));
    }

    /// Hands boosts and groups to the kernel's side.
    fn give(&mut self, fault: Option<Fault>) {
        self.generation += 1;
        let entries = self.groups.entries();
        if let Some(map) = self.running.object.maps().find(|map| map.name() == "groups") {
            let known = map.keys().filter_map(|key| Some(u64::from_ne_bytes(key.try_into().ok()?)));
            let gone = known.filter(|number| !entries.iter().any(|(given, _)| given == number));
            // One that another call deleted is gone as well.
            gone.collect::<Vec<_>>().iter().for_each(|number| _ = map.delete(&number.to_ne_bytes()));
            for (number, words) in &entries {
                let words: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                // A map of its own with room for them: it takes them, or the process is out of memory.
                let _ = map.update(&number.to_ne_bytes(), &words, MapFlags::ANY);
            }
        }
        let mut given: Vec<u64> = self.groups.boosts().iter().map(|boost| *boost as u64).collect();
        given.extend([self.generation, u64::from(!entries.is_empty()), fault.map_or(0, |fault| fault as u64)]);
        let _ = write_section(&self.running.object, ".data.given", &bytes(&given));
    }
}

impl Host for Attached {
    fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.read.counts(&self.running.object)
    }

    fn cpus(&self) -> Vec<CpuView> {
        self.read.cpus(&self.running.object)
    }

    fn groups(&self) -> Vec<(String, Group)> {
        self.groups.all()
    }

    fn set_group(&mut self, cgroup: &str, group: Group) -> Result<(), String> {
        let form = self.options.policy.get("boost_form").unwrap_or_default();
        if group.boost_percent < 0 && form != "later" {
            return Err(format!("a boost below 0 has no effect with boost_form={form}: start with boost_form=later"));
        }
        self.groups.give(cgroup, group)?;
        self.give(None);
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let mut options = self.options.clone();
        options.policy.set(name, value).map_err(|why| why.to_string())?;
        options.policy.check().map_err(|why| why.to_string())?;
        if pelton_core::switches().iter().any(|switch| switch.name == name) {
            return Err(format!("`{name}` is a switch, which holds until the end: start again with it"));
        }
        // The policy is frozen when it is loaded: a new program takes over, tasks are fair ones in between.
        let object = load(&self.machine, &options).map_err(|why| why.to_string())?;
        self.take_over(object, options).map_err(|why| {
            self.not_taken = Some(why.to_string());
            why.to_string()
        })
    }

    fn explain(&self, cpu: u32) -> Result<Option<Explanation>, String> {
        self.read.explain(&self.running.object, cpu)
    }

    fn ended(&self) -> Option<Ended> {
        if let Some(why) = &self.not_taken {
            let reason = "a new program was not taken".to_owned();
            return Some(Ended { kind: 0, code: 0, reason, message: why.clone() });
        }
        // An end for which a new start is due is none.
        self.ended_by_kernel().filter(|_| self.away_since.is_none())
    }
}

impl Records for Attached {
    fn programs(&self) -> &[Policy] {
        self.recorded.programs()
    }

    fn recorded(&mut self, put: &mut dyn FnMut(u32, &[u8])) {
        self.recorded.take(put);
    }

    fn unrecorded(&self) -> u64 {
        self.recorded.lost(&self.counts())
    }

    fn detach(&mut self) {
        self.running.links.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has the program of a policy its switches compiled in?
    fn is_usual(switches: &[(&str, &str)]) -> bool {
        let mut policy = Policy::profile("7.2").expect("known");
        for (name, value) in switches {
            policy.set(name, value).expect("a value");
        }
        let mut program = program(&policy).expect("an object file");
        program.maps_mut().any(|map| map.name() == ".rodata.usual")
    }

    #[test]
    fn the_usual_policy_has_a_program_of_its_own_whatever_its_numbers_are() {
        let usual = [("uclamp", "debt"), ("delayed_dequeue", "off")];
        assert!(is_usual(&usual));
        assert!(is_usual(&[usual[0], usual[1], ("headroom_pct", "10")]));
        assert!(!is_usual(&usual[..1]) && !is_usual(&[usual[1], ("uclamp", "sum")]));
        assert!(!is_usual(&[usual[0], usual[1], ("gate", "r1_sliding")]));
    }
}
