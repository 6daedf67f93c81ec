// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of the simulator, one program.
#![allow(missing_docs, reason = "tests")]

mod balance;
mod balance_properties;
mod bandwidth;
mod blocked;
mod cache_aware;
mod changes;
mod channels;
mod clamp_swarm;
mod clamps;
mod classes;
mod common;
mod costs;
mod deadline;
mod draws;
mod fair_server;
mod firmware;
mod governor;
mod governors;
mod group_limits;
mod groups;
mod hooks;
mod host_live;
mod idle;
mod idle_groups;
mod io;
mod large;
mod limits;
mod nodes;
mod passed_over;
mod placement;
mod places;
mod prepared;
mod published;
mod realtime;
mod scale;
mod seeds;
mod signals;
mod speed;
mod swarm;
mod thermal;
