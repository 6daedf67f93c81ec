// SPDX-License-Identifier: GPL-2.0-or-later
//! Pictures and pages of results: charts as shapes ([`chart`]), and a report as one HTML file that needs no network
//! ([`report()`]).
//!
//! Nothing is computed here that a result does not have: numbers come from [`pelton_lab`], time lines from the events
//! of a run.

pub mod chart;
mod columns;
mod costly;
mod pack;
mod page;
mod request;

pub use page::value::of_result;
pub use request::{DECISIONS_DEFAULT, ReportRequest, report};
