// SPDX-License-Identifier: GPL-2.0-or-later
//! A step response: what is run, what is watched, and the comparison with what was seen last time.

use std::fs;
use std::path::Path;

use pelton_core::Policy;
use pelton_model::workload::TaskSpec;
use pelton_model::{Machine, RunConfig, Workload};
use pelton_sim::Report;

use super::chart::{self, Layout};
use super::record::{Quantity, Recorder, Series};
use super::table;

/// One simulation of a response.
#[derive(Debug)]
pub struct Run {
    pub label: String,
    /// Machine and policy in one line.
    pub setting: String,
    pub series: Vec<Series>,
    /// Counts over the whole run, in one line.
    pub totals: String,
    pub report: Report,
}

/// A response under construction; `check` ends it.
#[derive(Debug)]
pub struct Response {
    pub name: &'static str,
    pub about: &'static str,
    pub columns: Vec<(&'static str, Quantity)>,
    /// Columns whose changes get a row of their own.
    pub marked: &'static [&'static str],
    /// Distance of the other rows; 0 = none.
    pub step_ns: u64,
    /// Part of the run that is shown.
    pub window_ns: (u64, u64),
    /// The moment that is called 0.
    pub zero_ns: u64,
    pub runs: Vec<Run>,
}

/// Inputs of one run of a response.
#[derive(Clone, Debug)]
pub struct Setup {
    pub label: String,
    pub machine: Machine,
    pub policy: Policy,
    pub policy_text: String,
    pub tasks: Vec<TaskSpec>,
    pub rate_limit_us: Option<u64>,
}

impl Response {
    /// Time as tables and charts show it.
    pub fn ms_since_zero(&self, time_ns: u64) -> f64 {
        (time_ns as f64 - self.zero_ns as f64) / 1e6
    }

    /// Adds a run; it lasts to the end of the window.
    pub fn run(&mut self, setup: &Setup) -> &Run {
        let workload = Workload { name: self.name.into(), tasks: setup.tasks.clone(), ..Workload::default() };
        let config =
            RunConfig { duration_ns: self.window_ns.1, rate_limit_us: setup.rate_limit_us, ..RunConfig::default() };
        let mut recorder = Recorder::new(self.columns.iter().map(|&(_, q)| q).collect());
        let report = pelton_sim::run(&setup.machine, &workload, &setup.policy, &config, &mut recorder)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name));
        self.runs.push(Run {
            label: setup.label.clone(),
            setting: setting(setup),
            series: recorder.series,
            totals: totals(&report),
            report,
        });
        self.runs.last().expect("just added")
    }

    /// The series of a column of a run.
    pub fn series(&self, run: usize, column: &str) -> &Series {
        let index = self.columns.iter().position(|(name, _)| *name == column).expect("a column of the response");
        &self.runs[run].series[index]
    }

    /// Compares with the recorded table and, where the guide shows the response, with its picture there.
    /// `PELTON_CHARTS` names a folder to draw all pictures into.
    pub fn check(&self, layout: Layout) {
        let svg = chart::draw(self, layout);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let file = format!("{}.svg", self.name);
        if let Some(folder) = std::env::var_os("PELTON_CHARTS") {
            let folder = root.join(folder);
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(folder.join(&file), &svg).expect("the picture can be written");
        } else if let Ok(shown) = fs::read_to_string(root.join("docs/guide/step-responses").join(&file)) {
            assert!(
                shown == svg,
                "the picture {file} of docs/guide/step-responses.md is stale; that page says what to do"
            );
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../loop");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(self.name, table::print(self)));
    }
}

fn setting(setup: &Setup) -> String {
    let m = &setup.machine;
    let domain = &m.domains[0];
    let switch = match (domain.fast_switch, domain.driver_sleeps) {
        (true, _) => "fast switch".to_owned(),
        (false, true) => format!("slow path, driver sleeps {} us", domain.switch_time_ns / 1000),
        (false, false) => format!("slow path, driver works {} us", domain.switch_time_ns / 1000),
    };
    let limit = match setup.rate_limit_us {
        Some(us) => format!("{us} us"),
        None => "by default".to_owned(),
    };
    format!("{}, {}, {switch}, rate limit {limit}, tick {} ms", m.name, setup.policy_text, m.tick_ns() / 1_000_000)
}

fn totals(report: &Report) -> String {
    let parts: Vec<String> = report
        .domains
        .iter()
        .filter(|d| d.evaluations > 0)
        .map(|d| {
            let (name, calls) = (&d.name, d.driver_calls);
            format!(
                "{name}: {} evaluations, {} refused, {calls} driver calls, {} transitions",
                d.evaluations, d.gated, d.transitions
            )
        })
        .collect();
    parts.join("; ")
}
