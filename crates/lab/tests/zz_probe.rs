// SPDX-License-Identifier: GPL-2.0-only
#![allow(missing_docs, reason = "tests")]
use pelton_lab::balance_counts::count_gates;
use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::Control;

#[test]
fn probe() {
    let loads = std::env::var("PROBE_LOADS").unwrap_or_default();
    let policies = std::env::var("PROBE_POLICIES").unwrap_or_default();
    let platform = std::env::var("PROBE_PLATFORM").unwrap_or(format!("{}/../../scenarios/platforms/qemu-x86-server.toml", env!("CARGO_MANIFEST_DIR")));
    for load in loads.split_whitespace() {
        for policy in policies.split_whitespace() {
            let (mut sums, mut shares, mut gates) = (vec![0.0; 10], vec![0.0; 4], vec![0.0; 7]);
            let seeds = 3;
            let (mut avg, mut cost) = (vec![], vec![]);
            for seed in 1..=seeds {
                let inputs = Inputs { platform: platform.clone(), workload: load.to_owned(), seed, duration_ns: Some(3_500_000_000), hz: Some(250), random_phase: true, ..Inputs::default() };
                let plan = build(&inputs, &PolicySpec::parse(policy)).expect("good").plan;
                let (c, g, _) = count_gates(&plan, seed, 500_000_000, Control::default()).expect("runs");
                for (i, k) in c.kinds.iter().enumerate() {
                    sums[2 * i] += k.balances as f64 / c.seconds / seeds as f64;
                    sums[2 * i + 1] += k.detached as f64 / c.seconds / seeds as f64;
                }
                for i in 0..4 {
                    shares[i] += c.runnable_percent[i] / seeds as f64;
                }
                for (i, n) in [g.nobody, g.too_soon, g.dice, g.searched, g.domains[0], g.domains[1], g.domains[2]].iter().enumerate() {
                    gates[i] += *n as f64 / c.seconds / seeds as f64;
                }
                avg.extend(g.avg_idle_ns);
                cost.extend(g.cost_ns);
            }
            avg.sort();
            cost.sort();
            let q = |v: &Vec<u64>, p: usize| v.get(v.len() * p / 100).copied().unwrap_or(0) / 1000;
            println!("{load} {policy}\n  periodic {:.0} moved {:.1} | nohz {:.0} {:.1} | newidle {:.0} {:.1} | active {:.1} | share {:.1?}\n  gates/s nobody {:.0} soon {:.0} dice {:.0} searched {:.0} | domains busy {:.0} idle {:.0} other {:.0} | avg_idle us {:?} cost us {:?}",
                sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[7], shares, gates[0], gates[1], gates[2], gates[3], gates[4], gates[5], gates[6],
                [q(&avg, 10), q(&avg, 50), q(&avg, 90)], [q(&cost, 10), q(&cost, 50), q(&cost, 90)]);
        }
    }
}
