// SPDX-License-Identifier: GPL-2.0-or-later
//! The scheduler between CPUs: what runs next, where tasks wake, what moves.

pub(crate) mod affinity;
pub(crate) mod balance;
pub(crate) mod balancing;
pub(crate) mod class_search;
pub(crate) mod classes;
pub(crate) mod enqueue;
pub(crate) mod group_place;
pub(crate) mod hrtick;
mod idle;
pub(crate) mod idle_walk;
pub(crate) mod loads;
pub(crate) mod parts;
pub(crate) mod placing;
pub(crate) mod preempt;
pub(crate) mod push_pull;
pub(crate) mod refresh;
pub(crate) mod reservation;
pub(crate) mod schedule;
pub(crate) mod scx;
pub(crate) mod select_task_rq;
pub(crate) mod setscheduler;
pub(crate) mod tick;
pub(crate) mod topology;
pub(crate) mod wake;
