// SPDX-License-Identifier: GPL-2.0-or-later
//! Results as JSON: every one says what it is, and every kind has a schema made from its type.

pub mod again;
pub mod balances;
pub mod kernel;
pub mod lists;
pub mod live;
pub mod recorded;
pub mod traces;
pub mod validated;

use crate::about::SCHEMA;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// A kind of result.
pub trait Outcome: Serialize + JsonSchema {
    /// Its name: `result` in the JSON, the file name of its schema.
    const KIND: &'static str;
}

/// Fields in front of every JSON result.
#[derive(Serialize, JsonSchema)]
pub struct Described<'a, T> {
    /// Kind of result: the name of its schema.
    pub result: &'static str,
    /// Version of the shape. Names and units that are there stay; a change of one raises it.
    pub schema: u32,
    /// Version of this program.
    pub version: &'static str,
    /// The result itself.
    #[serde(flatten)]
    pub value: &'a T,
}

/// The value with its description.
pub fn described<T: Outcome>(value: &T) -> Described<'_, T> {
    Described { result: T::KIND, schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), value }
}

/// A kind and the maker of its schema.
pub struct Kind {
    /// Name.
    pub name: &'static str,
    /// One line: which command prints it.
    pub printed_by: &'static str,
    schema: fn() -> Schema,
}

impl Kind {
    /// The schema, as text.
    pub fn schema_text(&self) -> String {
        let mut schema = (self.schema)();
        schema.insert("title".into(), format!("pelton {}", self.name).into());
        schema.insert("description".into(), self.printed_by.into());
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        // Comments of the source have links that only its own pages know.
        text.replace("[`", "`").replace("`]", "`") + "\n"
    }
}

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
    "run" "pelton run" crate::measure::summary::RunSummary;
    "compare" "pelton compare" crate::compare::Comparison;
    "front" "pelton front" crate::compare::front::Fronts;
    "why" "pelton why" crate::why::Why;
    "replay" "pelton replay; one for each trace, in a list" crate::verbs::replay::Replayed;
    "reproduce" "pelton reproduce; one for each table" crate::experiment::table::TableResult;
    "wrong-worlds" "pelton reproduce --wrong-worlds; one for each table, behind it" crate::experiment::worlds::WorldsResult;
    "tables" "pelton reproduce --list" lists::Tables;
    "check" "pelton check" crate::behaviour::result::Checked;
    "behaviours" "pelton check without a behaviour" lists::Behaviours;
    "explain" "pelton explain" crate::verbs::explain::Explained;
    "explain-placement" "pelton explain --placement" crate::verbs::explain::ExplainedPlacement;
    "explain-balance" "pelton explain --balance" crate::verbs::explain::ExplainedBalance;
    "explain-walk" "pelton explain --walk" crate::verbs::explain::ExplainedWalk;
    "explain-thermal" "pelton explain --thermal" crate::verbs::explain::ExplainedThermal;
    "explain-recorded" "pelton explain --recorded" crate::verbs::explain_recorded::ExplainedCall;
    "explain-recorded-placement" "pelton explain --recorded --placement" crate::verbs::explain_recorded::ExplainedPlace;
    "explain-diff" "pelton explain --diff" crate::verbs::difference::Difference;
    "sweep" "pelton sweep" crate::verbs::sweep::Swept;
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
