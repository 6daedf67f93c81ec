// SPDX-License-Identifier: GPL-2.0-or-later
//! The built-in platforms: all of them load, and the machines made of them say what the files say.

use std::path::PathBuf;

use pelton_model::Machine;
use pelton_scenario::platform::{self, PlatformOptions, PowerSource};
use pelton_scenario::{SourceFile, render};

fn machine(name: &str) -> Machine {
    platform::load(name).unwrap().machine(&PlatformOptions::new("7.2")).unwrap()
}

#[test]
fn every_built_in_platform_loads_without_a_warning() {
    assert!(platform::names().count() >= 28);
    for name in platform::names() {
        let file = platform::load(name).unwrap_or_else(|e| panic!("{}", render(&e, 100, false)));
        assert_eq!(file.name.value, name, "the file is named after the platform");
        assert!(file.warnings.is_empty(), "{}", render(&file.warnings, 100, false));
    }
}

/// Two CPUs, signals scaled to 1500 MHz, a point of 1700 MHz above.
fn boosted(arch: &str) -> platform::PlatformFile {
    let text = format!(
        "schema = 1\nname = \"boosted\"\narch = \"{arch}\"\n[cpufreq]\ndriver = \"cpufreq-dt\"\n\
         transition_latency_ns = 50000\n[topology]\nclusters = [[0, 1]]\nllc = [[0, 1]]\n[[perf_domain]]\nid = \"a\"\n\
         cpus = [0, 1]\ncapacity = 1024\nscale_khz = 1500000\nopps = [{{ khz = 600000 }}, {{ khz = 1500000 }}, \
         {{ khz = 1700000 }}]\n"
    );
    platform::parse(&SourceFile::new("boosted.toml", text.as_str()))
        .unwrap_or_else(|e| panic!("{}", render(&e, 100, false)))
}

#[test]
fn on_arm_points_above_what_signals_are_scaled_to_are_never_asked_for_and_the_file_is_told_so() {
    for (arch, told_khz, warned) in [("arm64", 1_500_000, true), ("arm", 1_500_000, true), ("x86", 0, false)] {
        let file = boosted(arch);
        let m = file.machine(&PlatformOptions::new("7.2")).unwrap();
        assert_eq!(m.domains[0].told_scale_khz(), told_khz, "{arch}");
        let words = render(&file.warnings, 100, false);
        assert_eq!(words.contains("schedutil never asks for 1700000 kHz from 6.8 on"), warned, "{arch}: {words}");
    }
}

#[test]
fn only_platforms_without_operating_points_cannot_be_simulated() {
    let shown_only: Vec<String> = platform::list().into_iter().filter(|s| !s.simulated).map(|s| s.name).collect();
    assert_eq!(shown_only, ["chromebook-asurada-mt8192", "chromebook-cherry-mt8195", "x1e80100-x-elite"]);
}

#[test]
fn every_machine_is_complete() {
    for summary in platform::list().into_iter().filter(|s| s.simulated) {
        let m = machine(&summary.name);
        assert_eq!(m.cpus.len(), summary.cpus);
        assert_eq!(m.cpus.iter().map(|c| c.capacity).max(), Some(1024), "{}", m.name);
        for groups in [&m.llcs, &m.clusters.iter().map(|c| c.cpus.clone()).collect()] {
            let mut all: Vec<u32> = groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..m.cpus.len() as u32).collect::<Vec<_>>(), "{}: every CPU in one group", m.name);
        }
        for (i, domain) in m.domains.iter().enumerate() {
            assert!(domain.opps.windows(2).all(|w| w[0].khz < w[1].khz), "{}", m.name);
            assert_eq!(domain.ref_khz, domain.opps.last().unwrap().khz);
            assert!(domain.cpus.iter().all(|&c| m.cpus[c as usize].domain == i as u32));
            assert!(!domain.idle_states.is_empty());
        }
    }
}

#[test]
fn the_files_as_they_were_collected_load_too() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var("PELTON_SHARED_DATA").map_or_else(|_| root.join("../shared/data"), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(shared.join("platforms")) else {
        println!("not measured: the data collection is not here (PELTON_SHARED_DATA)");
        return;
    };
    for entry in folder {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".toml") && name != "x86-sysfs-survey.toml" {
            platform::load(path.to_str().unwrap()).unwrap_or_else(|e| panic!("{}", render(&e, 100, false)));
        }
    }
}

#[test]
fn juno_has_two_domains_in_the_order_of_its_cpus() {
    let m = machine("juno-r0");
    assert_eq!(m.domains.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["little", "big"]);
    assert_eq!(m.domains[0].cpus, [0, 3, 4, 5]);
    assert_eq!(m.cpus[1].capacity, 1024);
    assert_eq!(m.cpus[0].capacity, 446);
    assert_eq!(m.domains[1].opps[4].power_uw, 583_000);
    assert_eq!(m.domains[0].transition_latency_ns, 1_200_000);
    assert_eq!(m.domains[0].switch_time_ns, 1_200_000, "without a better figure a switch takes its latency");
    assert_eq!(m.domains[0].idle_states[0].name, "WFI");
    assert_eq!(m.domains[0].idle_states[2].min_residency_ns, 2_500_000);
}

#[test]
fn each_thread_of_the_i7_has_its_own_domain() {
    let m = machine("intel-i7-6700");
    assert_eq!(m.domains.len(), 8);
    assert_eq!(m.domains[5].name, "core5");
    assert_eq!(m.domains[5].opps.len(), 33);
    assert_eq!(m.cpus[4].smt, [0, 4]);
    assert_eq!(m.llcs.len(), 1);
    assert_eq!(m.domains[0].idle_states[0].name, "POLL");
    let at_3900 = m.domains[0].opps.iter().find(|o| o.khz == 3_900_000).unwrap();
    assert_eq!(at_3900.power_uw, 11_600_000, "the point the formula was fitted at");
    assert_eq!(m.clusters[0].active_power_uw[0], 5_700_000);
}

#[test]
fn x86_is_frequency_invariant_from_5_7_on() {
    let invariant = |profile: &str| {
        let options = PlatformOptions::new(profile);
        platform::load("intel-i7-6700").unwrap().machine(&options).unwrap().domains[0].freq_invariant
    };
    assert_eq!(["4.12", "5.4", "5.10", "7.2"].map(invariant), [false, false, true, true]);
    for profile in pelton_core::profiles() {
        let number = |part: &str| part.parse::<u32>().expect("a profile is named by its kernel");
        let (major, minor) = profile.split_once('.').map(|(a, b)| (number(a), number(b))).expect("major.minor");
        assert_eq!(invariant(profile), (major, minor) >= (5, 7), "{profile}");
    }
    assert!(machine("juno-r0").domains[0].freq_invariant, "Arm is at any time");
}

#[test]
fn a_named_table_is_drawn_in_its_own_unit_and_decides_nothing() {
    let built = platform::load("juno-r0-little").unwrap().build(&PlatformOptions::new("7.2")).unwrap();
    assert_eq!(built.power, [("little".to_owned(), PowerSource::Written)]);
    assert_eq!((built.power_unit.as_str(), built.drawn.as_deref()), ("mW", Some("eas-2015-juno-r0")));
    assert!(built.drawn_unit.starts_with("normalised"), "{}", built.drawn_unit);
    let little = &built.machine.domains[0];
    assert_eq!(little.opps.iter().map(|o| o.power_uw).collect::<Vec<_>>(), [42_361, 58_161, 79_380, 97_921, 119_000]);
    let rail = &little.draws.rails[0];
    assert_eq!(rail.busy_uw, [33_000, 46_000, 61_000, 76_000, 93_000]);
    assert_eq!(rail.shared_uw, [26_000, 30_000, 39_000, 47_000, 57_000]);
    // 6, and 56 - 17, at 1 V, times 0.82^2, 0.85^2, 0.9^2, 0.95^2; a CPU that sleeps is off, its cluster is not.
    assert_eq!(rail.idle_uw, [vec![4_034, 4_335, 4_860, 5_415, 6_000], vec![0; 5], vec![0; 5]]);
    let cluster = vec![43_224, 45_178, 48_590, 52_198, 56_000];
    assert_eq!(rail.shared_idle_uw, [cluster.clone(), cluster, vec![17_000; 5]]);
    assert!(built.machine.energy_basis().own_unit && built.machine.clusters[0].active_power_uw.is_empty());
}

#[test]
fn the_rest_that_a_meter_sees_is_in_the_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/platforms/juno-r0-little.toml");
    let text = std::fs::read_to_string(path).expect("a file of ours");
    let built = |text: &str| {
        let file = platform::parse(&SourceFile::new("board.toml", text)).expect("a platform");
        file.machine(&PlatformOptions::new("7.2")).expect("a machine").rest_uw
    };
    assert_eq!(built(&text), None);
    assert_eq!(built(&text.replacen("[power]", "[power]\nrest_mw = 1.5", 1)), Some(1_500));
}

#[test]
fn a_table_can_be_chosen_by_name_and_must_cover_the_machine() {
    let file = platform::load("pixel6-gs101").unwrap();
    let choose = |name: &str| PlatformOptions { energy_table: Some(name.into()), ..PlatformOptions::new("7.2") };
    let measured = file.build(&choose("measured-freqbench-gs101")).unwrap();
    assert_eq!(measured.machine.domains[0].draws.rails[0].busy_uw[0], 56_124);
    assert_eq!(measured.machine.domains[0].opps[0].power_uw, 6_055, "the kernel believes what it did");
    assert_eq!((measured.power_unit.as_str(), measured.drawn_unit.as_str()), ("mW", "mW"));
    let partial = file.build(&choose("aosp-power-profile-oriole")).unwrap_err();
    assert!(partial.to_string().contains("no figure for domain `little`"), "{partial}");
    let typo = file.build(&choose("measured-freqbench")).unwrap_err();
    assert!(typo.to_string().contains("did you mean `measured-freqbench-gs101`?"), "{typo}");
}

#[test]
fn little_cpus_of_a_pixel_6_pay_for_the_voltage_of_the_others() {
    let m = machine("pixel6-gs101");
    let draws = &m.domains[0].draws;
    let others: Vec<u32> = draws.votes.iter().map(|vote| vote.domain).collect();
    assert_eq!((others, draws.votes[0].off_from), (vec![2, 1], 1));
    let rail = |other: u32, khz: u32| {
        let vote = draws.votes.iter().find(|vote| vote.domain == other).unwrap();
        let point = m.domains[other as usize].opps.iter().position(|opp| opp.khz == khz).unwrap();
        &draws.rails[vote.rails[point] as usize]
    };
    // Rows of the source: 1098000 kHz beside mid at 1836000, and beside big at 500000.
    assert_eq!((rail(1, 1_836_000).busy_uw[4], rail(1, 1_836_000).shared_uw[4]), (155_300, 35_210));
    assert_eq!((rail(2, 500_000).busy_uw[4], rail(2, 500_000).idle_uw[0][4]), (93_540, 1_450));
    // 300000 is not listed beside mid at 1836000: the first that is, 930000, at its voltage and a third of its clock.
    assert_eq!((rail(1, 1_836_000).busy_uw[0], rail(1, 1_836_000).shared_uw[0]), (43_726, 35_340));
    // Levels ascend, so that the highest of two votes is the larger number.
    assert!(draws.rails.windows(2).all(|pair| pair[0].shared_uw[0] <= pair[1].shared_uw[0]));
    assert_eq!(m.energy_basis().gap(), None);
}

#[test]
fn idle_cpus_without_voltages_follow_what_a_cycle_costs() {
    let file = |uv: [&str; 3]| {
        let text = format!(
            "schema = 1\nname = \"one\"\narch = \"arm64\"\n[[perf_domain]]\nid = \"cpu\"\ncpus = [0]\ncapacity = 1024\n\
             opps = [\n  {{ khz = 500000, power_mw = 50{} }},\n  {{ khz = 1000000, power_mw = 90{} }},\n  \
             {{ khz = 2000000, power_mw = 400{} }},\n]\n[perf_domain.idle_power]\nwfi_mw = 10\ncluster_mw = 20\n\
             khz = 2000000\nquality = \"ESTIMATE\"\nsource = \"a test\"\n",
            uv[0], uv[1], uv[2]
        );
        let file = platform::parse(&SourceFile::new("one.toml", text)).expect("fits");
        file.machine(&PlatformOptions::new("7.2")).expect("a machine").domains[0].draws.rails[0].clone()
    };
    // mW/GHz 100, 90, 200: it does not rise downwards, 90 / 200 of the figure.
    let without = file([""; 3]);
    assert_eq!((&without.idle_uw[0], &without.shared_uw), (&vec![4_500, 4_500, 10_000], &vec![9_000, 9_000, 20_000]));
    let with = file([", uv = 500000", ", uv = 800000", ", uv = 1000000"]);
    assert_eq!((&with.idle_uw[0], &with.shared_uw), (&vec![2_500, 6_400, 10_000], &vec![5_000, 12_800, 20_000]));
}

#[test]
fn every_phone_and_board_with_a_power_says_what_its_idle_cpus_draw() {
    for summary in platform::list().iter().filter(|summary| summary.simulated) {
        let kinds = ["phone", "board", "computer", "Chromebook"];
        let is_meant = kinds.iter().any(|kind| summary.kind.contains(kind)) && !summary.kind.contains("virtual");
        let basis = machine(&summary.name).energy_basis();
        if is_meant && basis.active {
            assert_eq!(basis.gap(), None, "{}", summary.name);
        }
    }
}

#[test]
fn power_without_a_table_is_coefficient_times_voltage_squared_times_frequency() {
    let m = machine("pixel6-gs101");
    // 70 uW/MHz/V^2 x 300 MHz x 0.537^2 V^2
    assert_eq!(m.domains[0].opps[0].power_uw, 6_055);
}

#[test]
fn options_override_the_file() {
    let options = PlatformOptions {
        hz: 1000,
        costs: Some(Default::default()),
        capacities: vec![("little".into(), 124), ("mid".into(), 427)],
        ..PlatformOptions::new("7.2")
    };
    let m = platform::load("pixel6-gs101").unwrap().machine(&options).unwrap();
    assert_eq!((m.hz, m.costs.tick_ns, m.cpus[0].capacity, m.cpus[4].capacity), (1000, 0, 124, 427));
    for wrong in [
        PlatformOptions { hz: 123, ..PlatformOptions::new("7.2") },
        PlatformOptions { capacities: vec![("litle".into(), 1)], ..PlatformOptions::new("7.2") },
        PlatformOptions { capacities: vec![("mid".into(), 5000)], ..PlatformOptions::new("7.2") },
    ] {
        assert!(platform::load("pixel6-gs101").unwrap().machine(&wrong).is_err());
    }
}

#[test]
fn show_tells_the_quality_of_every_figure() {
    use pelton_scenario::platform::Quality;
    let shown = platform::show("juno-r2", &PlatformOptions::new("7.2")).unwrap();
    let big = shown.domains.iter().find(|d| d.id == "big").unwrap();
    let quality = |name: &str| big.columns.iter().find(|c| c.name == name).unwrap().quality;
    assert_eq!((quality("khz"), quality("uv")), (Quality::Published, Quality::Estimate));
    assert_eq!(quality("power"), Quality::Estimate, "a power computed from an estimated voltage is an estimate");
    assert_eq!(big.facts.iter().find(|f| f.name == "capacity").unwrap().quality, Quality::Computed);
    assert_eq!(big.idle_states[1].quality, Quality::DeviceTree);
    assert!(
        shown
            .facts
            .iter()
            .filter(|f| f.unit == "ns" && f.name != "transition_latency_ns")
            .all(|f| f.quality == Quality::Estimate)
    );
    assert!(shown.obstacles.is_empty());
    let shown_only = platform::show("x1e80100-x-elite", &PlatformOptions::new("7.2")).unwrap();
    assert_eq!(shown_only.obstacles.len(), 3);
}

/// A phone's little CPU with these powers at three operating points.
fn warned(powers_mw: [f64; 3]) -> String {
    let [a, b, c] = powers_mw;
    let text = format!(
        "schema = 1\nname = \"p\"\narch = \"arm64\"\n[[perf_domain]]\nid = \"cpu\"\ncore = \"Cortex-A55\"\ncpus = [0]\n\
         capacity = 1024\nopps = [\n  {{ khz = 300000, power_mw = {a:?} }},\n  {{ khz = 1000000, power_mw = {b:?} }},\n  \
         {{ khz = 1800000, power_mw = {c:?} }},\n]\n"
    );
    let file = platform::parse(&pelton_scenario::SourceFile::new("p.toml", text)).expect("a good file");
    pelton_scenario::render(&file.warnings, 100, false)
}

#[test]
fn power_that_no_cpu_draws_is_a_warning_with_a_guess() {
    assert_eq!(warned([20.0, 60.0, 140.0]), "");
    let microwatts = warned([20.0, 60_000.0, 140.0]);
    assert!(microwatts.contains("60000 mW at 1000000 kHz is not the power of a CPU like this"), "{microwatts}");
    assert!(microwatts.contains("are these microwatts?") && !microwatts.contains("less power"), "{microwatts}");
    assert!(warned([0.02, 0.06, 0.14]).contains("are these watts?"));
    assert!(warned([20.0, 140.0, 60.0]).contains("less power than at a lower frequency"));
}

#[test]
fn every_built_in_platform_has_plausible_powers() {
    for name in platform::names() {
        let checked = platform::check(name).expect("readable");
        let text = pelton_scenario::render(&checked.warnings, 100, false);
        assert!(!text.contains("not the power of a CPU"), "{name}: {text}");
    }
}
