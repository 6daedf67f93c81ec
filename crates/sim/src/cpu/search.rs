// SPDX-License-Identifier: GPL-2.0-or-later
//! Times in which a CPU is deaf: while it looks for a task before it goes idle, or walks over the idle CPUs.

/// A walk over idle CPUs, between two of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walking {
    pub why: u32,
    pub place: u32,
    /// True where the walk is part of `schedule()`.
    pub inside: bool,
}

/// Searches and walks of a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    /// Until when it looks for a task before it goes idle: not yet idle for others, and deaf to interrupts.
    deaf_until_ns: u64,
    /// A busy CPU asked it to walk over the idle ones.
    asked: u32,
    /// The walk over idle CPUs that it makes.
    walking: Option<Walking>,
}

impl Search {
    /// Notes that the CPU looks for a task until `at_ns`.
    pub(crate) fn lasts_until(&mut self, at_ns: u64) {
        self.deaf_until_ns = at_ns;
    }

    /// Until when it is deaf to interrupts.
    #[inline]
    pub(crate) fn until_ns(&self) -> u64 {
        self.deaf_until_ns
    }

    /// Time until which the CPU is deaf to interrupts, as far as it is known: `now` in a walk that is not over.
    pub(super) fn known_until_ns(&self, now: u64) -> u64 {
        if self.walking.is_some() { now } else { self.deaf_until_ns }
    }

    /// A busy CPU asks it to walk; true when none did before.
    pub(crate) fn is_asked(&mut self, why: u32) -> bool {
        std::mem::replace(&mut self.asked, why) == 0
    }

    /// Takes the reason for which the CPU was asked to walk, 0 = not asked; the request is gone afterwards.
    #[inline]
    pub(crate) fn take_asked(&mut self) -> u32 {
        std::mem::take(&mut self.asked)
    }

    #[inline]
    pub(crate) fn walk(&self) -> Option<Walking> {
        self.walking
    }

    /// Notes that the CPU is on its walk, and where in it.
    #[inline]
    pub(crate) fn walks(&mut self, walking: Walking) {
        self.walking = Some(walking);
    }

    /// Its walk is over; the walk, if there was one.
    #[inline]
    pub(crate) fn ends_walk(&mut self) -> Option<Walking> {
        self.walking.take()
    }
}
