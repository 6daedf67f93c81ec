// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine and the policies of a recording: `live.json` beside its tables.

use std::io::Read;
use std::path::Path;

use pelton_core::{
    EmState, Numbers, PERF_DOMAINS_MAX, PLACE_CPUS_MAX, PLACE_STATES_MAX, PerfDomain, PlaceCpu, Placement, Policy,
};
use serde::{Deserialize, Serialize};

use crate::import::{ImportError, open_bytes};

/// Number of this form of the file.
const FORMAT: u32 = 1;
/// Longest file that is read.
const BYTES_MAX: u64 = 16 << 20;
/// Frequencies that a CPU may have.
const KHZ_MAX: usize = 1024;
/// Ticks that a kernel may have, ns apart.
const TICKS_NS: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000;

/// Policy of a program that was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Profile.
    pub profile: String,
    /// Every switch and number, as it is written.
    pub policy: Vec<(String, String)>,
}

impl Program {
    /// The program of this policy.
    #[must_use]
    pub fn of(profile: &str, policy: &Policy) -> Program {
        let written = policy.written().into_iter();
        Program { profile: profile.to_owned(), policy: written.map(|(name, value)| (name.to_owned(), value)).collect() }
    }

    /// The policy.
    ///
    /// # Errors
    /// A sentence: an unknown profile, name or value.
    pub fn policy(&self) -> Result<Policy, String> {
        let mut policy = Policy::profile(&self.profile).map_err(|why| why.to_string())?;
        self.policy.iter().try_for_each(|(name, value)| policy.set(name, value).map_err(|why| why.to_string()))?;
        policy.check().map_err(|why| why.to_string())?;
        Ok(policy)
    }
}

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    format: u32,
    /// Release of the kernel.
    pub release: String,
    /// Time between two ticks, ns.
    pub tick_ns: u64,
    /// Records that are missing: they had no room in the buffer, or came cut off; `None`: the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Policies, in the order in which programs were loaded.
    pub programs: Vec<Program>,
    /// Frequencies of each CPU, kHz, ascending.
    pub khz: Vec<Vec<u32>>,
    /// CPUs of each CPU's frequency domain, one bit each.
    pub freq_domains: Vec<u64>,
    perf_domains: Vec<Vec<u64>>,
    states: Vec<Vec<u64>>,
    rows: Vec<Vec<u64>>,
}

/// All numbers of a list of records.
fn lists<R: Numbers>(all: &[R]) -> Vec<Vec<u64>> {
    let one = |record: &R| {
        let mut list = Vec::new();
        record.numbers("", &mut |_, number| list.push(number.bits()));
        list
    };
    all.iter().map(one).collect()
}

/// Puts a list of records into their places; a sentence where it is too long, or one has too many numbers or too few.
fn put<R: Numbers>(what: &str, lists: &[Vec<u64>], to: &mut [R]) -> Result<(), String> {
    if lists.len() > to.len() {
        return Err(format!("`{what}` has {} entries, at most {} can be", lists.len(), to.len()));
    }
    for (at, (list, record)) in lists.iter().zip(to).enumerate() {
        let mut count = 0;
        R::paths("", &mut |_| count += 1);
        if list.len() != count {
            return Err(format!("`{what}` has an entry {at} of {} numbers; it has {count}", list.len()));
        }
        let mut from = list.iter();
        record.take(&mut |_| from.next().copied().unwrap_or(0));
    }
    Ok(())
}

impl Machine {
    /// The machine of a running scheduler; `question` has its rows and energy model. No program is loaded yet.
    #[must_use]
    pub fn new(
        release: &str,
        tick_ns: u64,
        khz: Vec<Vec<u32>>,
        freq_domains: Vec<u64>,
        question: &Placement,
    ) -> Machine {
        let states =
            question.perf_domains.iter().map(|domain| domain.first_state + domain.nr_states).max().unwrap_or(0);
        Machine {
            format: FORMAT,
            release: release.to_owned(),
            tick_ns,
            lost: None,
            programs: Vec::new(),
            khz,
            freq_domains,
            perf_domains: lists(&question.perf_domains[..question.nr_perf_domains as usize]),
            states: lists(&question.states[..states as usize]),
            rows: lists(question.cpus()),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When it is missing, is no such file, or says what cannot be.
    pub fn read(path: &Path) -> Result<Machine, ImportError> {
        let help = "`pelton live --record` of this version writes it; record again";
        let mut text = String::new();
        let read = open_bytes(path)?.take(BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| ImportError::io(path, error).help(help))?;
        if text.len() as u64 > BYTES_MAX {
            return Err(ImportError::content(path, format!("is longer than {} MiB", BYTES_MAX >> 20)).help(help));
        }
        let machine: Machine = serde_json::from_str(&text).map_err(|error| {
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
            let column = error.column().max(1);
            let from = column.saturating_sub(60);
            let near: String = line.chars().skip(from).take(100).collect();
            ImportError::content(path, error.to_string()).at_line(error.line() as u64, column - from, &near).help(help)
        })?;
        machine.fault().map_or(Ok(()), |what| Err(ImportError::content(path, what).help(help)))?;
        Ok(machine)
    }

    /// Number of CPUs.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.rows.len()
    }

    /// Policies of the programs.
    ///
    /// # Errors
    /// A sentence about the one that is wrong.
    pub fn policies(&self) -> Result<Vec<Policy>, String> {
        self.programs.iter().map(Program::policy).collect()
    }

    /// A question about this machine, with nothing else in it.
    ///
    /// # Errors
    /// A sentence about a list that cannot be.
    pub fn question(&self) -> Result<Box<Placement>, String> {
        let mut question = Box::<Placement>::default();
        put::<PerfDomain>("perf_domains", &self.perf_domains, &mut question.perf_domains)?;
        put::<EmState>("states", &self.states, &mut question.states)?;
        put::<PlaceCpu>("rows", &self.rows, &mut question.cpus)?;
        (question.nr_cpus, question.nr_perf_domains) = (self.rows.len() as u32, self.perf_domains.len() as u32);
        question.fault().map_or(Ok(()), Err)?;
        Ok(question)
    }

    fn fault(&self) -> Option<String> {
        const { assert!(PERF_DOMAINS_MAX <= PLACE_CPUS_MAX && PLACE_CPUS_MAX <= PLACE_STATES_MAX) };
        let cpus = self.rows.len();
        if self.format != FORMAT {
            return Some(format!("has form {}; {FORMAT} is known", self.format));
        }
        if cpus == 0 || self.khz.len() != cpus || self.freq_domains.len() != cpus {
            let (khz, domains) = (self.khz.len(), self.freq_domains.len());
            return Some(format!("has {cpus} rows, frequencies of {khz} CPUs and domains of {domains}"));
        }
        if !TICKS_NS.contains(&self.tick_ns) {
            return Some(format!("`tick_ns` is {}, {} to {} can be", self.tick_ns, TICKS_NS.start(), TICKS_NS.end()));
        }
        if let Some(cpu) = self.khz.iter().position(|khz| khz.len() > KHZ_MAX || !khz.is_sorted() || khz.contains(&0)) {
            return Some(format!("frequencies of CPU {cpu} do not ascend from above 0, or are more than {KHZ_MAX}"));
        }
        if self.programs.is_empty() {
            return Some("has no program".to_owned());
        }
        self.policies().err().or_else(|| self.question().err())
    }
}
