// SPDX-License-Identifier: GPL-2.0-only
//! The types of results, wherever they are made.

pub use super::explain::Explained;
pub use super::explain_balance::{ExplainedBalance, ExplainedWalk};
pub use super::explain_placement::ExplainedPlacement;
pub use super::record::RecordReport;
pub use super::replay::Replayed;
pub use pelton_lab::compare::Comparison;
pub use pelton_lab::front::Fronts;
pub use pelton_lab::summary::RunSummary;
pub use pelton_lab::table::TableResult;
pub use pelton_lab::worlds::WorldsResult;
pub use pelton_scenario::platform::Description;
