// SPDX-License-Identifier: GPL-2.0-or-later
//! Every kind of result: its name, the command that prints it, its type.

use super::{Described, Kind, Outcome, again, balances, kernel, lists, live, recorded, traces, validated};
use crate::{behaviour, compare, experiment, measure, verbs, why};
use schemars::Schema;
use schemars::generate::SchemaSettings;

fn schema<T: Outcome + 'static>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Described<'static, T>>()
}

macro_rules! kinds {
    ($( $name:literal $printed_by:literal $type:ty; )*) => {
        $( impl Outcome for $type { const KIND: &'static str = $name; } )*
        /// Every kind of result.
        pub const KINDS: &[Kind] = &[ $( Kind { name: $name, printed_by: $printed_by, schema: schema::<$type> }, )* ];
    };
}

kinds! {
    "run" "pelton run" measure::summary::RunSummary;
    "compare" "pelton compare" compare::Comparison;
    "front" "pelton front" compare::front::Fronts;
    "why" "pelton why" why::Why;
    "replay" "pelton replay; one for each trace, in a list" verbs::replay::Replayed;
    "reproduce" "pelton reproduce; one for each table" experiment::table::TableResult;
    "wrong-worlds" "pelton reproduce --wrong-worlds; one for each table, behind it" experiment::worlds::WorldsResult;
    "tables" "pelton reproduce --list" lists::Tables;
    "check" "pelton check" behaviour::result::Checked;
    "behaviours" "pelton check without a behaviour" lists::Behaviours;
    "explain" "pelton explain" verbs::explain::Explained;
    "explain-placement" "pelton explain --placement" verbs::explain::ExplainedPlacement;
    "explain-balance" "pelton explain --balance" verbs::explain::ExplainedBalance;
    "explain-walk" "pelton explain --walk" verbs::explain::ExplainedWalk;
    "explain-thermal" "pelton explain --thermal" verbs::explain::ExplainedThermal;
    "explain-recorded" "pelton explain --recorded" verbs::explain_recorded::ExplainedCall;
    "explain-recorded-placement" "pelton explain --recorded --placement" verbs::explain_recorded::ExplainedPlace;
    "explain-diff" "pelton explain --diff" verbs::difference::Difference;
    "sweep" "pelton sweep" verbs::sweep::Swept;
    "validate" "pelton validate; several traces: a list" validated::Validated;
    "validate-self-test" "pelton validate --self-test" validated::SelfTest;
    "placements" "pelton validate of a table of placements" again::Placements;
    "placements-self-test" "pelton validate --self-test of a table of placements" again::PlacementFaults;
    "clamps" "pelton validate of a table of clamps" again::Clamps;
    "clamps-self-test" "pelton validate --self-test of a table of clamps" again::ClampFaults;
    "decisions" "pelton validate of a recording of pelton live" again::Decisions;
    "decisions-self-test" "pelton validate --self-test of a recording of pelton live" again::DecisionFaults;
    "record" "pelton record" recorded::RecordReport;
    "record-placements" "pelton record --placements" recorded::PlacementsRecorded;
    "record-clamps" "pelton record --clamps" recorded::ClampsRecorded;
    "record-gates" "pelton record --gates" recorded::GatesRecorded;
    "record-balances" "pelton record --balances" balances::BalancesRecorded;
    "live" "pelton live" live::LiveReport;
    "live-observed" "pelton live --observe" live::LiveObserved;
    "live-status" "pelton live status; with --every also pelton live" live::LiveStatus;
    "live-group" "pelton live boost, clamp" live::LiveGroup;
    "live-number" "pelton live set" live::LiveNumber;
    "live-explained" "pelton live explain" live::LiveExplained;
    "live-stopped" "pelton live stop" live::LiveStopped;
    "trace-info" "pelton trace info" traces::Info;
    "platforms" "pelton platform list" lists::Platforms;
    "platform" "pelton platform show" pelton_scenario::platform::Description;
    "platform-check" "pelton platform check" lists::Checked;
    "kernel-built" "pelton kernel build" kernel::KernelBuilt;
    "kernels" "pelton kernel list" kernel::Kernels;
    "kernel" "pelton kernel show" kernel::KernelImage;
    "kernel-removed" "pelton kernel remove" kernel::KernelRemoved;
    "kernel-diff" "pelton kernel diff" kernel::KernelDiff;
    "workloads" "pelton workload list" lists::Workloads;
    "workload" "pelton workload show" lists::WorkloadModel;
    "policies" "pelton policy list" lists::Policies;
    "policy" "pelton policy show" lists::PolicyShown;
    "quantities" "pelton result quantities" lists::Quantities;
    "kinds" "pelton result schema" lists::Kinds;
}
