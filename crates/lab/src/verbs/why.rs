// SPDX-License-Identifier: GPL-2.0-or-later
//! Switches between two policies, and what each has moved.

use super::inputs::{InputRequest, policy_spec, prepare, prepare_again};
use crate::about::{About, AboutPolicy};
use crate::measure::quantity::{self, Read};
use crate::run::{Fault, LabError};
use crate::watch::Watch;
use crate::why::ends::Ends;
use crate::why::kept::quantities;
use crate::why::{Keep, Method, Question, Why, ask};
use pelton_scenario::diagnostic::hint_for;
use serde::{Deserialize, Serialize};

/// Orders that are drawn where there are too many switches for every set.
pub const ORDERS_DEFAULT: u64 = 16;

/// Request: two policies on a platform and workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WhyRequest {
    /// Platform and workload.
    pub input: InputRequest,
    /// The first policy, as for compare.
    pub from: String,
    /// The second policy.
    pub to: String,
    /// Switches set in both.
    pub sets: Vec<String>,
    /// The number that is asked for, by name.
    pub metric: String,
    /// Repetitions, each with a seed of its own and random start phases.
    pub seeds: u64,
    /// The first seed; the others follow.
    pub first_seed: u64,
    /// Orders to draw where there are too many switches for every set; an even number.
    pub orders: u64,
    /// Runs at the same time; 0 = one per CPU. It never changes a result.
    pub jobs: usize,
}

impl Default for WhyRequest {
    fn default() -> Self {
        WhyRequest {
            input: InputRequest::default(),
            from: String::new(),
            to: String::new(),
            sets: Vec::new(),
            metric: "energy_mj".to_owned(),
            seeds: 10,
            first_seed: 1,
            orders: ORDERS_DEFAULT,
            jobs: 0,
        }
    }
}

/// The number of whole runs with this name, or the names that are near.
pub fn metric(name: &str) -> Result<&'static quantity::Quantity, String> {
    let found = quantity::find(name).filter(|found| matches!(found.read, Read::Run(_)));
    let names: Vec<&str> = quantities().map(|quantity| quantity.name).collect();
    found.ok_or_else(|| hint_for(name, names))
}

/// Runs every policy between the two that is needed, those of `keep` excepted, and divides the change into shares.
///
/// # Errors
/// When an input is wrong, the runs do not have the number, there are too many of them, or they were stopped.
pub fn why(request: &WhyRequest, keep: Option<Keep<'_>>, watch: &dyn Watch) -> Result<Why, LabError> {
    let metric = metric(&request.metric).map_err(|hint| {
        LabError::refused(Fault::Request, format!("there is no number `{}` of a whole run", request.metric), &hint)
    })?;
    if request.orders < 2 || !request.orders.is_multiple_of(2) {
        let reason = format!("{} orders: each is drawn with its reverse", request.orders);
        return Err(LabError::refused(Fault::Request, reason, "allowed: an even number from 2 on"));
    }
    if request.seeds == 0 {
        return Err(LabError::refused(Fault::Request, "no seed: nothing would run", "allowed: at least 1"));
    }
    let inputs = request.input.inputs(1, true);
    let specs = [&request.from, &request.to].map(|text| policy_spec(text, &request.sets));
    if specs.iter().any(|spec| spec.kernel.is_some()) {
        let reason = "a kernel's own code has no switches that could be changed one by one";
        return Err(LabError::refused(Fault::Request, reason, "pelton compare sets two of them side by side"));
    }
    let plans = [prepare(&inputs, &specs[0], watch)?, prepare_again(&inputs, &specs[1], watch)?];
    let ends = Ends::new(&inputs, &specs[0], &specs[1])?;
    let seeds: Vec<u64> = (0..request.seeds).map(|i| request.first_seed.wrapping_add(i)).collect();
    let mut why = Why {
        run: About::of(&plans[0], plans[0].plan.config.duration_ns),
        from: request.from.clone(),
        to: request.to.clone(),
        plans: plans.iter().map(AboutPolicy::of).collect(),
        seeds: seeds.clone(),
        metric: metric.name,
        method: Method::default(),
        players: Vec::new(),
        numbers: Vec::new(),
        unknown: Vec::new(),
        remarks: Vec::new(),
    };
    if ends.differences.is_empty() {
        return Ok(why);
    }
    let orders = usize::try_from(request.orders).unwrap_or(usize::MAX);
    let question = Question { ends: &ends, seeds: &seeds, orders, metric, jobs: request.jobs };
    let found = ask(&question, keep, watch)?;
    let of_policy = |(policy, remark): (&String, Option<String>)| Some(format!("[{policy}] {}", remark?));
    why.remarks = [&why.from, &why.to].into_iter().zip(found.remarks).filter_map(of_policy).collect();
    (why.method, why.players) = (found.method, found.players);
    (why.numbers, why.unknown) = (found.numbers, found.unknown);
    Ok(why)
}
