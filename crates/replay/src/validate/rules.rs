// SPDX-License-Identifier: GPL-2.0-or-later
//! Which page explains what diverged.

/// Page and section of the rule behind a signal of a report.
pub fn page(signal: &str) -> &'static str {
    match signal {
        "entity" | "blocked_entity" | "queue" => "docs/signals/pelt.md#formula",
        "chain" => "docs/signals/pelt.md#attach-detach-and-removal",
        "rq_clock" | "rq_clock_chain" | "lost_idle" => "docs/signals/clock.md#formula",
        "hand_up" | "reweight" => "docs/signals/pelt.md#formula",
        "energy" => "docs/signals/energy.md#formula",
        "util_est" => "docs/signals/util-est.md#formula",
        "rt" | "dl" | "irq" | "hw" => "docs/signals/pressure.md#formula",
        _ => "docs/signals/schedutil.md#formula",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_schema::PeltSignal;

    #[test]
    fn every_recorded_record_has_a_page_of_its_own() {
        let pages = (0..).map_while(PeltSignal::of_code).map(|signal| page(signal.name()));
        assert!(pages.into_iter().all(|page| page != super::page("next_freq")));
    }
}
