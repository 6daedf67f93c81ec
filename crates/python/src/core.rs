// SPDX-License-Identifier: GPL-2.0-or-later
//! Single rules of the core, for teaching and for other tools.

use crate::table::Table;
use crate::{error, place, work};
use pelton_core::{CpuState, Ctx, EnergyModel, NO_LARGEST, Policy, Se, SugovPolicy};
use pelton_desk::{Column, Values};
use pelton_lab::plan::{self, DURATION_NS_MAX, PolicySpec};
use pelton_lab::run::LabError;
use pelton_lab::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Capacity of the biggest CPU at its highest frequency.
pub(crate) const SCALE: u32 = 1024;
/// Steps of one call, and its length.
const STEPS_MAX: u64 = 10_000_000;
const US_MAX: u64 = DURATION_NS_MAX / 1000;
/// Operating points of a domain: `PELTON_OPP_MAX` of bounds.h.
pub(crate) const OPPS_MAX: usize = 256;
/// Power of a point, below the core's bound: its product with the time of 65,536 CPUs has to fit 64 bits.
pub(crate) const POWER_UW_MAX: u64 = 1 << 32;

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pelt, module)?)?;
    module.add_function(wrap_pyfunction!(sugov, module)?)?;
    module.add_function(wrap_pyfunction!(energy, module)?)?;
    module.add_function(wrap_pyfunction!(place::place, module)?)
}

/// The policy of this text, as `--policy` takes it; the newest kernel's where there is none.
pub(crate) fn policy(py: Python<'_>, text: Option<&str>) -> PyResult<Policy> {
    let chosen = plan::core_policy(&text.map(PolicySpec::parse).unwrap_or_default());
    chosen.map(|chosen| chosen.policy).map_err(|why| error::raised(py, why.into()))
}

/// Load tracking of one task through a list of (duration in us, "running", "queued" or "sleeping"), a row for each
/// `step_us` and each end.
#[pyfunction]
#[pyo3(signature = (segments, *, policy = None, weight = 1024, step_us = 1000))]
fn pelt(
    py: Python<'_>,
    segments: Vec<(u64, String)>,
    policy: Option<&str>,
    weight: u64,
    step_us: u64,
) -> PyResult<Table> {
    let pol = self::policy(py, policy)?;
    let total_us = segments.iter().map(|(us, _)| *us).fold(0, u64::saturating_add);
    if !(1..=US_MAX).contains(&step_us) || total_us > US_MAX || total_us / step_us > STEPS_MAX {
        let message = format!("{total_us} us in steps of {step_us} us");
        let hint = format!("allowed: up to {US_MAX} us in at most {STEPS_MAX} steps");
        return Err(error::input(py, &message, Some(&hint)));
    }
    if !(1..=1 << 20).contains(&weight) {
        return Err(error::input(py, &format!("a weight of {weight}"), Some("allowed: 1..=1048576; nice 0 is 1024")));
    }
    let states: Vec<(u64, [u32; 2])> = segments
        .iter()
        .map(|(us, state)| match state.as_str() {
            "running" => Ok((*us, [1, 1])),
            "queued" => Ok((*us, [1, 0])),
            "sleeping" => Ok((*us, [0, 0])),
            other => {
                let known = "known are running, queued and sleeping";
                Err(error::input(py, &format!("`{other}` is no state of a task"), Some(known)))
            }
        })
        .collect::<PyResult<_>>()?;
    let (rows, _) = work::work(py, None, |watch| tracked(&pol, &states, (weight, step_us), watch))?;
    Table::of(Arc::new(rows.table()))
}

/// Averages of a task through its states: time, us, and whether it is on a queue and runs.
fn tracked(
    pol: &Policy,
    states: &[(u64, [u32; 2])],
    (weight, step_us): (u64, u64),
    watch: &dyn Watch,
) -> Result<Rows, LabError> {
    let mut se = Se::new(weight);
    // A clock begins above 0, which stands for a task that is on no queue yet.
    let start_ns = 1 << 20;
    se.avg.last_update_time_ns = start_ns;
    let (mut now_ns, mut rows) = (start_ns, Rows::default());
    for (us, [on_rq, running]) in states {
        (se.on_rq, se.running, se.nr_runnable) = (*on_rq, *running, *on_rq);
        let end_ns = now_ns + us * 1000;
        while now_ns < end_ns {
            if watch.stop().load(Ordering::Relaxed) {
                return Err(LabError::Stopped("interrupted: no table".to_owned()));
            }
            now_ns = end_ns.min(now_ns + step_us * 1000);
            se.update(&Ctx { pol, now: now_ns, cap_orig: SCALE, freq_scale: SCALE });
            rows.push(now_ns - start_ns, &se);
        }
    }
    Ok(rows)
}

/// A row for each step.
#[derive(Default)]
struct Rows {
    time_ns: Vec<u64>,
    averages: [Vec<u64>; 3],
}

impl Rows {
    fn push(&mut self, time_ns: u64, se: &Se) {
        self.time_ns.push(time_ns);
        let averages = [se.avg.util_avg, se.avg.runnable_avg, se.avg.load_avg];
        self.averages.iter_mut().zip(averages).for_each(|(column, value)| column.push(value));
    }

    fn table(self) -> pelton_desk::Table {
        let [util, runnable, load] = self.averages;
        pelton_desk::Table::of(vec![
            Column::new("time_ns", "ns", "Time since the start.", Values::U64(self.time_ns)),
            Column::new("util_avg", "0..1024", "Share of time executing.", Values::U64(util)),
            Column::new("runnable_avg", "0..1024", "Share of time on the queue.", Values::U64(runnable)),
            Column::new("load_avg", "weight", "Weighted share of time on the queue.", Values::U64(load)),
        ])
    }
}

/// Choice of schedutil for one CPU with these signals: its performance target, the frequency before the table and the
/// one that serves it, kHz.
#[pyfunction]
#[pyo3(signature = (khz, *, util = 0, util_est = 0, runnable = 0, rt = 0, dl = 0, irq = 0, iowait = 0, uclamp_min = 0,
    uclamp_max = 1024, nr_running = 1, rt_nr_running = 0, capacity = 1024, policy = None))]
#[allow(clippy::too_many_arguments)]
fn sugov<'py>(
    py: Python<'py>,
    khz: Vec<u32>,
    util: u32,
    util_est: u32,
    runnable: u32,
    rt: u32,
    dl: u32,
    irq: u32,
    iowait: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    nr_running: u32,
    rt_nr_running: u32,
    capacity: u32,
    policy: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let pol = self::policy(py, policy)?;
    let most_khz = ascending(py, &khz)?;
    let signals = [util, util_est, runnable, rt, dl, irq, iowait, uclamp_min, uclamp_max];
    if signals.iter().any(|signal| *signal > SCALE) || !(1..=SCALE).contains(&capacity) {
        return Err(error::input(py, "a signal beyond the capacity of a CPU", Some("allowed: 0..=1024")));
    }
    let state = CpuState {
        cap_orig: capacity,
        util_cfs: util,
        runnable_cfs: runnable,
        util_est,
        util_rt: rt,
        util_dl: dl,
        util_irq: irq,
        bw_dl: dl,
        rt_nr_running,
        uclamp_used: u32::from(uclamp_min > 0 || uclamp_max < SCALE),
        uclamp_min,
        uclamp_max,
        cfs_nr_running: nr_running,
        ..CpuState::default()
    };
    let mut governor = SugovPolicy {
        nr_cpus: 1,
        max_khz: most_khz,
        min_khz: khz[0],
        ref_khz: most_khz,
        scale_khz: most_khz,
        cur_khz: khz[0],
        freq_invariant: 1,
        ..SugovPolicy::default()
    };
    governor.init(&pol, 0);
    let terms = state.perf_eval(&pol, iowait);
    let chosen = governor.need(&pol, &[terms], (0, NO_LARGEST), &khz);
    let made = PyDict::new(py);
    for (name, value) in [
        ("cfs", terms.cfs),
        ("rt", terms.rt),
        ("dl", terms.dl),
        ("irq", terms.irq),
        ("effective", terms.effective),
        ("perf", terms.perf),
        ("raw_khz", chosen.raw_khz),
        ("khz", chosen.resolved_khz),
    ] {
        made.set_item(name, value)?;
    }
    Ok(made)
}

/// Energy that placement believes a domain takes, in the unit of the kernel's comparison: power of the operating point
/// that `max_util` asks for, by the share of time that `sum_util` is busy. Points: kHz and uW of a busy CPU.
#[pyfunction]
#[pyo3(signature = (opps, *, max_util, sum_util, capacity = 1024))]
fn energy(py: Python<'_>, opps: Vec<(u32, u64)>, max_util: u32, sum_util: u32, capacity: u32) -> PyResult<u64> {
    ascending(py, &opps.iter().map(|(khz, _)| *khz).collect::<Vec<_>>())?;
    let cpus = 1 << 16;
    if opps.iter().any(|(_, uw)| *uw > POWER_UW_MAX) {
        let hint = format!("allowed: up to {POWER_UW_MAX} uW");
        return Err(error::input(py, "a power that no CPU has", Some(&hint)));
    }
    if max_util > SCALE || sum_util > SCALE * cpus || !(1..=SCALE).contains(&capacity) {
        return Err(error::input(py, "a utilization beyond the capacity of its CPUs", Some("allowed: 0..=1024")));
    }
    Ok(EnergyModel::new(&opps, capacity).energy(max_util.into(), sum_util.into(), capacity.into()))
}

/// Highest frequency of a table.
pub(crate) fn ascending(py: Python<'_>, khz: &[u32]) -> PyResult<u32> {
    let bounds = pelton_core::bounds();
    let (min, max) =
        bounds.iter().find(|bound| bound.quantity == "frequency_khz").map_or((1, 0), |bound| (bound.min, bound.max));
    let is_good = khz.iter().all(|&khz| (min..=max).contains(&khz.into())) && khz.windows(2).all(|two| two[0] < two[1]);
    match khz.last() {
        Some(&last) if is_good && khz.len() <= OPPS_MAX => Ok(last),
        _ => {
            let hint = format!("allowed: up to {OPPS_MAX} of {min}..={max} kHz, rising");
            Err(error::input(py, "this is no table of frequencies", Some(&hint)))
        }
    }
}
