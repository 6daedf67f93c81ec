// SPDX-License-Identifier: GPL-2.0-or-later
//! Any request by the name of its verb: JSON in, the JSON that the verb prints out. Hosts that know no types of ours
//! ask here.

use super::check::{CheckRequest, check};
use super::compare::{CompareRequest, compare};
use super::difference::{DifferenceRequest, difference};
use super::explain::{ExplainRequest, balance, explain, placement, thermal, walk};
use super::front::{FrontRequest, front};
use super::inputs::ValidateRequest;
use super::replay::{ReplayRequest, replay};
use super::reproduce::{ReproduceRequest, reproduce};
use super::run::{RunRequest, run};
use super::trace_info::{TraceInfoRequest, trace_info};
use super::validate::validate;
use super::why::{WhyRequest, why};
use super::workload::{FromTraceRequest, from_trace};
use crate::experiment;
use crate::results::lists::{Behaviours, Platforms, Policies, Quantities, Tables, Workloads};
use crate::results::{Outcome, described};
use crate::run::{Fault, LabError};
use crate::watch::Watch;
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::policy::DEFAULT_PROFILE;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Answer to one request.
type Answer = fn(&str, &dyn Watch) -> Result<String, LabError>;

/// Request: a platform to describe.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// Its name or file.
    platform: String,
}

/// Every verb that can be asked for. Lists take an empty request, `{}`.
const VERBS: [(&str, Answer); 23] = [
    ("run", |text, watch| value(&run(&request::<RunRequest>(text)?, watch)?)),
    ("compare", |text, watch| value(&compare(&request::<CompareRequest>(text)?, watch)?)),
    ("check", |text, watch| value(&check(&request::<CheckRequest>(text)?, watch)?)),
    ("front", |text, watch| value(&front(&request::<FrontRequest>(text)?, watch)?)),
    ("why", |text, watch| value(&why(&request::<WhyRequest>(text)?, None, watch)?)),
    ("explain", |text, watch| value(&explain(&request::<ExplainRequest>(text)?, watch)?)),
    ("explain-placement", |text, watch| value(&placement(&request::<ExplainRequest>(text)?, watch)?)),
    ("explain-balance", |text, watch| value(&balance(&request::<ExplainRequest>(text)?, watch)?)),
    ("explain-walk", |text, watch| value(&walk(&request::<ExplainRequest>(text)?, watch)?)),
    ("explain-thermal", |text, watch| value(&thermal(&request::<ExplainRequest>(text)?, watch)?)),
    ("explain-diff", |text, watch| value(&difference(&request::<DifferenceRequest>(text)?, watch)?)),
    ("replay", |text, watch| value(&replay(&request::<ReplayRequest>(text)?, watch)?)),
    ("reproduce", reproduced),
    ("validate", |text, watch| {
        let answer = validate(&request::<ValidateRequest>(text)?, watch)?;
        answer.value().map(|value| value.to_string()).map_err(unwritten)
    }),
    ("trace-info", |text, watch| value(&trace_info(&request::<TraceInfoRequest>(text)?, watch)?.result)),
    ("workload-from-trace", |text, watch| from_trace(&request::<FromTraceRequest>(text)?, watch)),
    ("tables", |text, _| listed(text, &Tables { tables: experiment::names().to_vec() })),
    ("behaviours", |text, _| listed(text, &Behaviours::all()?)),
    ("platforms", |text, _| listed(text, &Platforms::all())),
    ("platform", |text, _| {
        let shown = request::<Shown>(text)?;
        value(&platform::show(&shown.platform, &PlatformOptions::new(DEFAULT_PROFILE))?)
    }),
    ("workloads", |text, _| listed(text, &Workloads::all())),
    ("policies", |text, _| listed(text, &Policies::all()?)),
    ("quantities", |text, _| listed(text, &Quantities::all())),
];

/// Names of the verbs.
pub fn names() -> impl Iterator<Item = &'static str> {
    VERBS.iter().map(|(name, _)| *name)
}

/// Answers a request, which is JSON, as the verb would print it with `--format json`; of `reproduce` a list, of
/// `workload-from-trace` the workload.
///
/// ```
/// use pelton_lab::{verbs::ask::ask, watch::Unwatched};
/// let load = r#"{"input": {"platform": "hikey-6220", "workload": "busy:cpus=0", "duration_ns": 50000000}}"#;
/// assert!(ask("run", load, &Unwatched)?.starts_with(r#"{"result":"run","#));
/// assert!(ask("run", r#"{"inptu": {}}"#, &Unwatched).is_err());
/// # Ok::<(), pelton_lab::run::LabError>(())
/// ```
///
/// # Errors
/// When there is no such verb, the request is none of it, or as the verb has them.
pub fn ask(verb: &str, request: &str, watch: &dyn Watch) -> Result<String, LabError> {
    let found = VERBS.iter().find(|(name, _)| *name == verb);
    let (_, answer) = found.ok_or_else(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        LabError::refused(Fault::Request, format!("there is no verb `{verb}`"), &format!("known are {known}"))
    })?;
    answer(request, watch)
}

/// A request out of its text.
///
/// # Errors
/// Where the text is no such request.
pub fn request<T: DeserializeOwned>(text: &str) -> Result<T, LabError> {
    serde_json::from_str(text).map_err(|why| {
        let hint = "fields are those of the requests in pelton_lab::verbs";
        LabError::refused(Fault::Request, format!("this is no request: {why}"), hint)
    })
}

/// A result as text, with what it is in front.
///
/// # Errors
/// None that is known: results are numbers, texts and lists.
pub fn value<T: Outcome>(result: &T) -> Result<String, LabError> {
    serde_json::to_string(&described(result)).map_err(unwritten)
}

fn listed<T: Outcome>(text: &str, list: &T) -> Result<String, LabError> {
    request::<std::collections::BTreeMap<String, ()>>(text)?;
    value(list)
}

/// Tables, then the worlds that are wrong on purpose.
fn reproduced(text: &str, watch: &dyn Watch) -> Result<String, LabError> {
    let all = reproduce(&request::<ReproduceRequest>(text)?, watch)?;
    let tables = all.tables.iter().map(value);
    let all = tables.chain(all.worlds.iter().map(value)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[{}]", all.join(",")))
}

/// Numbers, texts and lists can always be written.
fn unwritten(why: serde_json::Error) -> LabError {
    LabError::Output(why.into())
}
