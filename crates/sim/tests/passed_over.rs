// SPDX-License-Identifier: GPL-2.0-or-later
//! Operating points that a faster one makes needless: kernels from 6.1 on do not choose them (6.12
//! `cpufreq_frequency_table_target` with `CPUFREQ_RELATION_LE`).

use crate::common::*;
use pelton_model::workload::{CpuSet, LimitChange, LimitSource};
use pelton_model::{Machine, Workload};
use pelton_schema::Event;

/// Two CPUs, 500, 1000 and 2000 MHz; what the kernel's Energy Model has makes the lowest cost what the next one costs.
fn board(energy_model_uw: &[u64]) -> Machine {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].energy_model_uw = energy_model_uw.to_vec();
    m
}

/// Frequencies that the governor resolved to after 50 ms, MHz, each once.
fn chosen(m: &Machine, w: &Workload, profile: &str) -> Vec<u32> {
    let (_, events) = events_of(m, w, profile, &config(400));
    let of = |(at, event): &(u64, Event)| match *event {
        Event::FreqDecision { raw_khz, resolved_khz, .. } if *at >= 50 * MS && raw_khz > 0 => Some(resolved_khz / 1000),
        _ => None,
    };
    let mut all: Vec<u32> = events.iter().filter_map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

const SAME: [u64; 3] = [250_000, 500_000, 1_200_000];

#[test]
fn a_point_that_costs_as_much_as_a_faster_one_is_passed_over_from_6_1_on() {
    let light = workload(vec![on(periodic("p", 500, 16_000), 0)]);
    for (profile, lowest) in [("5.10", 500), ("6.1", 1000), ("6.6", 1000), ("6.12", 1000), ("7.2", 1000)] {
        let lowest_of = |energy_model_uw: &[u64]| chosen(&board(energy_model_uw), &light, profile)[0];
        assert_eq!(lowest_of(&SAME), lowest, "{profile}");
        assert_eq!(lowest_of(&[]), 500, "{profile}: the model is not known");
        assert_eq!(lowest_of(&[240_000, 500_000, 1_200_000]), 500, "{profile}: it is cheaper");
    }
}

#[test]
fn points_that_the_kernel_itself_said_are_passed_over_whatever_power_says() {
    let light = workload(vec![on(periodic("p", 500, 16_000), 0)]);
    for (profile, lowest) in [("5.10", 500), ("6.12", 2000)] {
        let mut told = board(&[240_000, 500_000, 1_200_000]);
        told.domains[0].inefficient = vec![true, true, false];
        assert_eq!(chosen(&told, &light, profile)[0], lowest, "{profile}");
    }
    let mut none = board(&SAME);
    none.domains[0].inefficient = vec![false; 3];
    assert_eq!(chosen(&none, &light, "6.12")[0], 500, "the kernel said that it passes over none");
}

#[test]
fn limits_that_leave_nothing_else_bring_it_back() {
    let change = LimitChange { at_ns: 0, cpus: CpuSet::of([0]), min_khz: 0, max_khz: 500_000, by: LimitSource::User };
    let limited = Workload { limits: vec![change], ..workload(vec![on(busy("b"), 0)]) };
    assert_eq!(chosen(&board(&SAME), &limited, "6.12"), [500]);
}
