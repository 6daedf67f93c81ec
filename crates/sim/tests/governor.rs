// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor in whole runs: its worker, drivers without a table, what a release does while the driver works.

use crate::common::{MS, config, events_of, machine, periodic, workload};
use pelton_model::Machine;
use pelton_schema::{Event, GateVerdict};

/// One CPU with a slow driver: the worker sets the frequency, in `driver_ns`.
fn slow(driver_ns: u64) -> Machine {
    let mut m = machine(&[(1, 1024)]);
    (m.domains[0].fast_switch, m.domains[0].switch_time_ns) = (false, driver_ns);
    m.domains[0].rate_limit_us = Some(0);
    m
}

/// Load that makes the frequency go up and down.
fn waves() -> pelton_model::workload::Workload {
    workload(vec![periodic("waves", 20_000, 200_000), periodic("ripple", 200, 3_000)])
}

/// 4.16 deadline.c dl_entity_is_special: the worker's runtime is not accounted and its bandwidth counts nowhere. With
/// hook calls from its accounting every change would end in a request for the maximum.
#[test]
fn the_deadline_worker_of_4_16_does_not_ask_for_itself() {
    let (r, events) = events_of(&slow(20_000), &waves(), "4.16", &config(2000));
    assert!(r.domains[0].driver_calls > 15, "the worker has something to do: {}", r.domains[0].driver_calls);
    let of_worker = events.iter().filter(|(_, e)| matches!(e, Event::FreqDecision { site: 6, .. }));
    assert_eq!(of_worker.count(), 0, "no deadline task, so no call of the deadline class");
    assert!(events.iter().all(|(_, e)| !matches!(e, Event::FreqDecision { forced_max: 1, .. })));
    assert!(r.domains[0].time_in_state_ns[0] > 100 * MS, "the frequency falls again");
}

/// 4.16 sugov_work clears work_in_progress after the driver returned; 4.19 before.
#[test]
fn a_slow_driver_blinds_4_16_but_not_4_19() {
    let busy = |profile: &str| {
        let (_, events) = events_of(&slow(5 * MS), &waves(), profile, &config(2000));
        let refused = |e: &Event| matches!(e, Event::FreqDecision { gate, .. } if *gate == GateVerdict::Busy as u32);
        events.iter().filter(|(_, e)| refused(e)).count()
    };
    assert!(busy("4.16") > 5, "{}", busy("4.16"));
    assert_eq!(busy("4.19"), 0);
}

/// 4.12 cpufreq.c cpufreq_driver_resolve_freq and intel_pstate.c intel_pstate_update_pstate: without a table nearly
/// every evaluation is a change and restarts the window; what is written are P-states, and only new ones.
#[test]
fn a_driver_without_table_gets_any_frequency_and_writes_only_new_states() {
    for profile in ["4.12", "6.12"] {
        let run = |no_table: bool| {
            let mut m = machine(&[(1, 1024)]);
            (m.domains[0].no_table, m.domains[0].rate_limit_us) = (no_table, Some(500));
            let (r, events) = events_of(&m, &waves(), profile, &config(2000));
            let changes = events.iter().filter(|(_, e)| matches!(e, Event::FreqDecision { changed: 1, .. })).count();
            let set = events.iter().filter_map(|(_, e)| match *e {
                Event::CpuFrequency { freq_khz, .. } => Some(freq_khz),
                _ => None,
            });
            assert!(set.into_iter().all(|khz| m.domains[0].opps.iter().any(|o| o.khz == khz)), "{profile}");
            (changes as u64, r.domains[0].driver_calls, r.domains[0].transitions)
        };
        let (with_table, without) = (run(false), run(true));
        assert_eq!(with_table.0, with_table.1, "{profile}: every change is written");
        assert!(without.0 > 3 * with_table.0, "{profile}: {without:?} {with_table:?}");
        assert_eq!(without.1, without.2, "{profile}: only new states are written");
    }
}
