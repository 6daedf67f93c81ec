// SPDX-License-Identifier: GPL-2.0-or-later
//! Shape of a run: features that it is known to have no use for. One source of the engine is compiled for each shape,
//! where what cannot happen costs nothing; a run gets the narrowest that its inputs allow.

use std::marker::PhantomData;
use std::ops::Deref;

use pelton_core::Policy;
use pelton_schema::{Event, NullSink, Sink};

use crate::kernel_code::Kernel;
use crate::state::Uses;
use crate::told::Told;

/// Sink of a run, and the shape of the run.
pub(crate) trait Run: Sink {
    /// Every switch has the newest kernel's value, no kernel code decides, and nothing has a quota, a clamp or a boost.
    const PLAIN: bool = false;
    /// Tasks may be in groups.
    const GROUPS: bool = true;
}

impl Run for NullSink {}
impl<const ALL: bool> Run for Told<'_, ALL> {}

/// Sink of a plain run, with or without task groups; it takes events at most.
pub(crate) struct Plain<S, const GROUPS: bool>(pub S);

impl<S: Sink, const GROUPS: bool> Run for Plain<S, GROUPS> {
    const PLAIN: bool = {
        assert!(!(S::PLACEMENTS || S::BALANCES || S::REQUESTS || S::DRAWN), "its calls are not passed on");
        true
    };
    const GROUPS: bool = GROUPS;
}

impl<S: Sink, const GROUPS: bool> Sink for Plain<S, GROUPS> {
    const ACTIVE: bool = S::ACTIVE;

    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.event(time_ns, event);
    }
}

/// Policy of a run of shape `S`: in a plain one a constant.
pub(crate) struct Rules<'a, S>(&'a Policy, PhantomData<fn() -> S>);

impl<S> Clone for Rules<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Rules<'_, S> {}

impl<'a, S: Run> Rules<'a, S> {
    pub(crate) fn of(policy: &'a Policy) -> Self {
        assert!(!S::PLAIN || policy.is_compiled_in(), "a plain run has the newest policy");
        Rules(policy, PhantomData)
    }

    /// The record, at the address by which the core knows the newest one.
    #[inline(always)]
    pub(crate) fn get(self) -> &'a Policy {
        if S::PLAIN { Policy::newest() } else { self.0 }
    }
}

/// Single switches, which are constants to the compiler in a plain run. Functions of the core take [`Rules::get`].
impl<S: Run> Deref for Rules<'_, S> {
    type Target = Policy;

    #[inline(always)]
    fn deref(&self) -> &Policy {
        if S::PLAIN { const { &Policy::NEWEST } } else { self.0 }
    }
}

/// Features that the inputs of a run of shape `S` use.
pub(crate) struct Used<S>(Uses, PhantomData<fn() -> S>);

impl<S: Run> Used<S> {
    pub(crate) fn of(uses: Uses) -> Self {
        Used(uses, PhantomData)
    }

    /// Clamps come into use during the run.
    pub(crate) fn begins_clamps(&mut self, add_up: bool) {
        assert!(!S::PLAIN, "a plain run has no clamps");
        (self.0.clamped, self.0.clamp_sums) = (true, add_up);
    }
}

impl<S: Run> Deref for Used<S> {
    type Target = Uses;

    #[inline(always)]
    fn deref(&self) -> &Uses {
        if S::PLAIN { const { &Uses::NONE } } else { &self.0 }
    }
}

/// A kernel's own code, where that decides: in a plain run none.
pub(crate) struct Code<'a, S>(Option<Kernel<'a>>, PhantomData<fn() -> S>);

impl<'a, S: Run> Code<'a, S> {
    pub(crate) fn of(kernel: Option<Kernel<'a>>) -> Self {
        assert!(!S::PLAIN || kernel.is_none(), "a plain run is the core's");
        Code(kernel, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn as_ref(&self) -> Option<&Kernel<'a>> {
        if S::PLAIN { None } else { self.0.as_ref() }
    }

    #[inline(always)]
    pub(crate) fn as_mut(&mut self) -> Option<&mut Kernel<'a>> {
        if S::PLAIN { None } else { self.0.as_mut() }
    }

    #[inline(always)]
    pub(crate) fn is_some(&self) -> bool {
        self.as_ref().is_some()
    }

    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        self.as_ref().is_none()
    }
}
