// SPDX-License-Identifier: GPL-2.0-or-later
//! Answers worked out by hand from the sources of the releases, one module per area; docs/rules/proofs names each test.

mod balance;
mod balance_groups;
mod balance_loads;
mod balancing;
mod boost;
mod boundaries;
mod cache_aware;
mod clamp_sums;
mod clamps;
mod deadline;
mod dl_server;
mod domains;
mod draw;
mod estimates;
mod fair;
mod governor;
mod governor_request;
mod governor_window;
mod governors;
mod idle;
mod idle_groups;
mod interactive;
mod limits;
mod margins;
mod placement;
mod pressure;
mod quotas;
mod runnable_load;
mod select;
mod select_class;
mod select_old;
mod select_old_cases;
mod select_old_recorded;
mod signals;
mod thermal;
