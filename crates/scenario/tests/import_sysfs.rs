// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines of many kinds from sysfs and debugfs: what is met is used or listed, CPUs are numbered without gaps, and
//! whatever a machine is like, the import makes a file that `check` accepts, or says at which place of the source not.

use pelton_scenario::diagnostic::{SourceFile, render};
use pelton_scenario::import::{Draft, Options, import};
use pelton_scenario::platform::{self, PlatformOptions};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a machine, which can be a folder or what `grep -r .` shows of one.
#[derive(Clone, Default)]
struct Sys {
    files: Vec<(String, String)>,
}

impl Sys {
    fn put(&mut self, path: impl Into<String>, value: impl std::fmt::Display) -> &mut Self {
        self.files.push((path.into(), value.to_string()));
        self
    }

    fn cpu(&mut self, cpu: u32, name: &str, value: impl std::fmt::Display) -> &mut Self {
        self.put(format!("devices/system/cpu/cpu{cpu}/{name}"), value)
    }

    /// A CPU with a policy of its own, its ends and its driver.
    fn alone(&mut self, cpu: u32, driver: &str, ends: [u32; 2]) -> &mut Self {
        self.cpu(cpu, "cpufreq/related_cpus", cpu).cpu(cpu, "cpufreq/scaling_driver", driver);
        self.cpu(cpu, "cpufreq/cpuinfo_min_freq", ends[0]).cpu(cpu, "cpufreq/cpuinfo_max_freq", ends[1])
    }

    fn list(&mut self, cpu: u32, khz: &str) -> &mut Self {
        self.cpu(cpu, "cpufreq/scaling_available_frequencies", khz)
    }

    fn folder(&self, root: &Path) -> PathBuf {
        for (path, value) in &self.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("room");
            fs::write(path, format!("{value}\n")).expect("room");
        }
        root.to_owned()
    }

    fn text(&self) -> String {
        let line = |out: &mut String, (path, value): &(String, String)| {
            value.lines().for_each(|value| writeln!(out, "/sys/{path}:{value}").expect("a string"));
        };
        self.files.iter().fold(String::new(), |mut out, file| {
            line(&mut out, file);
            out
        })
    }

    fn draft(&self) -> Draft {
        let folder = tempfile::tempdir().expect("room");
        imported(&self.folder(folder.path()))
    }
}

fn imported(path: &Path) -> Draft {
    let mut draft = import(path, &Options::default()).unwrap_or_else(|d| panic!("{}", render(&d, 100, false)));
    draft.finish();
    draft
}

fn file(draft: &Draft) -> platform::PlatformFile {
    let text = draft.toml();
    let parsed = platform::parse(&SourceFile::new("imported.toml", &text));
    parsed.unwrap_or_else(|d| panic!("{}\n{text}", render(&d, 100, false)))
}

fn machine(draft: &Draft, profile: &str) -> pelton_model::Machine {
    let built = file(draft).machine(&PlatformOptions::new(profile));
    built.unwrap_or_else(|d| panic!("{}\n{}", render(&d, 100, false), draft.toml()))
}

fn says(draft: &Draft, words: &str) -> bool {
    draft.assumed.iter().any(|line| line.contains(words))
}

#[test]
fn a_driver_without_a_list_gives_a_grid() {
    let mut sys = Sys::default();
    sys.alone(0, "cppc_cpufreq", [400_000, 2_600_000]).cpu(0, "cpu_capacity", 700);
    sys.alone(1, "cppc_cpufreq", [1_000_000, 3_600_000]).cpu(1, "cpu_capacity", 1024);
    let draft = sys.draft();
    let built = machine(&draft, "6.18");
    let khz: Vec<u32> = built.domains[1].opps.iter().map(|opp| opp.khz).collect();
    assert!(khz.len() > 100 && khz.len() <= 251, "{khz:?}");
    assert!(khz.iter().any(|khz| khz.abs_diff(1_350_000) <= 10_000), "{khz:?}");
    assert_eq!((khz[0], khz.last()), (1_000_000, Some(&3_600_000)));
    assert!(built.domains.iter().all(|domain| domain.no_table));
    let text = draft.toml();
    assert!(text.contains("khz_step = ") && text.contains("# ESTIMATE: performance levels"), "{text}");
    assert!(says(&draft, "the step is assumed"), "{:?}", draft.assumed);
    assert!(says(&draft, "whether cppc_cpufreq switches at once"), "{:?}", draft.assumed);
}

#[test]
fn the_step_is_that_of_ratios_or_of_performance_levels() {
    type Case = (&'static str, &'static [(&'static str, u32)], u32, Option<u32>);
    let cases: [Case; 4] = [
        ("intel_cpufreq", &[("cpufreq/base_frequency", 2_100_000)], 100_000, Some(2_100_000)),
        ("intel_pstate", &[], 100_000, None),
        ("amd-pstate", &[("acpi_cppc/nominal_freq", 2_800), ("acpi_cppc/nominal_perf", 112)], 25_000, Some(2_800_000)),
        ("amd-pstate-epp", &[("cpufreq/amd_pstate_highest_perf", 166)], 4_500_000 / 166, None),
    ];
    for (driver, files, step, base) in cases {
        let mut sys = Sys::default();
        sys.alone(0, driver, [400_000, 4_500_000]);
        for (name, value) in files {
            sys.cpu(0, name, value);
        }
        let draft = sys.draft();
        let grid = draft.domains[0].grid.clone().unwrap_or_else(|| panic!("{driver}: a grid"));
        assert_eq!((grid.step, grid.base, draft.no_table), (step, base, true), "{driver}");
        assert_eq!(draft.arch, Some("x86"), "{driver}");
        machine(&draft, "7.2");
    }
}

#[test]
fn a_list_that_was_not_copied_is_taken_from_the_statistics() {
    let mut sys = Sys::default();
    sys.alone(0, "cpufreq-dt", [600_000, 1_200_000]);
    sys.cpu(0, "cpufreq/stats/time_in_state", "600000 12\n900000 0\n1200000 7");
    let draft = sys.draft();
    assert_eq!(draft.domains[0].opps.iter().map(|opp| opp.khz).collect::<Vec<_>>(), [600_000, 900_000, 1_200_000]);
    assert_eq!((draft.no_table, draft.fast_switch), (false, Some(false)));
}

#[test]
fn a_driver_says_whether_it_switches_at_once() {
    let cases = [
        ("intel_cpufreq", "0", Some(true)),
        ("acpi-cpufreq", "0", Some(true)),
        ("acpi-cpufreq", "0-1", None),
        ("cpufreq-dt", "0-1", Some(false)),
        ("scmi", "0-1", None),
        ("apple-cpufreq", "0-1", Some(true)),
        ("unheard-of", "0", None),
    ];
    for (driver, related, expected) in cases {
        let mut sys = Sys::default();
        sys.alone(0, driver, [600_000, 1_200_000]).list(0, "600000 1200000");
        sys.cpu(0, "cpufreq/affected_cpus", related).cpu(1, "topology/core_id", 1);
        sys.files.iter_mut().filter(|(path, _)| path.ends_with("related_cpus")).for_each(|f| f.1 = related.to_owned());
        let draft = sys.draft();
        assert_eq!(draft.fast_switch, expected, "{driver} {related}");
        assert_eq!(says(&draft, "fast_switch"), expected.is_none(), "{driver}: {:?}", draft.assumed);
    }
}

#[test]
fn the_rate_limit_of_schedutil_is_used_and_other_tunables_are_listed() {
    let mut sys = Sys::default();
    sys.alone(0, "cpufreq-dt", [600_000, 1_200_000]).list(0, "600000 1200000");
    sys.cpu(0, "cpufreq/schedutil/rate_limit_us", 2_000).cpu(0, "cpufreq/schedutil/hispeed_freq", 900_000);
    sys.cpu(0, "cpufreq/bios_limit", 1_200_000).cpu(0, "cpufreq/scaling_max_freq", 900_000);
    sys.cpu(0, "acpi_cppc/reference_perf", 10);
    let draft = sys.draft();
    assert_eq!((draft.rate_limit_us, machine(&draft, "6.12").domains[0].rate_limit_us), (Some(2_000), Some(2_000)));
    for words in ["not used of cpufreq: bios_limit, hispeed_freq", "were limited to ?..=900000", "reference_perf"] {
        assert!(says(&draft, words), "{words}: {:?}", draft.assumed);
    }
}

#[test]
fn x86_is_frequency_invariant_by_maker_and_release() {
    let with_counters = ":feature:,0000,007C,";
    let cases = [
        ("cpu:type:x86,ven0000fam0006mod0055", true, [false, true, true]),
        ("cpu:type:x86,ven0002fam0017mod0031", true, [false, false, true]),
        ("cpu:type:x86,ven0002fam0010mod0002", false, [false; 3]),
        ("", false, [false, true, true]),
    ];
    for (modalias, cppc, expected) in cases {
        let mut sys = Sys::default();
        sys.alone(0, "acpi-cpufreq", [1_200_000, 2_600_000]).list(0, "2600000 1200000");
        if cppc {
            sys.cpu(0, "acpi_cppc/highest_perf", 200);
        }
        if !modalias.is_empty() {
            sys.put("devices/system/cpu/modalias", format!("{modalias}{with_counters}"));
        }
        let draft = sys.draft();
        let found = ["5.4", "5.10", "6.12"].map(|profile| machine(&draft, profile).domains[0].freq_invariant);
        assert_eq!(found, expected, "{modalias}");
        assert!(says(&draft, "frequency invariance: "), "{:?}", draft.assumed);
        let built = file(&draft).build(&PlatformOptions::new("7.2")).expect("a machine");
        assert!(built.assumptions.iter().any(|line| line.contains("frequency invariance: ")), "`check` lists it");
    }
    let mut without = Sys::default();
    without.alone(0, "acpi-cpufreq", [1_200_000, 2_600_000]).list(0, "2600000 1200000");
    without.put("devices/system/cpu/modalias", "cpu:type:x86,ven0000fam0006mod0055:feature:,0000,0001,");
    assert!(!machine(&without.draft(), "7.2").domains[0].freq_invariant, "no APERF and MPERF");
}

#[test]
fn a_file_of_x86_that_says_nothing_is_invariant_from_5_7_on() {
    let text = "schema = 1\nname = \"a\"\narch = \"x86\"\n[[perf_domain]]\nid = \"d\"\ncpus = [0]\ncapacity = 1024\n\
                opps = [{ khz = 1000000 }]\n";
    let file = platform::parse(&SourceFile::new("a.toml", text)).expect("good");
    let at = |profile: &str| file.machine(&PlatformOptions::new(profile)).expect("a machine").domains[0].freq_invariant;
    assert_eq!(["5.4", "5.10", "7.2"].map(at), [false, true, true]);
}

#[test]
fn cpus_that_are_off_leave_no_gap_anywhere() {
    let mut sys = Sys::default();
    for cpu in (0..4).chain(8..12) {
        let core = cpu / 4 * 4;
        sys.alone(cpu, "acpi-cpufreq", [2_000_000, 3_800_000]).list(cpu, "3800000 3000000 2000000");
        sys.cpu(cpu, "topology/thread_siblings_list", format!("{core}-{}", core + 3));
        sys.cpu(cpu, "cache/index3/level", 3).cpu(cpu, "cache/index3/shared_cpu_list", format!("{core}-{}", core + 3));
    }
    sys.put("devices/system/cpu/present", "0-11").put("devices/system/cpu/online", "0-3,8-11");
    for (node, list) in [(0, "0-3"), (8, "8-11")] {
        sys.put(format!("devices/system/node/node{node}/cpulist"), list);
        sys.put(format!("devices/system/node/node{node}/distance"), if node == 0 { "10 40" } else { "40 10" });
    }
    let draft = sys.draft();
    assert_eq!(draft.smt, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!((&draft.llc, &draft.nodes), (&draft.smt, &draft.smt));
    assert!(says(&draft, "switched off are left out: 4-7"), "{:?}", draft.assumed);
    assert!(says(&draft, "0-3 as they were, 4-7 were 8-11"), "{:?}", draft.assumed);
    assert_eq!(machine(&draft, "7.2").cpus.len(), 8);
}

#[test]
fn many_cpus_with_a_frequency_each_are_one_table() {
    let mut sys = Sys::default();
    for cpu in 0..1024 {
        sys.alone(cpu * 2, "intel_cpufreq", [800_000, 3_000_000]);
    }
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("large.txt");
    fs::write(&path, sys.text()).expect("room");
    let draft = imported(&path);
    assert_eq!((draft.domains.len(), machine(&draft, "7.2").domains.len()), (1, 1024));
    sys.alone(4000, "intel_cpufreq", [800_000, 3_000_000]);
    fs::write(&path, sys.text()).expect("room");
    let text = render(&import(&path, &Options::default()).expect_err("refused"), 200, false);
    assert!(text.contains("1025 CPUs") && text.contains("1..=1024") && text.contains("large.txt"), "{text}");
}

#[test]
fn rings_of_nodes_and_caches_over_nodes_are_made_what_can_be_modelled() {
    let mut sys = Sys::default();
    for cpu in 0..4 {
        sys.alone(cpu, "intel_cpufreq", [800_000, 3_000_000]);
        sys.cpu(cpu, "cache/index0/level", 3).cpu(
            cpu,
            "cache/index0/shared_cpu_list",
            if cpu < 2 { "0-1" } else { "2-3" },
        );
        sys.put(format!("devices/system/node/node{cpu}/cpulist"), cpu);
    }
    for (node, row) in ["10 16 22 16", "16 10 16 22", "22 16 10 16", "16 22 16 10"].into_iter().enumerate() {
        sys.put(format!("devices/system/node/node{node}/distance"), row);
    }
    let draft = sys.draft();
    assert_eq!(draft.node_distances[0], [10, 22, 22, 22]);
    assert_eq!(draft.llc, [[0], [1], [2], [3]]);
    assert!(says(&draft, "node0/distance:1:1): "), "{:?}", draft.assumed);
    assert!(says(&draft, "index0/shared_cpu_list:1:1): the cache is cut at nodes"), "{:?}", draft.assumed);
    assert_eq!(machine(&draft, "7.2").nodes.len(), 4);
}

#[test]
fn the_largest_cpus_may_be_off_and_some_lack_a_last_cache() {
    let mut sys = Sys::default();
    for (cpu, capacity) in [(0, 400), (1, 400), (2, 800), (3, 1024)] {
        sys.alone(cpu, "cpufreq-dt", [600_000, 1_200_000]).list(cpu, "600000 1200000").cpu(
            cpu,
            "cpu_capacity",
            capacity,
        );
        sys.cpu(cpu, "cache/index0/level", 1).cpu(cpu, "cache/index0/shared_cpu_list", cpu);
        if cpu > 1 {
            sys.cpu(cpu, "cache/index2/level", 2).cpu(cpu, "cache/index2/shared_cpu_list", "2-3");
        }
    }
    sys.put("devices/system/cpu/online", "0-2");
    let draft = sys.draft();
    assert_eq!(draft.domains.iter().map(|d| d.capacity).collect::<Vec<_>>(), [Some(512), Some(512), Some(1024)]);
    assert_eq!(draft.llc, [vec![0], vec![1], vec![2]]);
    assert!(says(&draft, "the largest capacity is 800"), "{:?}", draft.assumed);
}

#[test]
fn a_list_that_is_none_is_refused_at_its_place() {
    let folder = tempfile::tempdir().expect("room");
    let mut sys = Sys::default();
    sys.alone(0, "cpufreq-dt", [600_000, 1_200_000]).cpu(0, "topology/thread_siblings_list", "0-x");
    let refused = import(&sys.folder(folder.path()), &Options::default()).expect_err("refused");
    let text = render(&refused, 200, false);
    assert!(text.contains("thread_siblings_list:1:1") && text.contains("no list of CPU numbers"), "{text}");
    let pasted = folder.path().join("pasted.txt");
    fs::write(&pasted, sys.text()).expect("room");
    let text = render(&import(&pasted, &Options::default()).expect_err("refused"), 200, false);
    assert!(text.contains("pasted.txt:5:") && text.contains("0-x"), "{text}");
}

/// An Energy Model of three points that cost the same.
fn model(flags: &str) -> Sys {
    let mut sys = Sys::default();
    let root = "kernel/debug/energy_model/cpu0";
    sys.put(format!("{root}/cpus"), "0-3").put(format!("{root}/flags"), flags);
    for (khz, uw, perf, inefficient) in
        [(600_000, 180_000, 512, 1), (900_000, 270_000, 768, 1), (1_200_000, 360_000, 1024, 0)]
    {
        let state = format!("{root}/ps:{khz}");
        sys.put(format!("{state}/frequency"), khz).put(format!("{state}/power"), uw);
        sys.put(format!("{state}/performance"), perf).put(format!("{state}/cost"), 3515);
        sys.put(format!("{state}/inefficient"), inefficient);
    }
    sys
}

#[test]
fn points_that_the_kernel_calls_inefficient_are_marked_where_its_flags_say_so() {
    let folder = tempfile::tempdir().expect("room");
    for (flags, marks) in [("0x3", [true, true, false]), ("0x1", [false; 3])] {
        let draft = imported(&model(flags).folder(&folder.path().join(flags)).join("kernel/debug/energy_model"));
        assert_eq!(machine(&draft, "6.12").domains[0].inefficient, marks, "{flags}");
        assert!(says(&draft, "`cost` of the Energy Model is not used"), "{:?}", draft.assumed);
        assert_eq!(says(&draft, "no point is passed over"), flags == "0x1", "{:?}", draft.assumed);
    }
}

#[test]
fn an_energy_model_as_people_paste_it_is_read() {
    let folder = tempfile::tempdir().expect("room");
    let as_folder = imported(&model("0x3").folder(&folder.path().join("a")).join("kernel/debug/energy_model"));
    let grep = model("0x3").text();
    let relative = grep.replace("/sys/kernel/debug/energy_model/", "./");
    let quoted = format!("$ grep -r . /sys/kernel/debug/energy_model\n{}", grep.replace("/sys", "> /sys"));
    let head = |out: String, line: &str| {
        let (path, value) = line.rsplit_once(':').expect("a colon");
        out + &format!("==> {path} <==\n{value}\n\n")
    };
    let heads = grep.lines().fold(String::new(), head);
    for (name, text) in [("grep", &grep), ("relative", &relative), ("quoted", &quoted), ("head", &heads)] {
        let path = folder.path().join(format!("{name}.txt"));
        fs::write(&path, text).expect("room");
        let draft = imported(&path);
        assert_eq!(draft.domains, as_folder.domains, "{name}");
        assert_eq!(says(&draft, "line 1 of"), name == "quoted", "{:?}", draft.assumed);
    }
    let path = folder.path().join("grep.txt");
    let old = import(&path, &Options { milliwatts: true, ..Options::default() }).expect("read");
    assert_eq!(old.domains[0].opps[0].power_mw, Some(180_000.0));
}

#[test]
fn an_energy_model_names_its_unit_in_some_kernels() {
    let mut sys = model("0x3");
    sys.files.retain(|(path, _)| !path.ends_with("flags"));
    sys.put("kernel/debug/energy_model/cpu0/units", "milliWatts");
    let folder = tempfile::tempdir().expect("room");
    let draft = imported(&sys.folder(folder.path()).join("kernel/debug/energy_model"));
    assert_eq!(draft.domains[0].opps[0].power_mw, Some(180_000.0));
    assert!(says(&draft, "as `units` says"), "{:?}", draft.assumed);
}

#[test]
fn points_of_an_energy_model_do_not_become_those_of_a_driver_without_a_list() {
    let mut sys = Sys::default();
    for cpu in 0..4 {
        sys.alone(cpu, "cppc_cpufreq", [400_000, 2_600_000]);
    }
    sys.files.iter_mut().filter(|(path, _)| path.ends_with("related_cpus")).for_each(|file| file.1 = "0-3".to_owned());
    sys.files.extend(model("0x3").files);
    let folder = tempfile::tempdir().expect("room");
    let pasted = folder.path().join("both.txt");
    fs::write(&pasted, sys.text()).expect("room");
    let draft = imported(&pasted);
    assert!(draft.domains[0].grid.is_some() && draft.domains[0].opps.is_empty());
    assert!(says(&draft, "600000, 900000, 1200000 kHz"), "{:?}", draft.assumed);
    machine(&draft, "7.2");
}

#[test]
fn an_energy_model_fills_domains_of_which_a_cpu_is_off() {
    let mut sys = Sys::default();
    for cpu in 0..4 {
        sys.alone(cpu, "cpufreq-dt", [600_000, 1_200_000]).list(cpu, "600000 900000 1200000");
    }
    sys.files.iter_mut().filter(|(path, _)| path.ends_with("related_cpus")).for_each(|file| file.1 = "0-3".to_owned());
    sys.put("devices/system/cpu/online", "0-1,3").files.extend(model("0x3").files);
    let folder = tempfile::tempdir().expect("room");
    let root = sys.folder(folder.path());
    let mut draft = import(&root, &Options::default()).expect("read");
    draft.fill(import(&root.join("kernel/debug/energy_model"), &Options::default()).expect("read"));
    draft.finish();
    let built = machine(&draft, "6.12");
    assert_eq!((built.cpus.len(), built.domains[0].opps[2].power_uw), (3, 360_000));
    assert_eq!(built.domains[0].inefficient, [true, true, false]);
}

#[test]
fn tables_of_phones_before_the_energy_model_give_capacities() {
    let tree = r#"/ { cpus {
        L: cpu@0 { compatible = "arm,cortex-a53"; sched-energy-costs = <&CPU_0 &CLUSTER_0>; efficiency = <1024>; };
        B: cpu@1 { compatible = "arm,cortex-a57"; sched-energy-costs = <&CPU_1 &CLUSTER_0>; };
        energy-costs {
            CPU_0: core-cost0 { busy-cost-data = <200 33 446 74>; idle-cost-data = <6 6>; };
            CPU_1: core-cost1 { busy-cost-data = <500 200 1024 616>; };
            CLUSTER_0: cluster-cost0 { busy-cost-data = <500 25 1024 50>; };
        };
    }; };"#;
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("phone.dts");
    fs::write(&path, tree).expect("room");
    let draft = imported(&path);
    assert_eq!(draft.domains.iter().map(|d| d.capacity).collect::<Vec<_>>(), [Some(446), Some(1024)]);
    for words in ["the largest of sched-energy-costs", "not used of CPUs: efficiency", "busy-cost-data, idle-cost-data"]
    {
        assert!(says(&draft, words), "{words}: {:?}", draft.assumed);
    }
    fs::write(&path, tree.replace("<200 33 446 74>", "<300000 33 446000 74>")).expect("room");
    let draft = imported(&path);
    assert!(says(&draft, "not used: sched-energy-costs"), "{:?}", draft.assumed);
}

#[test]
fn powers_that_a_tree_states_mark_points_that_cost_no_less() {
    let point = |mhz: u32, uw: u32| format!("o{mhz} {{ opp-hz = /bits/ 64 <{mhz}000000>; opp-microwatt = <{uw}>; }};");
    let points = [point(500, 100_000), point(1000, 150_000), point(2000, 900_000)].concat();
    let tree = format!(
        "/ {{ cpus {{ cpu@0 {{ compatible = \"arm,cortex-a53\"; operating-points-v2 = <&t>; }}; }}; t: t {{ opp-shared; {points} }}; }};"
    );
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("a.dts");
    fs::write(&path, tree).expect("room");
    assert_eq!(machine(&imported(&path), "6.12").domains[0].inefficient, [true, false, false]);
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.up_to(all.len() as u64) as usize]
    }

    fn often(&mut self) -> bool {
        self.up_to(8) > 0
    }
}

const DRIVERS: [&str; 12] = [
    "intel_pstate",
    "intel_cpufreq",
    "amd-pstate",
    "amd-pstate-epp",
    "acpi-cpufreq",
    "cppc_cpufreq",
    "cpufreq-dt",
    "scmi",
    "powernv-cpufreq",
    "powernow-k8",
    "unheard-of",
    "",
];
const MODALIASES: [&str; 6] = [
    "cpu:type:x86,ven0000fam0006mod0055:feature:,007C,",
    "cpu:type:x86,ven0002fam0010mod0002:feature:,007C,",
    "cpu:type:x86,ven0009fam0018mod0000:feature:,0000,",
    "cpu:type:aarch64:feature:,0000,",
    "",
    "",
];

/// A machine of any kind: packages of cores of threads, with numbers far apart, off, without policies, without caches.
fn random(dice: &mut Dice) -> Sys {
    let mut sys = Sys::default();
    let (cores, threads) = (1 + dice.up_to(6) as u32, dice.one_of(&[1, 1, 2, 4]));
    let spread = dice.one_of(&[1, 1, 2, 5]);
    let far = dice.up_to(2) == 0;
    let number =
        |core: u32, thread: u32| if far { (core + thread * cores) * spread } else { core * threads * spread + thread };
    let all: Vec<Vec<u32>> = (0..cores).map(|core| (0..threads).map(|thread| number(core, thread)).collect()).collect();
    let driver = dice.one_of(&DRIVERS);
    let shared = dice.up_to(3);
    let (is_odd, has_capacities) = (dice.up_to(3) == 0, dice.up_to(3) == 0);
    for core in &all {
        let together = core.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        for &cpu in core {
            sys.cpu(cpu, "topology/thread_siblings_list", &together);
            if !driver.is_empty() && (!is_odd || dice.often()) {
                let related = if shared == 0 { &together } else { &cpu.to_string() };
                frequencies(&mut sys, dice, cpu, driver, related);
            }
            idle(&mut sys, dice, cpu);
            if dice.often() {
                let own = dice.one_of(&[&together, &together, &cpu.to_string()]).clone();
                sys.cpu(cpu, "cache/index2/level", 2).cpu(cpu, "cache/index2/shared_cpu_list", own);
            }
            if has_capacities && (!is_odd || dice.often()) {
                sys.cpu(
                    cpu,
                    "cpu_capacity",
                    if is_odd { dice.one_of(&[0, 300, 700, 1024]) } else { dice.one_of(&[300, 700]) },
                );
            }
        }
    }
    let numbers: Vec<u32> = all.concat();
    let on: Vec<String> = numbers.iter().filter(|_| dice.often()).map(u32::to_string).collect();
    if dice.up_to(2) == 0 && !on.is_empty() {
        sys.put("devices/system/cpu/online", on.join(","));
    }
    sys.put("devices/system/cpu/modalias", dice.one_of(&MODALIASES));
    nodes(&mut sys, dice, &numbers);
    sys
}

fn frequencies(sys: &mut Sys, dice: &mut Dice, cpu: u32, driver: &str, related: &str) {
    let ends = dice.one_of(&[[400_000, 3_000_000], [800_000, 800_000], [0, 2_000_000], [1_200_000, 5_100_000]]);
    sys.alone(cpu, driver, ends).cpu(cpu, "cpufreq/affected_cpus", related);
    let path = format!("devices/system/cpu/cpu{cpu}/cpufreq/related_cpus");
    sys.files.iter_mut().filter(|(known, _)| *known == path).for_each(|file| file.1 = related.to_owned());
    if dice.up_to(3) == 0 {
        sys.list(cpu, "2000000 1500000 1500000 1000000 ").cpu(cpu, "cpufreq/scaling_boost_frequencies", "2500000");
    }
    if dice.up_to(3) == 0 {
        sys.cpu(cpu, "acpi_cppc/highest_perf", dice.one_of(&[1, 166, 255, 4_000_000]));
        sys.cpu(cpu, "acpi_cppc/nominal_perf", dice.one_of(&[0, 100])).cpu(cpu, "acpi_cppc/nominal_freq", 2_400);
    }
    sys.cpu(cpu, "cpufreq/cpuinfo_transition_latency", dice.one_of(&["0", "20000", "4294967295"]));
    sys.cpu(cpu, "cpufreq/schedutil/rate_limit_us", dice.one_of(&["500", "10000", "99000000"]));
}

fn idle(sys: &mut Sys, dice: &mut Dice, cpu: u32) {
    for state in 0..dice.up_to(5) {
        let folder = format!("cpuidle/state{state}");
        sys.cpu(cpu, &format!("{folder}/name"), dice.one_of(&["C1", "C2", "WFI"]));
        sys.cpu(cpu, &format!("{folder}/latency"), dice.one_of(&["1", "300", "90", "4294967295"]));
        if dice.often() {
            sys.cpu(cpu, &format!("{folder}/residency"), dice.one_of(&["1", "900", "20"]));
        }
        sys.cpu(cpu, &format!("{folder}/disable"), dice.one_of(&["0", "0", "1"]));
    }
}

fn nodes(sys: &mut Sys, dice: &mut Dice, cpus: &[u32]) {
    let count = dice.one_of(&[0, 1, 2, 4, 8]);
    let kind = dice.up_to(4);
    for node in 0..count {
        let own = cpus.iter().enumerate().filter(|(at, _)| *at as u64 % count == node).map(|(_, cpu)| cpu.to_string());
        sys.put(format!("devices/system/node/node{node}/cpulist"), own.collect::<Vec<_>>().join(","));
        let mut far = |other: u64| match (node.abs_diff(other), kind) {
            (0, _) => 10,
            (apart, 0) => 10 + 6 * apart.min(count - apart),
            (_, 1) => 20,
            (apart, 2) => 11 + apart * 3,
            _ => dice.one_of(&[12, 21, 32, 255]),
        };
        let row: Vec<String> = (0..count).map(|other| far(other).to_string()).collect();
        sys.put(format!("devices/system/node/node{node}/distance"), row.join(" "));
    }
}

#[test]
fn a_machine_of_any_kind_becomes_a_file_or_is_refused_at_a_place_of_its_source() {
    let folder = tempfile::tempdir().expect("room");
    let mut dice = Dice(39);
    let mut files = 0;
    for round in 0..400 {
        let sys = random(&mut dice);
        let path = folder.path().join(format!("{round}.txt"));
        fs::write(&path, sys.text()).expect("room");
        let mut draft = match import(&path, &Options::default()) {
            Ok(draft) => draft,
            Err(refused) => {
                let text = render(&refused, 200, false);
                assert!(text.contains(&format!("{round}.txt")), "{text}");
                continue;
            }
        };
        draft.finish();
        let read = file(&draft);
        let numbers: Vec<u32> = draft.domains.iter().flat_map(|domain| domain.cpus.clone()).collect();
        assert!(numbers.iter().max().is_some_and(|max| *max as usize == numbers.len() - 1), "{numbers:?}");
        if round % 40 == 0 {
            let there = imported(&sys.folder(&folder.path().join(round.to_string())));
            assert_eq!((&there.domains, &there.smt, &there.llc), (&draft.domains, &draft.smt, &draft.llc));
            assert_eq!(there.node_distances, draft.node_distances);
        }
        files += usize::from(read.machine(&PlatformOptions::new("6.12")).is_ok());
    }
    assert!(files > 100, "{files} machines can be simulated");
}
