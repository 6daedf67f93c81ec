// SPDX-License-Identifier: GPL-2.0-or-later
//! `name:key=value,key=value`, with messages that point into the text.

use std::ops::{Range, RangeInclusive};

use pelton_model::Machine;
use pelton_model::workload::CpuSet;

use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, hint_for};

/// Longest specification; more is no specification.
const TEXT_BYTES_MAX: usize = 4096;

/// Longest time of an option, microseconds.
pub(super) const TIME_US_MAX: u64 = 2_147_483_647;
/// Most repetitions.
pub(super) const LOOPS_MAX: u64 = 1_000_000_000;

/// One option as it is written.
struct Given {
    key: Range<usize>,
    value: Range<usize>,
    used: bool,
}

/// A specification while its options are read. Errors are collected and returned by [`Spec::finish`].
pub(crate) struct Spec<'a> {
    file: &'a SourceFile,
    machine: &'a Machine,
    part: Range<usize>,
    name: Range<usize>,
    given: Vec<Given>,
    #[cfg(test)]
    asked: Vec<&'static str>,
    errors: Diagnostics,
}

impl<'a> Spec<'a> {
    /// Splits the text; only its form is checked.
    pub(super) fn parse(file: &'a SourceFile, part: Range<usize>, machine: &'a Machine) -> Result<Self, Diagnostics> {
        let text = &file.text()[part.clone()];
        if text.len() > TEXT_BYTES_MAX {
            return Err(file
                .about("the workload is too long")
                .allowed(format!("at most {TEXT_BYTES_MAX} bytes"))
                .into());
        }
        let name_end = text.find(':').unwrap_or(text.len());
        let mut given = Vec::new();
        let mut at = part.start + name_end + 1;
        for piece in text.get(name_end + 1..).filter(|t| !t.is_empty()).map(|t| t.split(',')).into_iter().flatten() {
            let place = at..at + piece.len();
            let Some(equals) = piece.find('=') else {
                let d = file
                    .error(place, format!("`{piece}` is not an option"))
                    .help("options are key=value, separated by commas");
                return Err(d.into());
            };
            given.push(Given { key: at..at + equals, value: at + equals + 1..at + piece.len(), used: false });
            at += piece.len() + 1;
        }
        let name = part.start..part.start + name_end;
        Ok(Spec {
            file,
            machine,
            part,
            name,
            given,
            #[cfg(test)]
            asked: Vec::new(),
            errors: Diagnostics::new(),
        })
    }

    /// The whole specification.
    pub(super) fn text(&self) -> &'a str {
        &self.file.text()[self.part.clone()]
    }

    /// The model.
    pub(super) fn name(&self) -> &'a str {
        &self.file.text()[self.name.clone()]
    }

    /// The value of an option and its place.
    fn find(&mut self, key: &'static str) -> Option<(&'a str, Range<usize>)> {
        let text = self.file.text();
        #[cfg(test)]
        self.asked.push(key);
        let mut found = None;
        for given in self.given.iter_mut().filter(|g| &text[g.key.clone()] == key) {
            if found.is_some() {
                self.errors.push(self.file.error(given.key.clone(), format!("`{key}` is given twice")));
            }
            given.used = true;
            found = Some((&text[given.value.clone()], given.value.clone()));
        }
        found
    }

    fn error(&mut self, place: Range<usize>, message: String) -> Diagnostic {
        self.file.error(place, message)
    }

    /// A whole number in a range.
    pub(super) fn number<T>(&mut self, key: &'static str, default: T, range: RangeInclusive<T>) -> T
    where
        T: std::str::FromStr + PartialOrd + std::fmt::Display + Copy,
    {
        let Some((value, place)) = self.find(key) else { return default };
        match value.parse::<T>() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let d = self.error(place, format!("`{key}` is not a number in its range")).label(value);
                self.errors.push(d.allowed(format!("{}..={}", range.start(), range.end())));
                default
            }
        }
    }

    /// True when an option is written.
    pub(super) fn has(&self, key: &str) -> bool {
        self.given.iter().any(|g| &self.file.text()[g.key.clone()] == key)
    }

    /// A positive time in microseconds, decimals allowed, as nanoseconds.
    pub(super) fn time_ns(&mut self, key: &'static str, default_ns: Option<u64>, max_us: u64) -> u64 {
        let Some((value, place)) = self.find(key) else {
            if default_ns.is_none() {
                let d = self.error(self.name.clone(), format!("`{key}` is missing"));
                self.errors.push(d.help(format!("write {}:{key}=...", self.name())));
            }
            return default_ns.unwrap_or(1);
        };
        match decimal(value, 3).filter(|&ns| ns > 0 && ns <= max_us * 1000) {
            Some(ns) => ns,
            None => {
                let d = self.error(place, format!("`{key}` is not a time in its range")).label(value);
                self.errors.push(d.allowed(format!("0.001..={max_us} us")));
                1
            }
        }
    }

    /// A share, 0 to 1 with decimals, in millionths.
    pub(super) fn fraction_ppm(&mut self, key: &'static str, default_ppm: u64) -> u64 {
        let Some((value, place)) = self.find(key) else { return default_ppm };
        let ppm = decimal(value, 6).filter(|&ppm| ppm <= 1_000_000);
        if ppm.is_none() {
            let d = self.error(place, format!("`{key}` is not a share")).label(value);
            self.errors.push(d.allowed("0..=1, with at most six decimals"));
        }
        ppm.unwrap_or(default_ppm)
    }

    /// The machine.
    pub(super) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// CPUs of the machine.
    pub(super) fn machine_cpus(&self) -> usize {
        self.machine.cpus.len()
    }

    /// `duration_s`, decimals allowed, as nanoseconds; `None` when it is not written and has no default.
    pub(super) fn duration_ns(&mut self, default_ns: Option<u64>) -> Option<u64> {
        let Some((value, place)) = self.find("duration_s") else { return default_ns };
        let ns = decimal(value, 9).filter(|&ns| ns > 0 && ns <= 1_000_000 * 1_000_000_000);
        if ns.is_none() {
            let d = self.error(place, "`duration_s` is not a time in its range".into()).label(value);
            self.errors.push(d.allowed("0.001..=1000000 s"));
        }
        ns
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)], default: T) -> T {
        let Some((value, place)) = self.find(key) else { return default };
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == value) {
            return *found;
        }
        let d = self.error(place, format!("unknown `{key}`: `{value}`"));
        let hint = hint_for(value, words.iter().map(|(word, _)| *word));
        self.errors.push(d.help(hint));
        default
    }

    /// A value as it is written.
    pub(super) fn string(&mut self, key: &'static str, default: &'static str) -> &'a str {
        self.find(key).map_or(default, |(value, _)| value)
    }

    /// CPUs: `0`, `0-3`, `0/2/4-5`.
    pub(super) fn cpus(&mut self) -> Option<CpuSet> {
        let (value, place) = self.find("cpus")?;
        self.cpu_set("cpus", value, place)
    }

    /// CPUs under another name, where `all` is a set, too.
    pub(super) fn cpus_of(&mut self, key: &'static str) -> Option<CpuSet> {
        let (value, place) = self.find(key)?;
        if value == "all" {
            return Some(CpuSet::of(0..self.machine.cpus.len() as u32));
        }
        self.cpu_set(key, value, place)
    }

    fn cpu_set(&mut self, key: &str, value: &str, place: Range<usize>) -> Option<CpuSet> {
        if value == "all" {
            return None;
        }
        let count = u32::try_from(self.machine.cpus.len()).unwrap_or(u32::MAX);
        let set = cpu_list(value, count);
        if set.is_none() {
            let d = self.error(place, format!("`{key}` names no CPUs of the machine")).label(value);
            let d = d.allowed(format!("CPUs 0..={}", count.saturating_sub(1)));
            self.errors.push(d.help("a CPU (0), a range (0-3), or several with slashes (0/2/4-5)"));
        }
        set
    }

    /// CPUs on which the copies of a model may run: those of `cpus`, or one copy on every CPU when `cpus=each`.
    pub(super) fn places(&mut self) -> Vec<Option<CpuSet>> {
        match self.find("cpus") {
            Some(("each", _)) => (0..self.machine.cpus.len() as u32).map(|cpu| Some(CpuSet::of([cpu]))).collect(),
            Some((value, place)) => vec![self.cpu_set("cpus", value, place)],
            None => vec![None],
        }
    }

    /// An error about an option that was read.
    pub(super) fn wrong(&mut self, key: &'static str, message: &str, help: &str) {
        let text = self.file.text();
        let place =
            self.given.iter().find(|g| &text[g.key.clone()] == key).map_or(self.name.clone(), |g| g.value.clone());
        let d = self.file.error(place, message).help(help);
        self.errors.push(d);
    }

    /// Errors about what an option names.
    pub(super) fn refuse(&mut self, found: Diagnostics) {
        self.errors.extend(found);
    }

    /// Names of the options that were asked for.
    #[cfg(test)]
    pub(super) fn asked(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.asked.iter().copied()
    }

    /// The workload, unless an option was wrong, or none of `known`.
    pub(super) fn finish<T>(mut self, value: T, known: &[&'static str]) -> Result<T, Diagnostics> {
        let text = self.file.text();
        for given in self.given.iter().filter(|g| !g.used) {
            let key = &text[given.key.clone()];
            let d =
                self.file.error(given.key.clone(), format!("unknown option `{key}` of {}", &text[self.name.clone()]));
            self.errors.push(d.help(hint_for(key, known.iter().copied())));
        }
        self.errors.or(value)
    }
}

/// `12.5` with `digits` decimal places as a whole number: 12500 for 3.
pub(super) fn decimal(text: &str, digits: u32) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > digits as usize {
        return None;
    }
    let scale = 10u64.checked_pow(digits)?;
    let part_scale = 10u64.checked_pow(digits - u32::try_from(part.len()).ok()?)?;
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part.checked_mul(part_scale)?)
}

fn cpu_list(text: &str, count: u32) -> Option<CpuSet> {
    let mut set = CpuSet::default();
    for piece in text.split('/') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= count {
            return None;
        }
        (first..=last).for_each(|cpu| set.insert(cpu));
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("1230", 3), Some(1_230_000));
        assert_eq!(decimal("24390.5", 3), Some(24_390_500));
        assert_eq!(decimal("0.001", 3), Some(1));
        for bad in ["", ".5", "1.2345", "-1", "1e3", "1.", "x"] {
            assert_eq!(decimal(bad, 3), if bad == "1." { Some(1000) } else { None }, "{bad}");
        }
        assert_eq!(decimal("99999999999999999999", 3), None);
    }

    #[test]
    fn cpu_lists_have_ranges_and_several_parts() {
        assert_eq!(cpu_list("0/2/4-5", 8), Some(CpuSet::of([0, 2, 4, 5])));
        for bad in ["", "8", "3-1", "0,1", "0-", "a"] {
            assert_eq!(cpu_list(bad, 8), None, "{bad}");
        }
    }
}
