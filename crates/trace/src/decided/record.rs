// SPDX-License-Identifier: GPL-2.0-or-later
//! The two records of `crates/live/src/bpf/live_record.h`: as bytes, as the core's own records, and as lines of a
//! table.

use pelton_core::{
    BoostCpu, CpuState, DOMAINS_MAX, Decision, Numbers, PerfTerms, PlaceCpu, Placed, Placement, Rq, SchedDomain,
    SugovCpu, SugovPolicy, UclampSumRq, numbers,
};

/// Number of a record of a decision about a frequency.
const DECISION: u32 = 1;
/// Number of a record of a placement.
const PLACEMENT: u32 = 2;

/// A call of the governor, `struct live_decision`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Number of the program, which is loaded anew when a number of the policy is set.
    pub program: u32,
    /// Time, ns of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Clock of the event, ns.
    pub now_ns: u64,
    record: u32,
    /// CPU.
    pub cpu: u32,
    /// Hook site.
    pub kind: u32,
    /// Circumstances of the event, bits.
    pub how: u32,
    /// Answer of the hook: bits, and the flags of the call from bit 8 on.
    pub hooked: u32,
    /// Verdict of the gate.
    pub verdict: u32,
    /// Target as handed to the kernel, of 1024; 0 where the gate refused.
    pub target: u32,
    reserved: u32,
    /// The governor's record of the domain before the event.
    pub sp: SugovPolicy,
    /// Record of the domain afterwards.
    pub sp_after: SugovPolicy,
    /// The governor's record of the CPU before the event.
    pub sc: SugovCpu,
    /// Record of the CPU afterwards.
    pub sc_after: SugovCpu,
    /// The queue.
    pub rq: Rq,
    /// Clamps that add up.
    pub clamps: UclampSumRq,
    /// Boosts of the groups.
    pub boost: BoostCpu,
    /// Inputs as the evaluation before left them.
    pub state: CpuState,
    /// Inputs of this one.
    pub state_after: CpuState,
    /// Terms.
    pub terms: PerfTerms,
    /// The decision.
    pub decision: Decision,
}

#[rustfmt::skip]
numbers!(Call {
    program, at_ns, now_ns, record, cpu, kind, how, hooked, verdict, target, reserved, sp, sp_after, sc, sc_after, rq, clamps,
    boost, state, state_after, terms, decision
});

/// A task's CPU, `struct live_placement`.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Number of the program.
    pub program: u32,
    /// Time, ns of CLOCK_MONOTONIC.
    pub at_ns: u64,
    record: u32,
    /// The task's id.
    pub tid: u32,
    /// Another CPU wrote into the machine's rows meanwhile.
    pub torn: u32,
    nr_cpus: u32,
    /// The question, with the machine in it.
    pub question: Box<Placement>,
    /// The answer.
    pub answer: Box<Placed>,
}

/// Calls `part!` for each number of a question that a record has, in its order.
macro_rules! question_parts {
    ($part:ident) => {
        $part!(
            task,
            waker,
            this_cpu,
            prev_cpu,
            flags,
            nr_cpus,
            energy_aware,
            overutilized,
            asymmetric,
            clusters,
            smt,
            uclamp_used,
            nr_perf_domains,
            groups_limited,
            cache_aware,
            smt_threads,
            avg_idle_ns,
            avg_scan_cost_ns
        )
    };
}

/// Paths below the type of what `_of` gives.
fn paths<R, F: Numbers>(_of: fn(&R) -> &F, path: &str, to: &mut dyn FnMut(String)) {
    F::paths(path, to);
}

/// Passes all bytes of a record to `take`, which asks for one number after the other: false where there are too few
/// bytes, or some are left over.
fn from_bytes(bytes: &[u8], take: impl FnOnce(&mut dyn FnMut(usize) -> u64)) -> bool {
    let (mut rest, mut short) = (bytes, false);
    take(&mut |width| {
        let Some((number, after)) = rest.split_at_checked(width) else {
            short = true;
            return 0;
        };
        rest = after;
        // Bytes are in the order of this machine, whose kernel wrote them.
        let mut word = [0; 8];
        word[if cfg!(target_endian = "big") { 8 - width..8 } else { 0..width }].copy_from_slice(number);
        u64::from_ne_bytes(word)
    });
    !short && rest.is_empty()
}

/// Numbers of a CPU's row that stand for its scheduling domains: they come first, and lines leave them out, since they
/// do not change while a scheduler runs.
fn domain_numbers() -> usize {
    let mut count = 0;
    <[SchedDomain; DOMAINS_MAX]>::paths("", &mut |_| count += 1);
    count
}

/// Takes the row of a CPU but for its domains, which stay.
fn take_row(row: &mut PlaceCpu, from: &mut dyn FnMut(usize) -> u64) {
    let (domains, mut left_out) = (row.domains, domain_numbers());
    row.take(&mut |width| match left_out {
        0 => from(width),
        _ => {
            left_out -= 1;
            0
        }
    });
    row.domains = domains;
}

/// All bits of a value, in order.
fn bits(of: &impl Numbers, to: &mut Vec<u64>) {
    of.numbers("", &mut |_, number| to.push(number.bits()));
}

/// A record that is a line of a table.
pub trait Row: Sized {
    /// Names of the columns, on a machine of so many CPUs.
    fn columns(cpus: usize) -> Vec<String>;

    /// Values in the order of the columns.
    fn values(&self) -> Vec<u64>;

    /// The record of these values, on this machine.
    fn of_values(values: &[u64], machine: &Placement) -> Self;
}

impl Row for Call {
    fn columns(_: usize) -> Vec<String> {
        let mut all = Vec::new();
        Call::paths("", &mut |path| all.push(path));
        all
    }

    fn values(&self) -> Vec<u64> {
        let mut all = Vec::new();
        bits(self, &mut all);
        all
    }

    fn of_values(values: &[u64], _: &Placement) -> Call {
        let (mut call, mut from) = (Call::default(), values.iter());
        call.take(&mut |_| from.next().copied().unwrap_or(0));
        call
    }
}

impl Row for Place {
    fn columns(cpus: usize) -> Vec<String> {
        let mut all: Vec<String> = ["program", "at_ns", "tid", "torn"].map(str::to_owned).into();
        let to = &mut |path| all.push(path);
        macro_rules! each {
            ($($part:ident),*) => { $(paths(|q: &Placement| &q.$part, concat!("question.", stringify!($part)), to);)* };
        }
        question_parts!(each);
        Placed::paths("answer", to);
        for cpu in 0..cpus {
            let mut left_out = domain_numbers();
            PlaceCpu::paths(&format!("cpu{cpu}"), &mut |path| match left_out {
                0 => to(path),
                _ => left_out -= 1,
            });
        }
        all
    }

    fn values(&self) -> Vec<u64> {
        let mut all = vec![self.program.into(), self.at_ns, self.tid.into(), self.torn.into()];
        macro_rules! each {
            ($($part:ident),*) => { $(bits(&self.question.$part, &mut all);)* };
        }
        question_parts!(each);
        bits(&*self.answer, &mut all);
        for row in self.question.cpus() {
            let from = all.len();
            bits(row, &mut all);
            all.drain(from..from + domain_numbers());
        }
        all
    }

    fn of_values(values: &[u64], machine: &Placement) -> Place {
        let mut values = values.iter().copied();
        let mut next = move || values.next().unwrap_or(0);
        let mut place = Place::on(machine);
        (place.program, place.at_ns) = (next() as u32, next());
        (place.tid, place.torn) = (next() as u32, next() as u32);
        place.take_question(&mut |_| next());
        place.answer.take(&mut |_| next());
        for row in &mut place.question.cpus[..place.nr_cpus as usize] {
            take_row(row, &mut |_| next());
        }
        place
    }
}

impl Place {
    /// A placement on this machine of which nothing else is known.
    fn on(machine: &Placement) -> Place {
        let (question, answer) = (Box::new(*machine), Box::default());
        let nr_cpus = question.cpus().len() as u32;
        Place { program: 0, at_ns: 0, record: PLACEMENT, tid: 0, torn: 0, nr_cpus, question, answer }
    }

    /// Takes the question but for the machine. The number of CPUs stays.
    fn take_question(&mut self, from: &mut dyn FnMut(usize) -> u64) {
        let question = &mut *self.question;
        macro_rules! each {
            ($($part:ident),*) => { $(question.$part.take(from);)* };
        }
        question_parts!(each);
        question.nr_cpus = self.nr_cpus;
    }
}

/// A record of the kernel's side.
pub enum Record {
    /// A call of the governor.
    Call(Box<Call>),
    /// A placement.
    Place(Place),
}

impl Record {
    /// Reads the bytes that a program handed out, on this machine; `None`: they are none of its records.
    #[must_use]
    pub fn of_bytes(program: u32, bytes: &[u8], machine: &Placement) -> Option<Record> {
        let is = |number: u32, at: usize| bytes.get(at..at + 4) == Some(&number.to_ne_bytes()[..]);
        if is(PLACEMENT, 8) {
            return place_of_bytes(program, bytes, machine).map(Record::Place);
        }
        is(DECISION, 16).then(|| call_of_bytes(program, bytes)).flatten().map(Record::Call)
    }
}

fn call_of_bytes(program: u32, bytes: &[u8]) -> Option<Box<Call>> {
    let mut call = Box::<Call>::default();
    let mut known = Some(program);
    let all = from_bytes(bytes, |next| call.take(&mut |width| known.take().map_or_else(|| next(width), u64::from)));
    all.then_some(call)
}

fn place_of_bytes(program: u32, bytes: &[u8], machine: &Placement) -> Option<Place> {
    let mut place = Place { program, ..Place::on(machine) };
    let expected = place.nr_cpus;
    let mut said = 0;
    let all = from_bytes(bytes, |next| {
        place.at_ns = next(8);
        (place.record, place.tid) = (next(4) as u32, next(4) as u32);
        (place.torn, said) = (next(4) as u32, next(4) as u32);
        place.take_question(next);
        place.answer.take(next);
        // Here the row has its domains, as they are in the machine.
        place.question.cpus[..expected as usize].iter_mut().for_each(|row| row.take(next));
    });
    (all && said == expected).then_some(place)
}
