// SPDX-License-Identifier: GPL-2.0-or-later
//! Page that explains a divergence.

/// Page and section of the rule behind a signal of a report.
pub fn page(signal: &str) -> &'static str {
    match signal {
        "entity" | "blocked_entity" | "queue" => "docs/rules/load-tracking.md#formula",
        "chain" => "docs/rules/load-tracking.md#attach-detach-and-removal",
        "rq_clock" | "rq_clock_chain" | "lost_idle" => "docs/rules/clock.md#formula",
        "hand_up" | "reweight" => "docs/rules/load-tracking.md#formula",
        "energy" => "docs/rules/placement.md#energy-model",
        "util_est" => "docs/rules/load-tracking.md#estimate",
        "rt" | "dl" | "irq" | "hw" => "docs/rules/limits-and-pressure.md#pressure",
        _ => "docs/rules/governor.md#the-request-of-one-cpu",
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
