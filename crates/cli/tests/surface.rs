// SPDX-License-Identifier: GPL-2.0-or-later
//! Texts that a user sees before anything runs: help, and every kind of mistake with its exit code.

use crate::support::{command, file, good, pelton, snapshot};

const VERBS: [&str; 20] = [
    "run",
    "compare",
    "report",
    "serve",
    "sweep",
    "why",
    "replay",
    "reproduce",
    "check",
    "explain",
    "validate",
    "record",
    "live",
    "platform",
    "policy",
    "kernel",
    "workload",
    "trace",
    "result",
    "shell",
];

#[test]
fn help_fits_one_screen() {
    let help = good(&["--help"]);
    // Twenty-one verbs, the flags of all, and the exit codes.
    assert!(help.lines().count() <= 38, "{help}");
    assert!(help.lines().all(|l| l.chars().count() <= 100), "{help}");
    assert_eq!(help, good(&["-h"]));
    snapshot("help", &help);
}

#[test]
fn every_verb_has_an_example() {
    for verb in VERBS {
        let pages: &[&[&str]] = match verb {
            "platform" => &[&["platform", "show", "--help"], &["platform", "check", "--help"]],
            "policy" => &[&["policy", "show", "--help"]],
            "kernel" => &[&["kernel", "build", "--help"], &["kernel", "diff", "--help"]],
            "workload" => &[&["workload", "from-trace", "--help"]],
            "shell" => &[&["shell", "completions", "--help"], &["shell", "man", "--help"]],
            "result" => &[&["result", "quantities", "--help"], &["result", "schema", "--help"]],
            "trace" => &[&["trace", "info", "--help"], &["trace", "export", "--help"]],
            verb => &[&[verb, "--help"]],
        };
        for page in pages {
            let help = good(page);
            assert!(help.contains("Example") && help.contains(&format!("pelton {verb}")), "{page:?}\n{help}");
        }
    }
}

#[test]
fn shells_are_told_and_pages_can_be_made() {
    for shell in ["bash", "zsh", "fish"] {
        let script = good(&["shell", "completions", shell]);
        assert!(script.contains("--platform") && script.contains("reproduce"), "{shell}");
    }
    let page = good(&["shell", "man", "platform", "import"]);
    assert!(page.contains(".TH pelton-platform-import") && page.contains("energy_model"), "{page}");
    let folder = tempfile::tempdir().expect("temporary folder");
    let man = folder.path().join("man1");
    good(&["shell", "man", "--all", man.to_str().expect("plain names")]);
    let pages = std::fs::read_dir(&man).expect("a folder").count();
    assert!(pages > 20 && man.join("pelton-trace-export.1").exists(), "{pages}");
    let wrong = pelton(&["shell", "man", "comp"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean `compare`?"), "{}", wrong.stderr);
    assert!(good(&["help", "run"]).contains("--workload"));
}

#[test]
fn the_version_names_the_commit_and_the_rules() {
    let short = good(&["-V"]);
    let commit =
        short.strip_prefix(concat!("pelton ", env!("CARGO_PKG_VERSION"), " (")).unwrap_or_else(|| panic!("{short}"));
    let commit = commit.strip_suffix(")\n").unwrap_or_else(|| panic!("{short}"));
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_commit || commit == "commit unknown", "{short}");
    let long = good(&["--version"]);
    assert!(long.starts_with(&short) && long.contains(&format!("core {}, ", pelton_core::CORE_HASH)), "{long}");
    assert_eq!(good(&["run", "--version"]).lines().nth(1), long.lines().nth(1));
}

#[test]
fn a_workload_and_a_platform_come_from_standard_input_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let run = |arguments: &[&str], text: &str| {
        let path = folder.path().join("input");
        std::fs::write(&path, text).expect("room");
        let file = std::fs::File::open(&path).expect("there");
        command(arguments).stdin(file).output().expect("the program starts")
    };
    let load = r#"{"tasks": {"t": {"run": 2000, "timer": {"ref": "u", "period": 10000}}}, "global": {"duration": 1}}"#;
    let policies = ["--policy", "7.2", "--policy", "5.10", "--seeds", "2", "--summary", "-q"];
    let both = run(&[&["compare", "--platform", "hikey-6220", "--workload", "-"], &policies[..]].concat(), load);
    assert!(both.status.success(), "{}", String::from_utf8_lossy(&both.stderr));
    let board = good(&["platform", "show", "hikey-6220", "--format", "toml"]);
    let shown = run(&["run", "--platform", "-", "--workload", "busy", "--duration", "10ms"], &board);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let wrong = run(&["run", "--platform", "hikey-6220", "--workload", "-"], "{ \"tasks\": 1 }");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("(standard input):1"));
}

#[test]
fn waits_as_csv_are_refused_and_say_where_they_are() {
    let words =
        ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "1ms", "--waits", "--format", "csv"];
    let outcome = pelton(&words);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`--format json` has `waits`"), "{}", outcome.stderr);
}

#[test]
fn usage_mistakes_exit_with_2() {
    let cases: [(&[&str], &str); 12] = [
        (&["comprae"], "compare"),
        (&["run", "--platfrom", "x"], "--platform"),
        (&["run", "--workload", "x"], "--platform"),
        (&["run", "--platform", "hikey-6220", "--workload", "x", "--duration", "15"], "a number and a unit"),
        (&["run", "--platform", "hikey-6220", "--workload", "x", "--duration", "0s"], "above 0"),
        (&["run", "--format", "xml"], "possible values: table, json, csv"),
        (&["run", "--platform", "hikey-6220", "--workload", "x", "--waits", "--like-original"], "cannot be used with"),
        (&["reproduce", "rt-utilization", "--seeds", "1", "--all-seeds"], "cannot be used with"),
        (&["compare", "--platform", "hikey-6220", "--workload", "x"], "--policy"),
        (&["reproduce", "rt-utilisation"], "did you mean `rt-utilization`?"),
        (&["reproduce", "rt-utilization", "--only", "hackbench"], "no row of rt-utilization has `hackbench` in its id"),
        (&["explain", "--platform", "p", "--workload", "w", "--domain", "0", "--cpu", "1"], "cannot be used with"),
    ];
    for (arguments, expected) in cases {
        let outcome = pelton(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}\n{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{arguments:?}\n{}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
}

#[test]
fn input_mistakes_exit_with_3() {
    let run = |rest: &[&'static str]| {
        let mut arguments = vec!["run", "--duration", "10ms"];
        arguments.extend(rest);
        arguments
    };
    let rt = ["--platform", "hikey-6220", "--workload", "busy"];
    let cases: [(Vec<&str>, &str); 11] = [
        (run(&["--platform", "pixel6", "--workload", "busy"]), "did you mean `pixel6-gs101`?"),
        (run(&["--platform", "hikey-6221", "--workload", "busy"]), "hikey-6220"),
        (run(&["--platform", "hikey-6220", "--workload", "bsy"]), "busy"),
        (run(&["--platform", "hikey-6220", "--workload", "./missing.json"]), "missing.json"),
        (run(&[rt[0], rt[1], rt[2], "busy + limits:max_khz=1"]), "allowed: 208000..=1200000"),
        (run(&[rt[0], rt[1], rt[2], "busy + limits:cpus=8,max_khz=208000"]), "CPUs 0..=7"),
        (run(&[rt[0], rt[1], rt[2], rt[3], "--profile", "4.15"]), "4.16"),
        (run(&[rt[0], rt[1], rt[2], rt[3], "--set", "rt_signl=on"]), "rt_signal"),
        (run(&[rt[0], rt[1], rt[2], rt[3], "--set", "rt_signal=yes"]), "on"),
        (run(&[rt[0], rt[1], rt[2], rt[3], "--hz", "123"]), "250"),
        (vec!["platform", "check", "./missing.toml"], "missing.toml"),
    ];
    for (arguments, expected) in cases {
        let outcome = pelton(&arguments);
        assert_eq!(outcome.code, 3, "{arguments:?}\n{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{arguments:?}\n{}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_message_shows_what_was_typed_after_policy() {
    let world = ["compare", "--platform", "hikey-6220", "--workload", "busy", "--policy"];
    for (policy, place) in [("7.2,rt_signl=off", "--policy:1:5"), ("7.1,rt_signal=on", "--policy:1:1")] {
        let outcome = pelton(&[&world[..], &[policy]].concat());
        assert!(outcome.code == 3 && outcome.stderr.contains(place), "{policy}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(policy), "{}", outcome.stderr);
    }
}

#[test]
fn contradicting_switches_are_refused_with_the_reason() {
    let arguments =
        ["run", "--platform", "hikey-6220", "--workload", "busy", "--profile", "4.16", "--set", "rt_in_sum=on"];
    let outcome = pelton(&arguments);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("rt_signal"), "{}", outcome.stderr);
}

#[test]
fn what_the_machine_does_not_allow_exits_with_4() {
    for flag in ["--log", "--trace"] {
        let arguments =
            ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "10ms", flag, "/nonexistent/x"];
        let outcome = pelton(&arguments);
        assert_eq!(outcome.code, 4, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("cannot create /nonexistent/x") && outcome.stderr.contains("hint"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn lists_are_tables_json_and_csv() {
    assert!(good(&["platform", "list"]).contains("hikey-6220"));
    assert!(good(&["policy", "list", "--format", "csv"]).starts_with("switch,4.12,4.16,"));
    assert!(good(&["reproduce", "--list"]).contains("rt-utilization"));
    let switches: serde_json::Value =
        serde_json::from_str(&good(&["policy", "list", "--format", "json"])).expect("JSON");
    assert!(
        switches["switches"]
            .as_array()
            .is_some_and(|a| a.iter().any(|s| s["switch"] == "rt_in_sum" && s["defaults"]["4.16"] == "off"))
    );
}

#[test]
fn a_platform_is_shown_with_sources() {
    let shown = good(&["platform", "show", "hikey-6220"]);
    assert!(shown.contains("1200") && shown.contains("device tree"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&good(&["platform", "show", "hikey-6220", "--format", "json"])).expect("JSON");
    assert_eq!(json["name"], "hikey-6220");
}

#[test]
fn a_policy_shows_what_was_set() {
    let shown = good(&["policy", "show", "--profile", "4.16", "--set", "rt_signal=on"]);
    assert!(shown.contains("on (set)"), "{shown}");
}

#[test]
fn power_in_the_wrong_unit_does_not_pass_the_check() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "board.toml");
    let board = good(&["platform", "show", "juno-r0", "--format", "toml"]);
    std::fs::write(&path, &board).expect("room");
    assert!(good(&["platform", "check", &name]).contains(": good, 6 CPUs"));
    // Microwatts where milliwatts are meant: 42,361 mW of a little core.
    std::fs::write(&path, board.replacen("power_mw = 42.361", "power_mw = 42361", 1)).expect("room");
    let checked = pelton(&["platform", "check", &name]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    assert!(checked.stdout.contains("not good, the power of an operating point"), "{}", checked.stdout);
    assert!(checked.stderr.contains("are these microwatts?"), "{}", checked.stderr);
}

#[test]
fn lists_fit_a_page_in_a_pipe() {
    for list in ["policy", "platform"] {
        let text = good(&[list, "list"]);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!((60..=120).contains(&longest), "{list} list: {longest} columns");
        let rows = good(&[list, "list", "--format", "csv"]).lines().count();
        assert!(text.lines().count() >= rows, "{list} list: nothing is left out");
    }
}

#[test]
fn an_option_that_no_source_of_an_import_reads_is_a_mistake() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "board.dts");
    std::fs::write(path, "/dts-v1/; / { cpus { cpu@0 { compatible = \"arm,cortex-a53\"; }; }; };").expect("room");
    good(&["platform", "import", &name, "-q"]);
    for option in [&["--milliwatts"][..], &["--cpus", "3"]] {
        let refused = pelton(&[&["platform", "import", &name, "-q"], option].concat());
        assert!(refused.code == 2 && refused.stderr.contains(option[0]), "{option:?}: {}", refused.stderr);
    }
}

/// An Energy Model of a kernel before 6.0: two points, in milliwatts.
fn old_model(folder: &std::path::Path) -> String {
    for (name, text) in [
        ("cpus", "0-3"),
        ("ps:600000/frequency", "600000"),
        ("ps:600000/power", "180"),
        ("ps:1200000/frequency", "1200000"),
        ("ps:1200000/power", "360"),
    ] {
        let path = folder.join("cpu0").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        std::fs::write(path, text).expect("room");
    }
    folder.display().to_string()
}

#[test]
fn powers_in_another_unit_name_the_option_that_says_so() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let name = old_model(folder.path());
    let wrong = pelton(&["platform", "import", &name, "--from", "energy-model"]);
    assert!(wrong.code == 1 && wrong.stderr.contains("give --milliwatts"), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("watts?"), "{}", wrong.stderr);
    let right = pelton(&["platform", "import", &name, "--from", "energy-model", "--milliwatts", "-q"]);
    assert!(right.code == 0 && right.stdout.contains("power_mw = 180.0"), "{}{}", right.stdout, right.stderr);
}

#[test]
fn what_an_import_assumed_is_listed_by_check() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let sys = folder.path().join("sys/devices/system/cpu/cpu0/cpufreq");
    std::fs::create_dir_all(&sys).expect("room");
    let files = [
        ("related_cpus", "0"),
        ("scaling_driver", "acpi-cpufreq"),
        ("scaling_available_frequencies", "2600000 1200000"),
    ];
    files.into_iter().for_each(|(name, text)| std::fs::write(sys.join(name), text).expect("room"));
    let (_, board) = file(&folder, "old.toml");
    good(&["platform", "import", &folder.path().join("sys").display().to_string(), "-o", &board, "-q"]);
    let checked = good(&["platform", "check", &board]);
    assert!(
        checked.contains("frequency invariance: ") && checked.contains("freq_invariant_since = \"5.7\""),
        "{checked}"
    );
}
