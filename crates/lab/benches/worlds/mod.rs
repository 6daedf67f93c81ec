// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines and workloads of the benches.

use pelton_model::{Machine, Workload};
use pelton_scenario::platform::PlatformOptions;
use pelton_scenario::{SourceFile, platform, render, rtapp};

/// A built-in platform.
pub fn machine(name: &str) -> Machine {
    let file = platform::load(name).expect("a built-in platform");
    file.machine(&PlatformOptions::new("7.2")).expect("a complete platform")
}

/// `times` copies of a machine side by side.
pub fn side_by_side(one: &Machine, times: u32) -> Machine {
    let mut all =
        Machine { cpus: Vec::new(), domains: Vec::new(), llcs: Vec::new(), clusters: Vec::new(), ..one.clone() };
    for copy in 0..times {
        let (cpu0, domain0) = (copy * one.cpus.len() as u32, copy * one.domains.len() as u32);
        let cluster0 = copy * one.clusters.len() as u32;
        let shifted = |cpus: &[u32]| cpus.iter().map(|cpu| cpu + cpu0).collect::<Vec<u32>>();
        for cpu in &one.cpus {
            let (domain, cluster) = (cpu.domain + domain0, cpu.cluster + cluster0);
            all.cpus.push(pelton_model::machine::Cpu { domain, cluster, smt: shifted(&cpu.smt), ..cpu.clone() });
        }
        let domains =
            one.domains.iter().map(|d| pelton_model::machine::FreqDomain { cpus: shifted(&d.cpus), ..d.clone() });
        all.domains.extend(domains);
        all.llcs.extend(one.llcs.iter().map(|llc| shifted(llc)));
        let clusters =
            one.clusters.iter().map(|c| pelton_model::machine::Cluster { cpus: shifted(&c.cpus), ..c.clone() });
        all.clusters.extend(clusters);
    }
    all
}

/// Tasks as members of the object `tasks` of an rt-app file.
pub fn rt_app(tasks: &[String]) -> Workload {
    let global = r#""global": {"duration": 3600, "calibration": 1000}"#;
    let text = format!("{{{global}, \"tasks\": {{{}}}}}", tasks.join(","));
    let read = rtapp::load(&SourceFile::new("bench.json", text), &rtapp::RtAppOptions::default());
    read.unwrap_or_else(|wrong| panic!("{}", render(&wrong, 100, false)))
}
