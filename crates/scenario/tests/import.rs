// SPDX-License-Identifier: GPL-2.0-or-later
//! Platform files from sysfs, Energy Model, device trees, LISA and Wattson: what the source says is in the file, the
//! file can be read back, and mistakes are shown at their place.

use pelton_scenario::diagnostic::{SourceFile, render};
use pelton_scenario::import::{Draft, Kind, Options, import};
use pelton_scenario::platform::{self, PlatformOptions};
use std::fs;
use std::path::{Path, PathBuf};

const DTS: &str = r#"/dts-v1/;
#include <dt-bindings/clock/some.h>
/ {
    compatible = "maker,board-x", "maker,chip-y";
    model = "Board X";
    cpus {
        #address-cells = <2>;
        cpu-map {
            cluster0 { core0 { cpu = <&L0>; }; core1 { cpu = <&L1>; }; };
            cluster1 { core0 { cpu = <&B0>; }; };
        };
        L0: cpu@0 { device_type = "cpu"; compatible = "arm,cortex-a53"; reg = <0x0 0x0>;
            operating-points-v2 = <&little>; cpu-idle-states = <&CPU_SLEEP &CLUSTER_SLEEP>;
            capacity-dmips-mhz = <578>; dynamic-power-coefficient = <142>; };
        L1: cpu@1 { device_type = "cpu"; compatible = "arm,cortex-a53"; reg = <0x0 0x1>;
            operating-points-v2 = <&little>; cpu-idle-states = <&CPU_SLEEP &CLUSTER_SLEEP>;
            capacity-dmips-mhz = <578>; dynamic-power-coefficient = <142>; };
        B0: cpu@100 { device_type = "cpu"; compatible = "arm,cortex-a72"; reg = <0x0 0x100>;
            operating-points-v2 = <&big>; capacity-dmips-mhz = <1024>; };
        idle-states {
            entry-method = "psci";
            CPU_SLEEP: cpu-sleep { compatible = "arm,idle-state"; entry-latency-us = <300>; exit-latency-us = <1200>;
                min-residency-us = <2000>; };
            CLUSTER_SLEEP: cluster-sleep { entry-latency-us = <400>; exit-latency-us = <1200>;
                min-residency-us = <2500>; wakeup-latency-us = <1500>; idle-state-name = "cluster off"; };
        };
    };
    little: opp-table-0 { compatible = "operating-points-v2"; opp-shared;
        opp-450000000 { opp-hz = /bits/ 64 <450000000>; opp-microvolt = <820000>; clock-latency-ns = <500000>; };
        opp-850000000 { opp-hz = /bits/ 64 <850000000>; opp-microvolt = <950000 900000 1000000>; };
    };
    big: opp-table-1 { compatible = "operating-points-v2"; opp-shared; };
};
/* The rest is elsewhere. */
&big { opp-1200000000 { opp-hz = /bits/ 64 <1200000000>; opp-microvolt = <1000000>; }; };
"#;

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("room");
    fs::write(&path, text).expect("room");
    path
}

fn read(path: &Path) -> Draft {
    import(path, &Options::default()).unwrap_or_else(|d| panic!("{}", render(&d, 100, false)))
}

fn refused(path: &Path, options: &Options) -> String {
    render(&import(path, options).expect_err("refused"), 100, false)
}

/// Reads a written file again: it has the same numbers, and makes a machine.
fn read_back(draft: &Draft) -> pelton_model::Machine {
    let text = draft.toml();
    let file = platform::parse(&SourceFile::new("imported.toml", &text))
        .unwrap_or_else(|d| panic!("{}\n{text}", render(&d, 100, false)));
    assert_eq!(file.domains.len(), draft.domains.len());
    for (read, made) in file.domains.iter().zip(&draft.domains) {
        assert_eq!(read.cpus.iter().map(|c| c.value).collect::<Vec<_>>(), made.cpus);
        assert_eq!(
            read.opps.iter().map(|o| o.khz.value).collect::<Vec<_>>(),
            made.opps.iter().map(|o| o.khz).collect::<Vec<_>>()
        );
        assert_eq!(
            read.opps.iter().map(|o| o.uv.as_ref().map(|v| v.value)).collect::<Vec<_>>(),
            made.opps.iter().map(|o| o.uv).collect::<Vec<_>>()
        );
        assert_eq!(read.idle_states.len(), made.idle.len());
    }
    file.machine(&PlatformOptions::new("7.2")).unwrap_or_else(|d| panic!("{}\n{text}", render(&d, 100, false)))
}

#[test]
fn a_device_tree_in_source_gives_domains_capacities_voltages_and_idle_states() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dts", DTS));
    assert_eq!((draft.name.as_str(), draft.title.as_str()), ("board-x", "Board X"));
    assert_eq!(draft.clusters, [vec![0, 1], vec![2]]);
    assert_eq!(draft.transition_latency_ns, Some(500_000));
    let [little, big] = &draft.domains[..] else { panic!("{:?}", draft.domains) };
    assert_eq!((little.core.as_str(), big.core.as_str()), ("Cortex-A53", "Cortex-A72"));
    // 578 x 850 of 1024 x 1200, times 1024.
    assert_eq!((little.capacity, big.capacity), (Some(409), Some(1024)));
    assert_eq!(
        little.opps.iter().map(|o| (o.khz, o.uv)).collect::<Vec<_>>(),
        [(450_000, Some(820_000)), (850_000, Some(950_000))]
    );
    assert_eq!((little.coefficient, big.coefficient, big.opps[0].khz), (Some(142), None, 1_200_000));
    assert_eq!(little.idle[1].name, "cluster off");
    assert_eq!((little.idle[0].exit_us, little.idle[1].wakeup_us), (1200, Some(1500)));
    let machine = read_back(&draft);
    assert_eq!(machine.cpus.iter().map(|c| c.capacity).collect::<Vec<_>>(), [409, 409, 1024]);
    assert!(draft.toml().contains("# ASSUMED: capacities are computed"), "{}", draft.toml());
}

#[test]
fn expressions_in_a_source_are_their_values() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let written = [
        ("<142>", "<(140 + 2)>"),
        ("<450000000>", "<(450 * 1000 * 1000)>"),
        ("<1200>", "<(1 << 10 | 0xb0)>"),
        ("<2000>", "<(-1 == 0 ? 1 : 2000)>"),
    ];
    let text = written.iter().fold(DTS.to_owned(), |text, (number, expression)| text.replace(number, expression));
    // One path, which the file names.
    let [numbers, expressions] = [DTS, &text].map(|text| read(&write(folder.path(), "board.dts", text)).toml());
    assert_eq!(expressions, numbers);
}

#[test]
fn mistakes_in_a_source_are_shown_at_their_place() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let cases = [
        ("<142>", "<COEFFICIENT>", "`COEFFICIENT` is no number"),
        ("<&little>", "<&middle>", "refers to a node that is not there"),
        ("<450000000>", "<450>", "no frequency of a CPU"),
        ("<142>", "<(142 / 0)>", "the expression divides by 0"),
        ("<142>", "<(142 * FACTOR)>", "`(142 * FACTOR)` is no number"),
        ("model = \"Board X\";", "model = \"Board X\"", "must stand here"),
        ("/* The rest is elsewhere. */", "/* The rest", "the comment has no end"),
    ];
    for (right, wrong, expected) in cases {
        let text = refused(&write(folder.path(), "wrong.dts", DTS.replacen(right, wrong, 1)), &Options::default());
        assert!(text.contains(expected) && text.contains("wrong.dts:"), "{expected}: {text}");
    }
    let deep = "/ {".to_owned() + &"a {".repeat(2000);
    assert!(refused(&write(folder.path(), "deep.dts", deep), &Options::default()).contains("too deeply"));
}

/// A board as its source is after the preprocessor, and what a board does to the file of its chip.
const BOARD: &str = r#"# 1 "board.dts"
# 1 "<built-in>" 1
/ { soc { pinctrl { /omit-if-no-ref/
            pins_a: pins-a { pins = "A1", "A2"; function = "a \"quoted\" one"; };
            pins_b: pins-b { function = "b"; }; }; };
    memory-region@0 { data = /incbin/("firmware.bin", 0x0, 0x100), mark: <1 2>, <at: 3>; };
};
/delete-node/ &B0;
/delete-node/ &big;
&{/cpus/cpu-map} { /delete-node/ cluster1; };
OTHER_NAME: &L1 { };
&OTHER_NAME {
# 12 "board.dts" 2
    /delete-property/ cpu-idle-states;
    status =
#line 13 "board.dts"
        "okay";
};
&little { /delete-node/ opp-850000000;
    opp-600000000 { opp-hz = /bits/ 64 <600000000>; opp-microvolt = <880000>; };
    opp-700000000 { opp-hz = /bits/ 64 <700000000>; status = "disabled"; };
};
"#;

#[test]
fn a_board_deletes_what_its_chip_has_and_the_preprocessor_leaves_lines() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dts", format!("{DTS}{BOARD}")));
    let [little] = &draft.domains[..] else { panic!("{:?}", draft.domains) };
    assert!(!draft.toml().contains("nowhere to be found"), "{}", draft.toml());
    assert_eq!((&little.cpus[..], &draft.clusters[..]), (&[0, 1][..], &[vec![0, 1]][..]));
    assert_eq!(little.opps.iter().map(|o| o.khz).collect::<Vec<_>>(), [450_000, 600_000]);
    assert_eq!(read_back(&draft).cpus.len(), 2);
    let unknown = format!("{DTS}/delete-node/ &absent;");
    let draft = read(&write(folder.path(), "unknown.dts", unknown));
    assert!(draft.toml().contains("`&absent` is deleted and nowhere to be found"), "{}", draft.toml());
}

#[test]
fn a_property_that_an_extension_deletes_is_gone() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let text = format!("{DTS}&L0 {{ /delete-property/ cpu-idle-states; }};");
    let draft = read(&write(folder.path(), "board.dts", text));
    assert_eq!(draft.domains[0].idle.len(), 0, "{:?}", draft.domains[0].idle);
}

#[test]
fn points_of_the_first_binding_are_those_of_all_cpus() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let board = |points: &str| {
        format!(
            r#"/ {{ cpus {{
            cpu@0 {{ compatible = "arm,cortex-a9"; clocks = <&c 1>; operating-points = <{points}>; }};
            cpu@1 {{ compatible = "arm,cortex-a9"; clocks = <&c 2>; }};
        }}; }};"#
        )
    };
    let draft = read(&write(folder.path(), "a.dts", board("996000 1250000 396000 950000 792000 1150000")));
    let [domain] = &draft.domains[..] else { panic!("{:?}", draft.domains) };
    let points: Vec<_> = domain.opps.iter().map(|o| (o.khz, o.uv)).collect();
    assert_eq!(points, [(396_000, Some(950_000)), (792_000, Some(1_150_000)), (996_000, Some(1_250_000))]);
    assert_eq!((&domain.cpus[..], read_back(&draft).cpus.len()), (&[0, 1][..], 2));
    for (points, expected) in [("996000 1250000 396000", "pairs of kHz and uV"), ("5 1250000", "no frequency of a CPU")]
    {
        let text = refused(&write(folder.path(), "a.dts", board(points)), &Options::default());
        assert!(text.contains(expected) && text.contains("a.dts:"), "{text}");
    }
}

#[test]
fn cpus_of_different_clocks_are_not_one_domain_in_a_source_either() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let cpu = |number: u32, clock: &str| format!(r#"cpu@{number} {{ compatible = "arm,cortex-a53"; {clock} }};"#);
    let clocks = ["clocks = <&apcs1>;", "", "clocks = <&apcs0 1>;", "clocks = <&apcs0 1>;", "clocks = <&apcs0 2>;"];
    let cpus: String = clocks.iter().zip(0..).map(|(clock, number)| cpu(number, clock)).collect();
    let draft =
        read(&write(folder.path(), "a.dts", format!("/ {{ cpus {{ {cpus} }}; }}; &{{/}} {{ model = \"M\"; }};")));
    let domains: Vec<_> = draft.domains.iter().map(|domain| domain.cpus.clone()).collect();
    assert_eq!((domains, draft.title.as_str()), (vec![vec![0, 1], vec![2, 3], vec![4]], "M"));
}

/// Zones below the board of [`DTS`].
const ZONES: &str = r#"/ { gpu: gpu { }; thermal-zones {
    soc_thermal: soc-thermal { polling-delay-passive = <100>; sustainable-power = <2500>;
        trips {
            hot: trip-2 { temperature = <85000>; hysteresis = <2500>; type = "passive"; };
            on: trip-0 { temperature = <65000>; hysteresis = <1000>; type = "passive"; };
            little_only: trip-1 { temperature = <75000>; hysteresis = <2000>; type = "passive"; };
            above { temperature = <90000>; type = "passive"; };
            fan: fan { temperature = <60000>; type = "active"; };
            crit { temperature = <115000>; type = "critical"; };
        };
        cooling-maps {
            map0 { trip = <&little_only>; contribution = <1024>; cooling-device = <&L0 THERMAL_NO_LIMIT THERMAL_NO_LIMIT>; };
            map1 { trip = <&hot>; contribution = <512>;
                cooling-device = <&B0 THERMAL_NO_LIMIT THERMAL_NO_LIMIT>, <&gpu 1 4>; };
            map2 { trip = <&hot>; cooling-device = <&L0 0 3>, <&L1 0 3>; };
            map3 { trip = <&fan>; cooling-device = <&B0 0 2>; };
        };
    };
    board-thermal { trips { t: a { temperature = <50000>; type = "passive"; }; };
        cooling-maps { map0 { trip = <&t>; cooling-device = <&B0 0 1>; }; }; };
    gpu-thermal { trips { g: a { temperature = <50000>; type = "passive"; }; };
        cooling-maps { map0 { trip = <&g>; cooling-device = <&gpu 0 1>; }; }; };
}; };
"#;

#[test]
fn thermal_zones_of_a_device_tree_come_with_trips_and_the_domains_they_slow_down() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dts", DTS.replace("/* The rest is elsewhere. */", ZONES)));
    let [zone] = &draft.zones[..] else { panic!("{:?}", draft.zones) };
    assert_eq!((zone.id.as_str(), &zone.cpus[..], &zone.weights[..]), ("soc", &[0, 1, 2][..], &[1024, 512][..]));
    assert_eq!((zone.passive_ms, zone.polling_ms, zone.sustainable_mw), (100, 0, Some(2500)));
    // What is above the last trip that slows a CPU down does nothing. One CPU of a domain stands for all of it.
    let trips = zone.trips.iter().map(|t| (t.temp_mc, t.hysteresis_mc, t.cools.iter().copied().collect::<Vec<u32>>()));
    let expected = [(65_000, 1_000, vec![]), (75_000, 2_000, vec![0, 1]), (85_000, 2_500, vec![0, 1, 2])];
    assert_eq!(trips.collect::<Vec<_>>(), expected);
    let said = [
        "board slows down CPUs of soc as well",
        "add [[thermal_zone.stage]]",
        "trip fan of thermal zone soc is active: that it slows down CPUs is left out",
        "trip trip-2 of thermal zone soc names the states of its coolers: all are used",
    ];
    for word in said {
        assert!(draft.assumed.iter().any(|line| line.contains(word)), "{word}: {:?}", draft.assumed);
    }
    let machine = read_back(&draft);
    let cools = machine.thermal_zones[0].trips.iter().map(|trip| (trip.temp_mc, trip.cools.clone()));
    assert_eq!(cools.collect::<Vec<_>>(), [(65_000, vec![]), (75_000, vec![0]), (85_000, vec![0, 1])]);
}

#[test]
fn thermal_zones_of_a_blob_are_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dtb", blob_with_a_zone()));
    let [zone] = &draft.zones[..] else { panic!("{:?}", draft.zones) };
    assert_eq!((zone.id.as_str(), &zone.cpus[..], zone.passive_ms, zone.trips.len()), ("cpu", &[0, 1][..], 250, 1));
    assert_eq!((zone.trips[0].temp_mc, zone.trips[0].hysteresis_mc), (-5_000, 0));
    assert!(draft.assumed.iter().any(|line| line.contains("cpu names no delay")), "{:?}", draft.assumed);
    read_back(&draft);
}

/// Two CPUs, of which a map names the first; a trip below zero.
fn blob_with_a_zone() -> Vec<u8> {
    let mut blob = Blob::default();
    blob.begin("").property("compatible", b"maker,board-z\0").begin("cpus");
    for (cpu, phandle) in [("cpu@0", 11), ("cpu@1", 12)] {
        blob.begin(cpu).property("compatible", b"arm,cortex-a53\0").number("phandle", phandle);
        blob.number("operating-points-v2", 7).end();
    }
    blob.end().begin("opp-table").number("phandle", 7).property("opp-shared", b"");
    blob.begin("opp-1").property("opp-hz", &1_000_000_000u64.to_be_bytes()).end().end();
    blob.begin("thermal-zones").begin("cpu-thermal").begin("trips").begin("trip0").number("phandle", 21);
    blob.number("temperature", -5_000i32 as u32).property("type", b"passive\0").end().end();
    blob.begin("cooling-maps").begin("map0").number("trip", 21);
    blob.property("cooling-device", &[0, 0, 0, 11, 255, 255, 255, 255, 255, 255, 255, 255]);
    blob.end().end().end().end();
    blob.end().bytes()
}

/// A flattened device tree, version 17: begin (1), end (2), property (3), end of all (9).
#[derive(Default)]
struct Blob {
    nodes: Vec<u8>,
    names: Vec<u8>,
}

impl Blob {
    fn word(&mut self, word: u32) -> &mut Self {
        self.nodes.extend(word.to_be_bytes());
        self
    }

    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.nodes.extend(bytes);
        while !self.nodes.len().is_multiple_of(4) {
            self.nodes.push(0);
        }
        self
    }

    fn begin(&mut self, name: &str) -> &mut Self {
        self.word(1).padded(&[name.as_bytes(), &[0]].concat())
    }

    fn end(&mut self) -> &mut Self {
        self.word(2)
    }

    fn property(&mut self, name: &str, value: &[u8]) -> &mut Self {
        let at = self.names.len() as u32;
        self.names.extend(name.as_bytes());
        self.names.push(0);
        self.word(3).word(value.len() as u32).word(at).padded(value)
    }

    fn number(&mut self, name: &str, value: u32) -> &mut Self {
        self.property(name, &value.to_be_bytes())
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.word(9);
        let (nodes, names) = (self.nodes.len() as u32, self.names.len() as u32);
        let head = [0xd00d_feed, 56 + nodes + names, 56, 56 + nodes, 40, 17, 16, 0, names, nodes];
        let head = head.into_iter().flat_map(u32::to_be_bytes);
        head.chain([0; 16]).chain(self.nodes.iter().copied()).chain(self.names.iter().copied()).collect()
    }
}

fn blob() -> Vec<u8> {
    let mut blob = Blob::default();
    blob.begin("").property("compatible", b"maker,board-x\0").begin("cpus");
    for (cpu, table) in [("cpu@0", 7), ("cpu@1", 7), ("cpu@100", 8)] {
        blob.begin(cpu).property("compatible", b"arm,cortex-a53\0").number("operating-points-v2", table);
        blob.number("capacity-dmips-mhz", 1024).number("dynamic-power-coefficient", 100).end();
    }
    blob.end();
    for (name, phandle, mhz) in [("opp-a", 7, 1000u64), ("opp-b", 8, 2000)] {
        blob.begin(name).number("phandle", phandle).property("opp-shared", b"");
        blob.begin("opp-1").property("opp-hz", &(mhz * 1_000_000).to_be_bytes()).number("opp-microvolt", 800_000).end();
        blob.end();
    }
    blob.end().bytes()
}

#[test]
fn a_flattened_device_tree_says_the_same_as_its_source() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dtb", blob()));
    assert_eq!(draft.name, "board-x");
    assert_eq!(draft.domains.iter().map(|d| d.capacity).collect::<Vec<_>>(), [Some(512), Some(1024)]);
    assert_eq!(draft.domains[0].cpus, [0, 1]);
    assert_eq!((draft.domains[1].opps[0].khz, draft.domains[1].opps[0].uv), (2_000_000, Some(800_000)));
    read_back(&draft);
}

/// A blob with all that real boards' blobs have: names that the specification does not allow, words that mean nothing,
/// sockets, idle states in power domains, CPUs that failed, points for some chips only.
fn blob_as_of_a_real_board() -> Vec<u8> {
    let mut blob = Blob::default();
    blob.begin("").property("compatible", b"maker,board-y\0").word(4).begin("cpus");
    blob.begin("cpu-map").begin("socket0");
    for (cluster, cpus) in [("cluster0", &[11, 12][..]), ("cluster1", &[13])] {
        blob.begin(cluster);
        for (core, phandle) in ["core0", "core1"].iter().zip(cpus) {
            blob.begin(core).number("cpu", *phandle).end();
        }
        blob.end();
    }
    blob.end().end();
    for (cpu, phandle, table, domain) in [("cpu@0", 11, 7, 21), ("cpu@1", 12, 7, 21), ("cpu@100", 13, 8, 22)] {
        blob.begin(cpu).property("compatible", b"arm,cortex-a53\0").number("phandle", phandle);
        blob.number("operating-points-v2", table).number("capacity-dmips-mhz", 1024).number("power-domains", domain);
        blob.end();
    }
    blob.begin("cpu@101").property("compatible", b"arm,cortex-a53\0").property("status", b"fail-sss\0").end();
    blob.end();
    blob.begin("psci").property("linux,odd_NAME!", b"x\0");
    for (domain, phandle) in [("power-domain-cpu0", 21), ("power-domain-cpu2", 22)] {
        blob.begin(domain).number("phandle", phandle);
        // The deeper one first, and both of one name.
        blob.property("domain-idle-states", &[0, 0, 0, 33, 0, 0, 0, 31]);
        // A phandle and a number that the domain above asks for.
        blob.property("power-domains", &[0, 0, 0, 23, 0, 0, 0, 1]).end();
    }
    blob.begin("power-domain-cluster").number("phandle", 23).number("domain-idle-states", 32).end();
    blob.end();
    for (state, phandle, us) in [("cpu-a", 31, 100), ("cpu-b", 33, 200), ("cluster_Sleep", 32, 900)] {
        blob.begin(state).number("phandle", phandle).number("entry-latency-us", us).number("exit-latency-us", us);
        if state != "cluster_Sleep" {
            blob.property("idle-state-name", b"cpu-sleep\0");
        }
        blob.number("min-residency-us", 4 * us).end();
    }
    for (name, phandle, mhz) in [("opp_table0", 7, 1000u64), ("opp_table1", 8, 2000)] {
        blob.begin(name).number("phandle", phandle).property("opp-shared", b"");
        blob.begin("opp-1").property("opp-hz", &(mhz * 1_000_000).to_be_bytes()).number("opp-supported-hw", 1);
        blob.number("opp-microvolt-L1", 800_000).end().end();
    }
    blob.end().bytes()
}

#[test]
fn blobs_as_real_boards_have_them_are_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let draft = read(&write(folder.path(), "board.dtb", blob_as_of_a_real_board()));
    assert_eq!(draft.domains.iter().map(|d| d.cpus.clone()).collect::<Vec<_>>(), [vec![0, 1], vec![2]]);
    assert_eq!(draft.clusters, [vec![0, 1], vec![2]]);
    let states = |at: usize| draft.domains[at].idle.iter().map(|s| (s.name.clone(), s.shared)).collect::<Vec<_>>();
    let expected = [("cpu-sleep", false), ("cpu-sleep-2", false), ("cluster_Sleep", true)];
    assert_eq!(states(0), expected.map(|(name, shared)| (name.to_owned(), shared)));
    assert_eq!(states(1), states(0));
    for word in ["opp-supported-hw", "opp-microvolt-NAME"] {
        assert!(draft.assumed.iter().any(|line| line.contains(word)), "{:?}", draft.assumed);
    }
    assert_eq!(read_back(&draft).domains.len(), 2);
}

#[test]
fn blobs_that_end_too_early_or_nest_too_deeply_are_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let refuses = |bytes: Vec<u8>| {
        let path = write(folder.path(), "x.dtb", bytes);
        refused(&path, &Options::default())
    };
    let mut deep = Blob::default();
    deep.begin("");
    for _ in 0..100 {
        deep.begin("a");
    }
    for _ in 0..101 {
        deep.end();
    }
    assert!(refuses(deep.bytes()).contains("no CPUs"));
    let mut open = Blob::default();
    open.begin("").begin("cpus");
    let text = refuses(open.bytes());
    assert!(text.contains("neither a node nor a property"), "{text}");
    assert!(refuses(vec![0; 64]).contains("d00dfeed"));
}

#[test]
fn no_cut_or_flipped_blob_panics() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let whole = blob_as_of_a_real_board();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x41;
        for bytes in [&whole[..at], &flipped[..]] {
            let path = write(folder.path(), "x.dtb", bytes);
            if let Ok(draft) = import(&path, &Options::default()) {
                let _ = platform::parse(&SourceFile::new("x", draft.toml()));
            }
        }
    }
}

fn sysfs(root: &Path) {
    for (cpu, (policy, capacity)) in [(0, 446), (1, 1024), (0, 446)].into_iter().enumerate() {
        let folder = format!("devices/system/cpu/cpu{cpu}");
        write(root, &format!("{folder}/cpu_capacity"), format!("{capacity}\n"));
        let (related, khz) = if policy == 0 { ("0 2", "450000 850000") } else { ("1", "450000 1100000") };
        write(root, &format!("{folder}/cpufreq/related_cpus"), related);
        write(root, &format!("{folder}/cpufreq/scaling_available_frequencies"), khz);
        write(root, &format!("{folder}/cpufreq/scaling_driver"), "cpufreq-dt\n");
        write(root, &format!("{folder}/cpufreq/cpuinfo_transition_latency"), "1200000\n");
        for (state, (name, latency, residency)) in [("WFI", 1, 1), ("cpu-sleep", 1500, 2000)].into_iter().enumerate() {
            let state = format!("{folder}/cpuidle/state{state}");
            write(root, &format!("{state}/name"), name);
            write(root, &format!("{state}/latency"), latency.to_string());
            write(root, &format!("{state}/residency"), residency.to_string());
        }
    }
    write(root, "devices/system/cpu/present", "0-2\n");
}

#[test]
fn sysfs_and_the_energy_model_together_make_a_board() {
    let folder = tempfile::tempdir().expect("temporary folder");
    sysfs(&folder.path().join("sys"));
    let model = folder.path().join("energy_model");
    for (domain, cpus, states) in [
        ("cpu0", "0,2", [(450_000, 30_000), (850_000, 90_000)]),
        ("cpu1", "1", [(450_000, 99_000), (1_100_000, 600_500)]),
    ] {
        write(&model, &format!("{domain}/cpus"), cpus);
        for (khz, uw) in states {
            write(&model, &format!("{domain}/ps:{khz}/frequency"), format!("{khz}\n"));
            write(&model, &format!("{domain}/ps:{khz}/power"), format!("{uw}\n"));
        }
    }
    let mut draft = read(&folder.path().join("sys"));
    assert_eq!((draft.driver.as_deref(), draft.transition_latency_ns), (Some("cpufreq-dt"), Some(1_200_000)));
    draft.fill(read(&model));
    let machine = read_back(&draft);
    assert_eq!(
        machine.domains[1].opps.iter().map(|o| (o.khz, o.power_uw)).collect::<Vec<_>>(),
        [(450_000, 99_000), (1_100_000, 600_500)]
    );
    assert_eq!(draft.domains[0].cpus, [0, 2]);
    assert_eq!((draft.domains[0].idle[0].name.as_str(), draft.domains[0].idle[0].exit_us), ("cpu-sleep", 1500));
    let old = import(&model, &Options { milliwatts: true, ..Options::default() }).expect("read");
    assert_eq!(old.domains[1].opps[1].power_mw, Some(600_500.0));
    assert!(refused(&write(folder.path(), "x/nothing", ""), &Options::default()).contains("cannot tell what"));
}

#[test]
fn what_sysfs_does_not_say_or_has_switched_off_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let root = folder.path().join("sys");
    sysfs(&root);
    let cpu = "devices/system/cpu/cpu1";
    write(&root, &format!("{cpu}/cpufreq/cpuinfo_max_freq"), "1100000\n");
    write(&root, &format!("{cpu}/cpufreq/scaling_boost_frequencies"), "1000000 1200000\n");
    write(&root, &format!("{cpu}/cpuidle/state2/name"), "cluster-sleep");
    write(&root, &format!("{cpu}/cpuidle/state2/latency"), "2000");
    write(&root, &format!("{cpu}/cpuidle/state1/disable"), "1\n");
    write(&root, "devices/system/cpu/present", "0-3\n");
    write(&root, "devices/system/cpu/cpu3/cpu_capacity", "1024\n");
    let draft = read(&root);
    let domains: Vec<_> = draft.domains.iter().map(|domain| domain.cpus.clone()).collect();
    assert_eq!(domains, [vec![0, 2], vec![1], vec![3]]);
    assert_eq!(draft.domains[1].opps.iter().map(|o| o.khz).collect::<Vec<_>>(), [450_000, 1_000_000, 1_100_000]);
    let idle: Vec<_> = draft.domains[1].idle.iter().map(|state| (state.name.as_str(), state.residency_us)).collect();
    assert_eq!(idle, [("cluster-sleep", 0)]);
    for told in [
        "boost was off: 1 of [1200000] kHz left out",
        "idle state cpu-sleep was switched off",
        "no residency of idle state cluster-sleep",
        "CPU 3 is of no policy of cpufreq",
    ] {
        assert!(draft.toml().contains(told), "{told}: {}", draft.toml());
    }
}

#[test]
fn powers_of_the_energy_model_that_are_no_watts_are_left_out() {
    for (file, text, watts) in
        [("flags", "0x1", true), ("flags", "0x2", false), ("flags", "0x5", false), ("units", "bogoWatts", false)]
    {
        let folder = tempfile::tempdir().expect("temporary folder");
        write(folder.path(), "pd0/cpus", "0-1");
        write(folder.path(), "pd0/ps:1000000/frequency", "1000000");
        write(folder.path(), "pd0/ps:1000000/power", "100000");
        write(folder.path(), &format!("pd0/{file}"), text);
        let draft = read(folder.path());
        assert_eq!(draft.domains[0].opps[0].power_mw, watts.then_some(100.0), "{file} {text}");
        assert_eq!(draft.toml().contains("left out"), !watts);
    }
}

#[test]
fn this_machine_can_be_imported() {
    let draft = read(Path::new("/sys"));
    assert!(!draft.domains.is_empty() && !draft.toml().is_empty());
    platform::parse(&SourceFile::new("here.toml", draft.toml())).expect("the file is good");
}

#[test]
fn lisa_and_wattson_say_what_they_know_and_no_more() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let info = "platform-info:\n  conf:\n    abi: arm64\n    name: Juno R0\n    cpus-count: 3\n    cpu-capacities:\n      orig: {0: 446, 1: 1024, 2: 446}\n    freq-domains: [[0, 2], [1]]\n    freqs:\n      0: [450000, 850000]\n      1: [450000, 1100000]\n";
    let draft = read(&write(folder.path(), "plat_info.yml", info));
    let machine = read_back(&draft);
    assert_eq!(machine.cpus.iter().map(|c| c.capacity).collect::<Vec<_>>(), [446, 1024, 446]);
    assert!(draft.toml().contains("name = \"juno-r0\""));
    let wrong = refused(&write(folder.path(), "plat_info.yml", info.replace("1024", "2048")), &Options::default());
    assert!(wrong.contains("1..=1024") && wrong.contains("plat_info.yml:"), "{wrong}");
    let alone = info.replace("    freq-domains: [[0, 2], [1]]\n", "");
    assert_eq!(read(&write(folder.path(), "plat_info.yml", &alone)).domains[0].cpus, [0, 1, 2]);
    for count in ["0", "1025", "4294967298", "9223372036854775807"] {
        let text = alone.replace("cpus-count: 3", &format!("cpus-count: {count}"));
        let wrong = refused(&write(folder.path(), "plat_info.yml", text), &Options::default());
        assert!(wrong.contains("1..=1024") && wrong.contains("cpus-count"), "{count}: {wrong}");
    }
    assert!(refused(&write(folder.path(), "bad.yml", "a: [1"), &Options::default()).contains("no YAML"));
    let [one, two] = [
        ("1d.csv", "device,policy,freq_khz,static,active,idle0,idle1\nX,2,400000,1.5,28.5,5.2,0\nX,2,800000,2.5,60,6,0\n"),
        ("2d.csv", "device,policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1\nX,0,300000,2,800000,9,8,7,0\nX,0,300000,2,400000,3.7,21.8,0.5,0\n"),
    ]
    .map(|(name, text)| write(folder.path(), name, text));
    assert!(refused(&one, &Options::default()).contains("--cpus N"));
    let options = Options { cpus: Some(3), kind: Some(Kind::Wattson), ..Options::default() };
    let mut draft = import(&two, &options).expect("read");
    draft.fill(import(&one, &options).expect("read"));
    assert_eq!(draft.domains.iter().map(|d| d.cpus.clone()).collect::<Vec<_>>(), [vec![0, 1], vec![2]]);
    assert_eq!((draft.domains[0].opps[0].power_mw, draft.domains[0].opps[0].cluster_mw), (Some(21.8), Some(3.7)));
    let file = platform::parse(&SourceFile::new("x.toml", draft.toml())).expect("good");
    assert!(file.machine(&PlatformOptions::new("7.2")).is_err(), "capacities are not known and must not be invented");
    let wrong = refused(&write(folder.path(), "w.csv", "policy,freq_khz,active\n0,1000000,many\n"), &options);
    assert!(wrong.contains("a number must stand here") && wrong.contains("w.csv:2"), "{wrong}");
    let table = "policy,freq_khz,active,policy\n0,1000000,4,2\n";
    let wrong = refused(&write(folder.path(), "w.csv", table), &options);
    assert!(wrong.contains("two columns `policy`"), "{wrong}");
    // A number far beyond any machine would be a domain of as many CPUs.
    for (policy, dep) in [("25400000", "0"), ("0", "25400000"), ("1.5", "0")] {
        let table = format!("policy,freq_khz,active,dep_policy\n{policy},1000000,4,{dep}\n");
        let wrong = refused(&write(folder.path(), "w.csv", table), &options);
        assert!(wrong.contains("the number of a CPU must stand here") && wrong.contains("0..=1023"), "{wrong}");
    }
}

#[test]
fn nodes_of_a_server_are_imported_with_their_distances() {
    let folder = tempfile::tempdir().expect("room");
    let cpu = |at: u32, name: &str, text: &str| {
        write(folder.path(), &format!("sys/devices/system/cpu/cpu{at}/{name}"), text);
    };
    for at in 0..4 {
        cpu(at, "topology/thread_siblings_list", &format!("{at}\n"));
        cpu(at, "cache/index0/level", "3\n");
        cpu(at, "cache/index0/shared_cpu_list", if at % 2 == 0 { "0,2\n" } else { "1,3\n" });
        cpu(at, "cpufreq/related_cpus", &format!("{at}\n"));
        cpu(at, "cpufreq/scaling_available_frequencies", "2800000 2100000 1500000 \n");
    }
    // Node 1 has memory and no CPU.
    for (node, list, distance) in [(0, "0,2", "10 12 32"), (1, "", "12 10 32"), (2, "1,3", "32 32 10")] {
        write(folder.path(), &format!("sys/devices/system/node/node{node}/cpulist"), format!("{list}\n"));
        write(folder.path(), &format!("sys/devices/system/node/node{node}/distance"), format!("{distance}\n"));
    }
    let draft = read(folder.path());
    assert_eq!(draft.nodes, [[0, 2], [1, 3]]);
    assert_eq!(draft.node_distances, [[10, 32], [32, 10]]);
    let file = platform::parse(&SourceFile::new("imported.toml", draft.toml())).expect("it can be read back");
    let machine = file.machine(&PlatformOptions::new("7.2")).expect("it can be simulated");
    assert_eq!((machine.nodes, machine.node_distances), (draft.nodes, draft.node_distances));
}
