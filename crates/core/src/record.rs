// SPDX-License-Identifier: GPL-2.0-or-later
//! The record that placement and balance read, of a machine of any size (`cpus.h`, `span.h`). Up to 64 CPUs a set of
//! CPUs in it is a word; beyond, it is a number: 0 = none, 1 + c = CPU c alone, else a row of a table.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::placement::NO_DOMAIN;
use crate::placement::{DOMAINS_MAX, PLACE_CPUS_MAX};
use crate::policy::Policy;
use crate::sys::{self, DstWalk, GroupSums, LbEnv, PlaceCpu, Placed, Placement, SchedDomain};
pub use crate::sys_wide::Placement as WidePlacement;
use crate::sys_wide::{self, PlaceSet};

/// Most CPUs of a large record.
pub const PLACE_CPUS_LARGEST: usize = sys::PLACE_CPUS_LARGEST as usize;
/// Most sets of several CPUs that it has rows for.
pub const PLACE_SETS_MAX: usize = sys::PLACE_SETS_MAX as usize;
/// Words of a set.
pub(crate) const WORDS: usize = PLACE_CPUS_LARGEST / 64;
/// The number of the first row.
const FIRST_ROW: u64 = 1 + PLACE_CPUS_LARGEST as u64;

/// A large record, and its rows of sets by what they hold.
#[derive(Clone)]
pub struct Wide {
    pub(crate) place: Box<WidePlacement>,
    rows: BTreeMap<[u64; WORDS], u64>,
}

/// Sets that change from decision to decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// CPUs that the placed task may use.
    Allowed,
    /// CPUs that a balance considers.
    Considered,
    /// CPUs that a task may use which a balance looks at.
    Moved,
}

const HELD: usize = 3;

/// A record of some size.
#[derive(Clone)]
pub enum Record {
    /// At most 64 CPUs.
    Narrow(Box<Placement>),
    /// More.
    Wide(Wide),
}

/// Either form, as a rule gets it.
pub enum Form<'a> {
    /// At most 64 CPUs.
    Narrow(&'a Placement),
    /// More.
    Wide(&'a WidePlacement),
}

impl Form<'_> {
    /// Number of CPUs of the record.
    pub(crate) fn nr_cpus(&self) -> u32 {
        match self {
            Form::Narrow(place) => place.nr_cpus,
            Form::Wide(place) => place.nr_cpus,
        }
    }
}

/// A record that a rule reads.
pub trait Snapshot {
    /// Its form.
    fn form(&self) -> Form<'_>;
}

impl Snapshot for Placement {
    fn form(&self) -> Form<'_> {
        Form::Narrow(self)
    }
}

impl Snapshot for Record {
    #[inline]
    fn form(&self) -> Form<'_> {
        match self {
            Record::Narrow(place) => Form::Narrow(place),
            Record::Wide(wide) => Form::Wide(&wide.place),
        }
    }
}

/// Calls a rule of `ffi.rs` or, for a large record, its namesake: `(policy, record, ...)`.
macro_rules! rule {
    ($record:expr, $name:ident, $policy:expr $(, $arg:expr)*) => {
        match $crate::record::Snapshot::form($record) {
            $crate::record::Form::Narrow(s) => $crate::sys::$name($policy, s $(, $arg)*),
            $crate::record::Form::Wide(s) => $crate::sys_wide::$name($policy, s $(, $arg)*),
        }
    };
}
pub(crate) use rule;

/// As `rule!`, of a function that reads no policy: `function(record, ...)`.
macro_rules! by_form {
    ($record:expr, $name:ident($($arg:expr),*)) => {
        match $crate::record::Snapshot::form($record) {
            $crate::record::Form::Narrow(s) => $crate::sys::$name(s $(, $arg)*),
            $crate::record::Form::Wide(s) => $crate::sys_wide::$name(s $(, $arg)*),
        }
    };
}
pub(crate) use by_form;

impl WidePlacement {
    fn empty() -> Box<WidePlacement> {
        let layout = std::alloc::Layout::new::<WidePlacement>();
        // SAFETY: of a size that is not 0; integers all of which may be 0. Too large to be made elsewhere and moved.
        unsafe {
            let place = std::alloc::alloc_zeroed(layout).cast::<WidePlacement>();
            if place.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            Box::from_raw(place)
        }
    }

    /// The part that records of both forms have: all but the rows of CPUs beyond 64, and what follows them.
    pub(crate) fn first(&self) -> &Placement {
        let place: *const WidePlacement = self;
        // SAFETY: it begins with the same fields, as `FIRST` finds.
        unsafe { &*place.cast::<Placement>() }
    }

    pub(crate) fn first_mut(&mut self) -> &mut Placement {
        let place: *mut WidePlacement = self;
        // SAFETY: as above.
        unsafe { &mut *place.cast::<Placement>() }
    }
}

/// Rows of CPUs are the last that the smaller form has, and where they are in the larger one, too.
const FIRST: usize = std::mem::offset_of!(Placement, cpus);
const _: () = assert!(FIRST == std::mem::offset_of!(WidePlacement, cpus));
const _: () = assert!(FIRST + PLACE_CPUS_MAX * size_of::<PlaceCpu>() == size_of::<Placement>());
const _: () = assert!(align_of::<WidePlacement>() == align_of::<Placement>());

impl Wide {
    fn new() -> Wide {
        Wide { place: WidePlacement::empty(), rows: BTreeMap::new() }
    }

    pub(crate) fn row(span: u64) -> Option<usize> {
        span.checked_sub(FIRST_ROW).map(|row| row as usize)
    }

    pub(crate) fn set(&self, span: u64) -> Option<&PlaceSet> {
        Self::row(span).map(|row| &self.place.sets[row])
    }

    /// Word `at` of a set.
    #[inline]
    fn word(&self, span: u64, at: usize) -> u64 {
        match self.set(span) {
            Some(set) => set.cpus.words[at],
            None if span > 0 && (span - 1) / 64 == at as u64 => 1 << ((span - 1) % 64),
            None => 0,
        }
    }

    /// Is a CPU in a set?
    #[inline]
    pub(crate) fn has(&self, span: u64, cpu: u32) -> bool {
        self.word(span, cpu as usize / 64) >> (cpu % 64) & 1 == 1
    }

    fn write(&mut self, row: usize, words: &[u64]) -> u64 {
        let set = &mut self.place.sets[row];
        set.cpus.words = [0; WORDS];
        set.cpus.words[..words.len()].copy_from_slice(words);
        set.count();
        if set.weight == 0 { 0 } else { FIRST_ROW + row as u64 }
    }

    /// A held set; most are the ones that were held before.
    fn hold(&mut self, row: usize, words: &[u64]) -> u64 {
        let set = &self.place.sets[row];
        let (same, rest) = set.cpus.words.split_at(words.len());
        if set.weight > 0 && same == words && rest.iter().all(|&word| word == 0) {
            return FIRST_ROW + row as u64;
        }
        self.write(row, words)
    }

    /// The number of a set that stays.
    fn span_of(&mut self, words: &[u64]) -> u64 {
        let mut cpus = [0; WORDS];
        cpus[..words.len()].copy_from_slice(words);
        let (first, weight) = (lowest(&cpus), weight(&cpus));
        if weight < 2 {
            return if weight == 0 { 0 } else { 1 + u64::from(first) };
        }
        if let Some(&known) = self.rows.get(&cpus) {
            return known;
        }
        let row = HELD + self.rows.len();
        assert!(row < PLACE_SETS_MAX, "sets of CPUs are levels of a machine: no more than twice its CPUs");
        let span = self.write(row, words);
        self.rows.insert(cpus, span);
        span
    }
}

impl PlaceSet {
    fn count(&mut self) {
        (self.first, self.last, self.weight) =
            (lowest(&self.cpus.words), highest(&self.cpus.words), weight(&self.cpus.words));
    }
}

fn weight(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

fn highest(words: &[u64]) -> u32 {
    let word = words.iter().rposition(|&word| word != 0);
    word.map_or(0, |at| at as u32 * 64 + 63 - words[at].leading_zeros())
}

fn lowest(words: &[u64]) -> u32 {
    let word = words.iter().position(|&word| word != 0);
    word.map_or(0, |at| at as u32 * 64 + words[at].trailing_zeros())
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a record of {} CPUs", self.nr_cpus)
    }
}

impl Default for Record {
    fn default() -> Record {
        Record::Narrow(Box::default())
    }
}

impl Deref for Record {
    type Target = Placement;

    /// The part that records of both forms have: all but the rows of CPUs beyond 64, and what follows them.
    #[inline]
    fn deref(&self) -> &Placement {
        match self {
            Record::Narrow(place) => place,
            Record::Wide(wide) => wide.place.first(),
        }
    }
}

impl DerefMut for Record {
    #[inline]
    fn deref_mut(&mut self) -> &mut Placement {
        match self {
            Record::Narrow(place) => place,
            Record::Wide(wide) => wide.place.first_mut(),
        }
    }
}

impl Record {
    /// An empty record for so many CPUs; `None`: there is none so large.
    #[must_use]
    pub fn new(cpus: usize) -> Option<Record> {
        let mut record = match cpus {
            0..=PLACE_CPUS_MAX => Record::default(),
            _ if cpus <= PLACE_CPUS_LARGEST => Record::Wide(Wide::new()),
            _ => return None,
        };
        record.nr_cpus = cpus as u32;
        Some(record)
    }

    /// The record of at most 64 CPUs.
    #[must_use]
    pub fn narrow(&self) -> Option<&Placement> {
        match self {
            Record::Narrow(place) => Some(place),
            Record::Wide(_) => None,
        }
    }

    /// Its rows of CPUs, unused ones at the end.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> &[PlaceCpu] {
        match self {
            Record::Narrow(place) => &place.cpus,
            Record::Wide(wide) => &wide.place.cpus,
        }
    }

    /// Its rows of CPUs, to be written.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [PlaceCpu] {
        match self {
            Record::Narrow(place) => &mut place.cpus,
            Record::Wide(wide) => &mut wide.place.cpus,
        }
    }

    /// A set of CPUs as domains name it; `words`: 64 CPUs each, one bit a CPU.
    ///
    /// ```
    /// use pelton_core::Record;
    /// let mut small = Record::new(8).unwrap();
    /// assert_eq!((small.span_of(&[0xf0]), small.span_weight(0xf0)), (0xf0, 4));
    /// let mut large = Record::new(128).unwrap();
    /// let (all, one) = (large.span_of(&[u64::MAX, 1]), large.span_of(&[0, 1]));
    /// assert_eq!((large.span_weight(all), large.span_weight(one)), (65, 1));
    /// assert!(large.span_has(all, 64) && large.span_has(one, 64) && !large.span_has(one, 0));
    /// assert_eq!(large.span_of(&[u64::MAX, 1]), all);
    /// ```
    ///
    /// # Panics
    ///
    /// With more sets than the levels of a machine make.
    pub fn span_of(&mut self, words: &[u64]) -> u64 {
        match self {
            Record::Narrow(_) => words.first().copied().unwrap_or(0),
            Record::Wide(wide) => wide.span_of(words),
        }
    }

    /// A set of CPUs that another one of its kind takes the place of.
    #[inline]
    pub fn hold(&mut self, kind: Held, words: &[u64]) -> u64 {
        match self {
            Record::Narrow(_) => words.first().copied().unwrap_or(0),
            Record::Wide(wide) => wide.hold(kind as usize, words),
        }
    }

    /// The set of a kind is `span` from now on.
    #[inline]
    pub fn hold_span(&mut self, kind: Held, span: u64) -> u64 {
        match self {
            Record::Narrow(_) => span,
            Record::Wide(wide) => {
                let words = wide.set(span).map_or([0; WORDS], |set| set.cpus.words);
                wide.write(kind as usize, &words)
            }
        }
    }

    /// Takes a CPU out of the CPUs that a balance considers: `span`, a set that stays or the held one.
    pub fn leave_out(&mut self, span: u64, cpu: u32) -> u64 {
        let held = FIRST_ROW + Held::Considered as u64;
        let own = if span == held { span } else { self.hold_span(Held::Considered, span) };
        self.hold_without(own, cpu)
    }

    /// Takes a CPU out of a held set.
    pub fn hold_without(&mut self, span: u64, cpu: u32) -> u64 {
        match self {
            Record::Narrow(_) => span & !(1 << cpu),
            Record::Wide(wide) => {
                let Some(row) = Wide::row(span) else { return span };
                let set = &mut wide.place.sets[row];
                set.cpus.words[cpu as usize / 64] &= !(1 << (cpu % 64));
                set.count();
                if set.weight == 0 { 0 } else { span }
            }
        }
    }

    /// One CPU, as domains name it.
    #[must_use]
    #[inline]
    pub fn span_alone(&self, cpu: u32) -> u64 {
        match self {
            Record::Narrow(_) => 1 << cpu,
            Record::Wide(_) => 1 + u64::from(cpu),
        }
    }

    /// Words of a set: 1, or as many as its machine needs.
    #[must_use]
    #[inline]
    pub fn words(&self) -> usize {
        match self {
            Record::Narrow(_) => 1,
            Record::Wide(wide) => (wide.place.nr_cpus as usize).div_ceil(64),
        }
    }

    /// The words of a set that have CPUs, and those between them.
    #[must_use]
    #[inline]
    pub fn span_words(&self, span: u64) -> std::ops::Range<usize> {
        match self {
            Record::Narrow(_) => 0..1,
            Record::Wide(wide) => match wide.set(span) {
                Some(set) => set.first as usize / 64..set.last as usize / 64 + 1,
                None if span > 0 => (span as usize - 1) / 64..(span as usize - 1) / 64 + 1,
                None => 0..0,
            },
        }
    }

    /// Word `at` of a set.
    #[must_use]
    #[inline]
    pub fn span_word(&self, span: u64, at: usize) -> u64 {
        match self {
            Record::Narrow(_) => span,
            Record::Wide(wide) => wide.word(span, at),
        }
    }

    /// Is a CPU in a set?
    #[must_use]
    #[inline]
    pub fn span_has(&self, span: u64, cpu: u32) -> bool {
        self.span_word(span, cpu as usize / 64) >> (cpu % 64) & 1 == 1
    }

    /// CPUs of a set.
    #[must_use]
    #[inline]
    pub fn span_weight(&self, span: u64) -> u32 {
        match self {
            Record::Narrow(_) => span.count_ones(),
            Record::Wide(wide) => wide.set(span).map_or(u32::from(span > 0), |set| set.weight),
        }
    }

    /// Is every CPU of `span` in `of`?
    #[must_use]
    pub fn span_within(&self, span: u64, of: u64) -> bool {
        (0..self.words()).all(|at| self.span_word(span, at) & !self.span_word(of, at) == 0)
    }

    /// The CPUs of a set, ascending.
    pub fn span_cpus(&self, span: u64) -> impl Iterator<Item = u32> {
        (0..self.words()).flat_map(move |at| bits(at as u32 * 64, self.span_word(span, at)))
    }

    /// The group of CPU `cpu` in its domain `level`, whose CPUs are `group`.
    #[must_use]
    pub fn group(&self, group: u64, cpu: u32, level: usize) -> &SchedDomain {
        match (self, Wide::row(group)) {
            (Record::Wide(wide), Some(row)) => &wide.place.sets[row].group,
            (record, _) => &record.rows()[cpu as usize].domains[level],
        }
    }

    /// The group of CPU `cpu` in its domain `level`, whose CPUs are `group`, to be written.
    pub fn group_mut(&mut self, group: u64, cpu: u32, level: usize) -> &mut SchedDomain {
        match (self, Wide::row(group)) {
            (Record::Wide(wide), Some(row)) => &mut wide.place.sets[row].group,
            (record, _) => &mut record.rows_mut()[cpu as usize].domains[level],
        }
    }

    /// All domains are there: counts the cores of the sets that they name, and gives their groups ranks.
    pub fn seal(&mut self) {
        self.count_cores();
        if let Record::Wide(wide) = self {
            wide.give_ranks();
        }
    }

    fn count_cores(&mut self) {
        for span in self.spans() {
            let first_of_core = |&c: &u32| {
                let threads = self.rows()[c as usize].threads;
                self.span_cpus(threads).find(|&other| self.span_has(span, other)).is_none_or(|other| other == c)
            };
            let cores = self.span_cpus(span).filter(first_of_core).count() as u32;
            if let Record::Wide(wide) = self
                && let Some(row) = Wide::row(span)
            {
                wide.place.sets[row].cores = cores;
            }
        }
    }

    /// The number of a row of the table of sets.
    pub(crate) fn set_number(row: usize) -> u64 {
        FIRST_ROW + row as u64
    }

    /// Numbers of the sets that domains name, of a large record.
    #[must_use]
    pub fn spans(&self) -> std::ops::Range<u64> {
        let rows = match self {
            Record::Narrow(_) => 0,
            Record::Wide(wide) => wide.rows.len(),
        };
        let first = FIRST_ROW + HELD as u64;
        first..first + rows as u64
    }

    /// See [`crate::LbEnv::record_llc_stats`].
    pub fn record_llc_stats(&mut self, policy: &Policy, env: &LbEnv) {
        match self {
            Record::Narrow(place) => env.record_llc_stats(policy, place),
            Record::Wide(wide) => sys_wide::record_sg_llc_stats(policy, &mut wide.place, env),
        }
    }

    /// The CPU for the task; why, and what is to be remembered, in `out`.
    #[inline]
    pub fn select(&self, policy: &Policy, out: &mut Placed) -> u32 {
        rule!(self, select_task_rq_fair, policy, out)
    }

    /// 4.12: the task's load as it is when loads are compared: up to date where `wake_cap()` had to ask for its size.
    #[must_use]
    pub fn wake_cap_load(&self, policy: &Policy, placed: &mut Placed) -> u64 {
        rule!(self, wake_cap_load, policy, placed)
    }

    /// The search through groups that a decision made, once more and step by step: `step` is called with the CPU whose
    /// domain it is, the domain's level, where that leads, and what was compared. Nothing when there was none.
    pub fn search_again(&self, policy: &Policy, placed: &Placed, mut step: impl FnMut((u32, u32), &DstWalk, &Placed)) {
        let mut again = Placed { se: self.task.se, ..*placed };
        let mut walk = DstWalk::default();
        if placed.dst_level == NO_DOMAIN {
            return;
        }
        let (cpu, level) = (self.this_cpu, placed.dst_level);
        if rule!(self, find_dst_start, policy, &mut again, cpu, level, &mut walk) == 0 {
            return;
        }
        for _ in 0..2 * DOMAINS_MAX {
            if walk.level == NO_DOMAIN {
                return;
            }
            let at = (walk.cpu, walk.level);
            rule!(self, find_dst_step, policy, &mut again, &mut walk);
            step(at, &walk, &again);
        }
    }

    /// Sums of each group of a domain that a search through groups compares, the group of CPU `cpu` first.
    #[must_use]
    pub fn groups_compared(&self, policy: &Policy, placed: &Placed, (cpu, level): (u32, u32)) -> Vec<GroupSums> {
        let mut groups = Vec::new();
        let mut left: Vec<u32> = self.span_cpus(self.rows()[cpu as usize].domains[level as usize].span).collect();
        let from = left.iter().position(|&of| of == cpu).unwrap_or(0);
        left.rotate_left(from);
        while let Some(&of) = left.first() {
            let mut group = GroupSums::default();
            rule!(self, dst_group_sums, policy, placed, cpu, level, of, &mut group);
            left.retain(|&other| other != of && !self.span_has(group.cpus, other));
            groups.push(group);
        }
        groups
    }

    /// See [`Placement::misfit_load`].
    #[inline]
    pub fn misfit_load(&self, policy: &Policy, out: &mut Placed, cpu: u32, biggest: u32) -> u64 {
        by_form!(self, placed_start(out));
        rule!(self, misfit_load, policy, out, cpu, biggest)
    }

    /// See [`Placement::util_fits_cpu`].
    #[must_use]
    pub fn util_fits_cpu(&self, policy: &Policy, util: u32, min: u32, max: u32, cpu: u32) -> i32 {
        rule!(self, util_fits_cpu, policy, util, min, max, cpu)
    }

    /// Has a CPU more to do than it can?
    #[must_use]
    #[inline]
    pub fn cpu_overutilized(&self, policy: &Policy, cpu: u32) -> bool {
        rule!(self, cpu_overutilized, policy, cpu) != 0
    }
}

fn bits(first: u32, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(first + bit)
    })
}
