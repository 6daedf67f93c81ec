// SPDX-License-Identifier: GPL-2.0-or-later
//! Temperature of a thermal zone: stages of a resistance and a capacity each, heated by the energy of its CPUs and
//! clusters.
//!
//! Within a step the power is taken as even; a stage then settles exactly: `rise' = R P + (rise - R P) exp(-dt / RC)`.

use pelton_model::thermal::ThermalZone;

/// 1 in the fixed point of shares.
const ONE: u128 = 1 << 32;
/// Nanokelvin in a millikelvin.
const NK_PER_MK: u128 = 1_000_000;

/// A stage: how much hotter than what is behind it.
#[derive(Clone, Copy, Debug)]
struct Stage {
    rise_nk: u128,
    mk_per_w: u128,
    tau_ns: u64,
}

/// Temperature of a zone: its stages, the air around them and the energy that heats them.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    stages: Vec<Stage>,
    ambient_mc: i32,
    other_uw: u64,
    energy_fj: u128,
    at_ns: u64,
}

/// The part of the way to its end that a stage goes in `dt_ns`: 1 - exp(-dt / tau).
fn settled(dt_ns: u64, tau_ns: u64) -> u128 {
    let mut x = (u128::from(dt_ns) << 32) / u128::from(tau_ns.max(1));
    if x >= ONE << 5 {
        return ONE;
    }
    let mut halvings = 0;
    while x > ONE >> 4 {
        x /= 2;
        halvings += 1;
    }
    // exp(-x) by its series; below 1/16 the fifth term is less than one part in 10^8.
    let times = |a: u128, b: u128| (a * b) >> 32;
    let (x2, x3) = (times(x, x), times(times(x, x), x));
    let mut left = ONE - x + x2 / 2 - x3 / 6 + times(x3, x) / 24;
    for _ in 0..halvings {
        left = times(left, left);
    }
    ONE - left
}

impl Heat {
    pub(crate) fn of(zone: &ThermalZone) -> Heat {
        let whole: u128 = zone.stages.iter().map(|stage| u128::from(stage.mk_per_w)).sum();
        let above_nk = u128::from(zone.start_mc.saturating_sub(zone.ambient_mc).max(0).unsigned_abs()) * NK_PER_MK;
        let stage = |stage: &pelton_model::thermal::HeatStage| Stage {
            rise_nk: above_nk * u128::from(stage.mk_per_w) / whole.max(1),
            mk_per_w: u128::from(stage.mk_per_w),
            // K/W times J/K are seconds, thousandths of both microseconds.
            tau_ns: u64::from(stage.mk_per_w) * u64::from(stage.mj_per_k) * 1000,
        };
        Heat {
            stages: zone.stages.iter().map(stage).collect(),
            ambient_mc: zone.ambient_mc,
            other_uw: zone.other_uw,
            energy_fj: 0,
            at_ns: 0,
        }
    }

    /// Time has passed, in which the zone's energy became `energy_fj` in all. Returns the temperature.
    pub(crate) fn advance(&mut self, now_ns: u64, energy_fj: u128) -> i32 {
        let dt_ns = now_ns - self.at_ns;
        if dt_ns > 0 {
            let power_uw = (energy_fj - self.energy_fj) / u128::from(dt_ns) + u128::from(self.other_uw);
            for stage in &mut self.stages {
                let part = settled(dt_ns, stage.tau_ns);
                // Microwatts times thousandths of kelvin per watt are nanokelvin.
                let end_nk = power_uw * stage.mk_per_w;
                stage.rise_nk = (stage.rise_nk * (ONE - part) + end_nk * part) >> 32;
            }
            (self.at_ns, self.energy_fj) = (now_ns, energy_fj);
        }
        self.temp_mc()
    }

    pub(crate) fn temp_mc(&self) -> i32 {
        let rise_nk: u128 = self.stages.iter().map(|stage| stage.rise_nk).sum();
        self.ambient_mc + (rise_nk / NK_PER_MK).min(1 << 30) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::thermal::HeatStage;

    fn heat(stages: &[(u32, u32)], start_mc: i32) -> Heat {
        let stages = stages.iter().map(|&(mk_per_w, mj_per_k)| HeatStage { mk_per_w, mj_per_k }).collect();
        Heat::of(&ThermalZone { stages, ambient_mc: 25_000, start_mc, ..ThermalZone::default() })
    }

    #[test]
    fn a_stage_settles_at_power_times_resistance_with_its_time_constant() {
        // 10 K/W and 1 J/K: 10 s. 2 W: 20 K.
        let mut h = heat(&[(10_000, 1_000)], 25_000);
        let (mut energy_fj, mut after_tau) = (0u128, 0);
        for step in 1..=20_000u64 {
            energy_fj += 2_000_000 * 10_000_000;
            let temp_mc = h.advance(step * 10_000_000, energy_fj);
            if step == 1000 {
                after_tau = temp_mc;
            }
        }
        assert!((37_641..=37_643).contains(&after_tau), "25 + 20 (1 - 1/e) = 37.642: {after_tau}");
        assert!((44_998..=45_000).contains(&h.temp_mc()), "{}", h.temp_mc());
    }

    #[test]
    fn one_long_step_is_as_good_as_many_short_ones() {
        let (mut long, mut short) =
            (heat(&[(8_000, 500), (3_000, 50)], 60_000), heat(&[(8_000, 500), (3_000, 50)], 60_000));
        for step in 1..=300u64 {
            short.advance(step * 10_000_000, u128::from(step) * 1_500_000 * 10_000_000);
        }
        let at = long.advance(3_000_000_000, 1_500_000 * 3_000_000_000);
        assert!((at - short.temp_mc()).abs() <= 1, "{at} {}", short.temp_mc());
    }

    #[test]
    fn shares_of_the_way_are_those_of_the_exponential() {
        for (dt, tau, expected) in
            [(1u64, 1000u64, 0.000_999_5), (1, 1, 0.632_120_559), (3, 1, 0.950_212_93), (100, 1, 1.0)]
        {
            let part = settled(dt, tau) as f64 / ONE as f64;
            assert!((part - expected).abs() < 1e-7, "{dt}/{tau}: {part}");
        }
    }
}
