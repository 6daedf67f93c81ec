// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of runs: tables, JSON, equal results for equal inputs whatever the number of jobs.

use crate::support;
use crate::support::{file, good, pelton, snapshot};
use serde_json::Value;

const RT: [&str; 8] = [
    "--platform",
    "hikey-6220",
    "--workload",
    "periodic:name=rt,run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0 + busy:cpus=0",
    "--hz",
    "1000",
    "--duration",
    "1s",
];

fn with<'a>(verb: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![verb];
    arguments.extend(RT);
    arguments.extend(rest);
    arguments
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&good(arguments)).expect("JSON")
}

#[test]
fn a_small_run_as_table() {
    snapshot("run", &good(&with("run", &["--profile", "4.16", "--seed", "7"])));
}

#[test]
fn a_run_as_json_and_csv_says_the_same() {
    let run = json(&with("run", &["--format", "json"]));
    assert_eq!(run["run"]["platform"], "hikey-6220");
    assert_eq!(run["run"]["seed"], 1);
    let transitions =
        run["rows"].as_array().expect("rows").iter().find(|r| r["quantity"] == "transitions").expect("row");
    let csv = good(&with("run", &["--format", "csv"]));
    assert!(
        csv.contains(&format!("run,,transitions,{},count,\n", transitions["value"].as_f64().expect("number"))),
        "{csv}"
    );
}

#[test]
fn energy_that_is_not_known_is_empty_in_tables_and_null_in_json_with_the_reason() {
    let question = ["--platform", "odroid-n2-s922x", "--workload", "busy", "--duration", "100ms"];
    let run = |rest: &[&str]| good(&[&["run"], &question[..], rest].concat());
    let reason = "not known: the platform gives no power of busy CPUs";
    assert!(run(&[]).contains(&format!("energy: {reason}")));
    assert!(run(&["--format", "csv"]).contains(&format!("run,,energy_mj,,mJ,{reason}\n")));
    let rows: Value = serde_json::from_str(&run(&["--format", "json"])).expect("JSON");
    let energy = rows["rows"].as_array().expect("rows").iter().find(|r| r["quantity"] == "energy_mj").expect("a row");
    assert!(energy["value"].is_null() && energy["note"] == reason, "{energy}");
    let policies = ["--policy", "7.2", "--policy", "5.10", "--seeds", "2", "--only", "energy_mj"];
    let compared = good(&[&["compare"], &question[..], &policies[..]].concat());
    assert!(compared.contains(&format!("energy: {reason}")), "{compared}");
    let emulated = ["--platform", "qemu-arm64-big-little", "--workload", "busy", "--duration", "100ms"];
    let partly = good(&[&["run"], &emulated[..]].concat());
    assert!(partly.contains("energy: active power only: idle and cluster power are not known"), "{partly}");
}

#[test]
fn tasks_of_one_name_stay_apart() {
    let question = ["--platform", "hikey-6220", "--workload", "busy:cpus=0 + busy:cpus=0,nice=5", "--duration", "1s"];
    let csv = good(&[&["run"], &question[..], &["--format", "csv"]].concat());
    let ran = |name: &str| {
        let row = csv.lines().find_map(|line| line.strip_prefix(&format!("task,{name},run_ms,"))).expect(name);
        row.split(',').next().and_then(|ms| ms.parse::<f64>().ok()).expect("a number")
    };
    assert!(ran("busy-0") > 2.0 * ran("busy-0#2"), "{csv}");
    let table = good(&[&["run"], &question[..]].concat());
    let cells = |name: &str| {
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(name)).expect(name);
        line.split_whitespace().nth(1).map(str::to_owned)
    };
    assert_ne!(cells("busy-0"), cells("busy-0#2"), "{table}");
}

#[test]
fn every_policy_may_have_its_own_rate_limit() {
    let question = with("compare", &["--seeds", "2", "--only", "evaluations", "--format", "csv"]);
    let policies = ["--policy", "7.2", "--policy", "7.2,rate_limit_us=50000"];
    let csv = good(&[&question[..], &policies[..]].concat());
    // The last column is the workload, whose text has commas.
    let median = |line: &str| line.rsplit_once(",\"")?.0.rsplit(',').nth(9)?.parse().ok();
    let medians: Vec<f64> = csv.lines().skip(1).filter_map(median).collect();
    assert_eq!(medians.len(), 2, "{csv}");
    assert!(medians[1] < 0.95 * medians[0], "{csv}");
}

#[test]
fn what_has_no_effect_under_a_policy_is_said() {
    let warned = |rest: &[&str]| {
        let run = pelton(&with("run", rest));
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr
    };
    assert!(warned(&["--set", "up_rate_limit_us=500"]).contains("`up_rate_limit_us` has no effect"));
    assert!(warned(&["--set", "gate_cost_ns=5"]).contains("`gate_cost_ns` has no effect"));
    assert!(warned(&["--policy", "composite", "--rate-limit-us", "500"]).contains("the rate limit has no effect"));
    assert!(warned(&["--set", "rate_limit_us=500", "--set", "gate=r1_asym"]).contains("`rate_limit_us` has no effect"));
    assert!(!warned(&["--set", "gate=up_down", "--set", "up_rate_limit_us=500"]).contains("no effect"));
    assert!(!warned(&["--rate-limit-us", "500"]).contains("no effect"));
}

#[test]
fn template_words_get_their_values_from_the_command_line() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, file) = file(&folder, "t.json");
    let text = r#"{"tasks": {"a": {"run": 1000, "loop": __LOOPS__}}, "global": {"calibration": 355, "duration": 1}}"#;
    std::fs::write(path, text).expect("written");
    let question = ["run", "--platform", "hikey-6220", "--workload", &file];
    let refused = pelton(&question);
    assert!(refused.code == 3 && refused.stderr.contains("--define LOOPS=VALUE"), "{}", refused.stderr);
    let csv = good(&[&question[..], &["--define", "LOOPS=7", "--format", "csv"]].concat());
    assert!(csv.contains("task,a-0,events,7,"), "{csv}");
    let wrong = pelton(&[&question[..], &["--define", "loops"]].concat());
    assert!(wrong.code != 0 && wrong.stderr.contains("NAME=VALUE"), "{}", wrong.stderr);
}

#[test]
fn equal_inputs_and_seed_give_equal_bytes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = |name: &str, seed: &str| {
        let (path, text) = file(&folder, name);
        good(&with("run", &["--log", &text, "--seed", seed]));
        std::fs::read(path).expect("the log was written")
    };
    let first = log("a.plog", "3");
    assert!(first.len() > 1000, "{} bytes", first.len());
    assert_eq!(first, log("b.plog", "3"));
    assert_ne!(first, log("c.plog", "4"));
}

#[test]
fn a_trace_is_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, text) = file(&folder, "out.pftrace");
    good(&with("run", &["--trace", &text]));
    assert!(std::fs::metadata(path).expect("the trace was written").len() > 1000);
}

/// Frequency that the governor multiplied by utilization, kHz, in a decision about a normal task alone.
fn reference_khz(platform: &str, profile: &str) -> (f64, f64) {
    let task = "periodic:run_us=3000,period_us=10000,cpus=0";
    let question = ["--workload", task, "--duration", "1s", "--at", "0.5s", "--cpu", "0", "--format", "json"];
    let explained = json(&[&["explain", "--platform", platform, "--profile", profile], &question[..]].concat());
    let decision = &explained["decision"];
    let number = |value: &Value| value.as_f64().expect("number");
    let raw_khz = number(&decision["raw_khz"]);
    (raw_khz * 1024.0 * 4.0 / (5.0 * number(&decision["terms"]["effective"])), number(&decision["prev_khz"]))
}

#[test]
fn x86_asks_by_the_present_frequency_up_to_5_4_and_by_the_highest_from_5_10() {
    let near = |a: f64, b: f64| (a - b).abs() < b / 200.0;
    // The driver has no table: the request is raw, the hardware runs at the next multiple of 100 MHz.
    let hardware = |request_khz: f64| (request_khz / 1e5).ceil() * 1e5;
    for profile in ["4.12", "4.16", "4.19", "5.4"] {
        let (reference_khz, now_khz) = reference_khz("intel-i7-6700", profile);
        assert!(near(reference_khz, hardware(now_khz)) && now_khz < 3e6, "{profile}: {reference_khz} at {now_khz} kHz");
    }
    for profile in ["5.10", "6.1", "6.12", "7.2"] {
        let (reference_khz, now_khz) = reference_khz("intel-i7-6700", profile);
        assert!(near(reference_khz, 4e6) && now_khz < 3e6, "{profile}: {reference_khz} at {now_khz} kHz");
    }
    let (reference_khz, _) = reference_khz("hikey-6220", "4.19");
    assert!(near(reference_khz, 1.2e6), "Arm is invariant before x86 is: {reference_khz}");
}

#[test]
fn neighbouring_seeds_are_different_runs() {
    let of = |seed: &str| good(&with("run", &["--seed", seed, "--format", "csv"]));
    for (even, odd) in [("0", "1"), ("2", "3"), ("100", "101")] {
        assert!(of(even) != of(odd), "seeds {even} and {odd}");
        assert_eq!(of(even), of(even));
    }
}

/// Processor time of the programs that this one has started and waited for.
fn children() -> std::time::Duration {
    let usage =
        nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    let time = usage.user_time();
    std::time::Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000)
}

#[test]
fn ten_thousand_tasks_take_no_minutes() {
    // A few tenths of a second when optimised; cost that grows with the square of the tasks is above 20 s.
    let before = children();
    for model in ["periodic:run_us=1,period_us=100000,threads=10000", "busy:threads=10000", "hackbench:groups=250"] {
        good(&["run", "--platform", "juno-r0", "--workload", model, "--duration", "20ms"]);
    }
    // Other tests of this file may run at the same time: they count too.
    let took = children() - before;
    assert!(took.as_secs() < 15, "{took:?}");
}

#[test]
fn jobs_change_no_comparison() {
    let compare = |jobs| {
        let policies = ["--policy", "4.16", "--policy", "4.16,rt_signal=on,rt_in_sum=on"];
        let rest = [&policies[..], &["--seeds", "4", "--format", "json", "--jobs", jobs]].concat();
        good(&with("compare", &rest))
    };
    let one = compare("1");
    assert_eq!(one, compare("2"));
    let comparison: Value = serde_json::from_str(&one).expect("JSON");
    let row =
        comparison["rows"].as_array().expect("rows").iter().find(|r| r["quantity"] == "transitions").expect("row");
    assert_eq!(row["scope"], "run");
    assert!(row["cells"][1]["change_pct"].as_f64().is_some_and(|c| c < -50.0), "{row}");
}

#[test]
fn a_comparison_says_what_it_is_and_answers_first() {
    let policies = ["--policy", "4.16", "--policy", "7.2,rate_limit_us=500"];
    let ask = |rest: &[&'static str]| good(&with("compare", &[&policies[..], &["--seeds", "2"], rest].concat()));
    let whole: Value = serde_json::from_str(&ask(&["--format", "json"])).expect("JSON");
    let run = &whole["run"];
    assert_eq!((run["schema"].as_u64(), run["platform"].as_str()), (Some(2), Some("hikey-6220")), "{run}");
    assert!(run["workload"].is_string() && run["hz"].is_u64() && run["duration_ns"].is_u64(), "{run}");
    assert_eq!(
        (whole["plans"][1]["rate_limit_us"].as_u64(), whole["plans"][0]["rate_limit_us"].as_u64()),
        (Some(500), None)
    );
    assert_eq!(whole["plans"][1]["set"]["rate_limit_us"], "500");
    assert!(whole["rows"][0]["cells"][0]["values"].is_null(), "values only where they are asked for");
    let whole: Value = serde_json::from_str(&ask(&["--format", "json", "--values"])).expect("JSON");
    let sum: f64 = whole["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|r| r["scope"] == "frequency")
        .filter_map(|r| r["cells"][0]["values"][0].as_f64())
        .sum();
    assert!((sum - 100.0).abs() < 1e-4, "one domain is somewhere all the time: {sum}");
    let text = ask(&[]);
    let places = ["in short", "\nrun\n", "\nfrequency (", "\nidle ("].map(|part| text.find(part));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{text}");
    let short = ask(&["--summary"]);
    assert!(short.contains("energy") && short.contains("wakeup_us_avg") && short.lines().count() <= 24, "{short}");
}

#[test]
fn jobs_change_no_table() {
    let table = |jobs| {
        let arguments = ["reproduce", "rt-utilization", "--seeds", "2", "--format", "json", "--jobs", jobs];
        let mut table: Value = serde_json::from_str(&support::pelton(&arguments).stdout).expect("JSON");
        table["seconds"] = Value::Null;
        table
    };
    assert_eq!(table("1"), table("2"));
}

#[test]
fn a_table_has_the_published_shape_and_its_claims_decide_the_exit_code() {
    let outcome = support::pelton(&["reproduce", "rt-utilization", "--seeds", "6", "--format", "json"]);
    assert!(outcome.stdout.starts_with("{\n  \"result\": \"reproduce\","), "{}", outcome.stdout);
    let table: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(table["runs"], 30, "four sides with rows, and one that a probe looks at");
    for row in table["rows"].as_array().expect("rows") {
        assert!(row["published"].is_number() && row["simulated"].is_number(), "{row}");
        assert_eq!(row["ci95"].as_array().map(Vec::len), Some(2), "{row}");
        assert!(["calibrated", "predicted"].contains(&row["role"].as_str().expect("role")), "{row}");
        assert!(["match", "differs"].contains(&row["verdict"].as_str().expect("verdict")), "{row}");
    }
    let all_hold = table["claims"].as_array().expect("claims").iter().all(|c| c["holds"] == true);
    assert_eq!(outcome.code, if all_hold { 0 } else { 1 });
}

#[test]
fn two_seeds_have_no_confidence_and_say_so() {
    let says = "no 95 % confidence: it needs six seeds";
    let table =
        |seeds| support::pelton(&["reproduce", "rt-utilization", "--only", "transitions", "--seeds", seeds]).stdout;
    assert!(table("2").contains(says) && !table("6").contains(says), "{}", table("2"));
    let compare = |seeds| good(&with("compare", &["--policy", "4.16", "--policy", "7.2", "--seeds", seeds]));
    assert!(compare("2").contains(says) && !compare("6").contains(says), "{}", compare("2"));
}

#[test]
fn an_experiment_file_of_the_user_s_own_gives_what_the_same_table_inside_gives() {
    let embedded = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/published/rt-utilization.toml");
    let text = std::fs::read_to_string(embedded).expect("it is there");
    let folder = tempfile::tempdir().expect("temporary folder");
    let (own, name) = support::file(&folder, "own.toml");
    std::fs::write(&own, &text).expect("room");
    let rows = |name: &str| {
        let arguments = ["reproduce", name, "--only", "transitions", "--seeds", "1", "--format", "json"];
        let table: Value = serde_json::from_str(&support::pelton(&arguments).stdout).expect("JSON");
        (table["rows"].clone(), table["claims"].clone())
    };
    let (found, claims) = rows(&name);
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    assert_eq!(claims.as_array().map(Vec::len), Some(3));
    assert_eq!((found, claims), rows("rt-utilization"));

    std::fs::write(&own, text.replacen("seeds = ", "seeds = many # ", 1)).expect("room");
    let outcome = support::pelton(&["reproduce", &name]);
    assert_eq!(outcome.code, 3);
    let line = text.lines().position(|l| l.starts_with("seeds = ")).expect("has seeds") + 1;
    assert!(outcome.stderr.contains(&format!("own.toml:{line}:")), "{}", outcome.stderr);
}

#[test]
fn mistakes_in_an_experiment_file_are_shown_where_they_are() {
    let embedded = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/published/rt-utilization.toml");
    let text = std::fs::read_to_string(embedded).expect("it is there");
    let folder = tempfile::tempdir().expect("temporary folder");
    let (own, name) = file(&folder, "own.toml");
    let line_of = |text: &str, part: &str| text.lines().position(|l| l.contains(part)).expect("it is there") + 1;
    let workload = text.lines().find(|l| l.starts_with("[workload.")).expect("has workloads").to_owned();
    let cases = [
        (("duration_s = 15", "duration_s = -1"), "duration_s = -1", "duration_s must be above 0"),
        (("schema = 1", "schema = 9"), "schema = 9", "schema 9 is not known"),
        (("seeds = ", "seeds = 99999 # "), "seeds = 99999", "seeds must be 1 to 10000"),
        (
            ("[assumptions]", "[machine]\nswitch_time_us = 1000001\n[assumptions]"),
            "= 1000001",
            "must be at most 1000000",
        ),
        (
            ("[assumptions]", "[machine]\nhook_cpu_ns = 200000000\n[assumptions]"),
            "= 200000000",
            "must be at most 100000000",
        ),
        (("hz = ", "hz = 5000 # "), "hz = 5000", "hz must be one of 100, 250, 300, 1000"),
        (("quantity = \"transitions\"", "quantity = \"transition\""), "\"transition\"", "no quantity is called"),
        (("profile = \"", "profile = \"9"), "profile = \"9", "profile"),
        (("platform = \"hikey", "platform = \"hikex"), "platform = \"hikex", "hikex"),
        (("priority=10", "priority=1000"), "priority=1000", "priority"),
        ((workload.as_str(), &format!("{workload}\nduration_s = 1e9")), "duration_s = 1e9", "at most 86400"),
    ];
    for ((from, to), part, words) in cases {
        assert!(text.contains(from), "{from}");
        let wrong = text.replacen(from, to, 1);
        std::fs::write(&own, &wrong).expect("room");
        let refused = pelton(&["reproduce", &name, "--seeds", "1"]);
        let place = format!("own.toml:{}:", line_of(&wrong, part));
        assert_eq!(refused.code, 3, "{to}: {}", refused.stderr);
        assert!(refused.stderr.contains(&place) && refused.stderr.contains(words), "{to} {place}\n{}", refused.stderr);
    }
}

#[test]
fn messages_name_their_file_and_stay_short() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(path, text), (table, table_text)] = ["w.json", "p.toml"].map(|name| file(&folder, name));
    let run = |what: &str, workload: &str| {
        std::fs::write(&path, what).expect("room");
        pelton(&["run", "--platform", "hikey-6220", "--workload", workload, "--duration", "1ms"])
    };
    for empty in ["", "{\"global\": {\"duration\": 1}}", &format!("{{{}}}", " ".repeat(17 << 20))] {
        let refused = run(empty, &text);
        assert!(refused.code == 3 && refused.stderr.contains("w.json"), "{}", refused.stderr);
    }
    let key = "k".repeat(300_000);
    let refused = run(&format!("{{\"tasks\": {{\"a\": {{\"{key}\": 1}}}}}}"), &text);
    assert!(refused.code == 3 && refused.stderr.len() < 3000, "{} bytes", refused.stderr.len());
    std::fs::write(&table, format!("{key} = 1\n")).expect("room");
    let refused = pelton(&["platform", "check", &table_text]);
    assert!(refused.code == 3 && refused.stderr.len() < 30_000, "{} bytes", refused.stderr.len());
    let marked =
        "\u{feff}{\"tasks\": {\"a\": {\"run\": 1000, \"loop\": 1}}, \"global\": {\"calibration\": 1, \"duration\": 1}}";
    let with_mark = run(marked, &text);
    assert_eq!((with_mark.code, with_mark.stderr.as_str()), (0, ""));
}

#[test]
fn explain_fills_in_every_step() {
    let explanation = json(&with("explain", &["--profile", "4.16", "--at", "500ms", "--changed", "--format", "json"]));
    let steps: Vec<&str> =
        explanation["steps"].as_array().expect("steps").iter().filter_map(|s| s["name"].as_str()).collect();
    let expected = [
        "who asked",
        "gate",
        "fair utilization",
        "request",
        "headroom",
        "largest of the domain",
        "raw frequency",
        "operating point",
        "commit",
        "next change",
    ];
    assert_eq!(steps, expected);
    assert_eq!(explanation["requests"].as_array().map(Vec::len), Some(8));
    assert!(explanation["time_ns"].as_u64().is_some_and(|t| t <= 500_000_000));
    assert!(explanation["next_allowed_ns"].as_u64() > explanation["time_ns"].as_u64());
}

#[test]
fn a_trace_says_why_tasks_went_where_they_went() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, text) = file(&folder, "run.pftrace");
    let run = "run --platform juno-r2-scmi --profile 6.12 --workload periodic:run_us=500,period_us=9000,threads=6";
    good(&[&run.split(' ').collect::<Vec<_>>()[..], &["--duration", "300ms", "--quiet", "--trace", &text]].concat());
    let trace = std::fs::read(path).expect("the run wrote it");
    let has = |text: &str| trace.windows(text.len()).any(|part| part == text.as_bytes());
    for text in ["placements", "executing_cpu", "energy_added", "balances"] {
        assert!(has(text), "the trace has no `{text}`");
    }
}

#[test]
fn explain_as_table() {
    snapshot("explain", &good(&with("explain", &["--profile", "4.16", "--at", "500ms", "--changed"])));
}

#[test]
fn a_placement_is_explained_with_every_cpu_it_could_have_had() {
    let common =
        ["explain", "--platform", "hikey960", "--workload", "periodic:name=p,threads=4,run_us=1000,period_us=16000"];
    let all = |rest: &[&'static str]| [&common[..], rest].concat();
    let told: Value =
        serde_json::from_str(&good(&all(&["--placement=p-0", "--at", "500ms", "--format", "json"]))).expect("JSON");
    assert_eq!((told["task"].as_str(), told["rule"].as_str()), (Some("p-0"), Some("energy")));
    let candidates = told["candidates"].as_array().expect("a list");
    assert_eq!(candidates.len(), 8);
    let added = |c: &Value| c["energy_added"].as_u64();
    let chosen = candidates.iter().find(|c| c["cpu"] == told["chosen_cpu"]).expect("one of them");
    let asked: Vec<u64> = candidates.iter().filter_map(added).collect();
    assert!(
        asked.len() > 1 && asked.iter().all(|&energy| added(chosen).is_some_and(|least| least <= energy)),
        "{told}"
    );

    let old: Value =
        serde_json::from_str(&good(&all(&["--placement", "--profile", "4.12", "--format", "json"]))).expect("JSON");
    assert!(old["energy_aware"] == false && old["start"].is_string(), "4.12 places as well: {old}");
    let absent = pelton(&all(&["--placement=q"]));
    assert!(absent.code == 3 && absent.stderr.contains("its tasks: p-0"), "{}", absent.stderr);
}

/// New tasks go down through groups: what each group had, and the steps lead to the CPU that was chosen.
#[test]
fn a_new_tasks_placement_is_explained_group_by_group() {
    let common = ["explain", "--platform", "hikey960", "--same-phase", "--placement=p-3", "--at", "2ms", "--workload"];
    let load = "periodic:name=p,threads=12,run_us=3000,period_us=16000";
    let all = |rest: &[&'static str]| [&common[..], &[load], rest].concat();
    for (profile, typed) in [("7.2", true), ("5.10", true), ("5.4", false), ("4.12", false)] {
        let told: Value = serde_json::from_str(&good(&all(&["--profile", profile, "--format", "json"]))).expect("JSON");
        let steps = told["groups"].as_array().expect("steps");
        assert!(told["event"] == "new task" && !steps.is_empty(), "{profile}: {told}");
        assert_eq!(steps[steps.len() - 1]["next_cpu"], told["chosen_cpu"], "{profile}: {told}");
        for step in steps {
            let groups = step["groups"].as_array().expect("groups");
            let of = |role: &str| {
                let has = |g: &&Value| g["roles"].as_array().is_some_and(|roles| roles.iter().any(|r| r == role));
                groups.iter().filter(has).collect::<Vec<_>>()
            };
            let cpus = |g: &Value| g["cpus"].as_array().expect("CPUs").clone();
            let mut whole: Vec<Value> = groups.iter().flat_map(cpus).collect();
            whole.sort_by_key(Value::as_u64);
            assert_eq!(Some(&whole), step["domain"].as_array(), "{profile}: groups make up the domain");
            assert!(of("own").len() == 1 && cpus(of("own")[0]).contains(&step["cpu"]), "{profile}: {step}");
            for chosen in of("chosen") {
                assert!(cpus(chosen).contains(&step["next_cpu"]), "{profile}: {step}");
            }
            assert_eq!(of("chosen").is_empty(), step["next_cpu"] == step["cpu"], "{profile}: {step}");
            assert!(groups.iter().all(|g| g["type"].is_string() == typed), "{profile}: {step}");
            assert!(groups.iter().all(|g| g["runnable_load"].is_null() == typed), "{profile}: {step}");
        }
    }
    let text = good(&all(&["--profile", "7.2"]));
    for line in
        ["groups around CPU 0; decided by: idle CPUs; goes on from CPU", "own", "best other, chosen", "has spare"]
    {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
    assert!(!text.contains("search for an idle CPU"), "{text}");
}

/// Explanation of a wake-up: the winner by loads of the waker's and the previous CPU, and the extent of the search for
/// an idle CPU.
#[test]
fn a_wake_up_is_explained_with_the_loads_and_the_limit_that_it_read() {
    let old = ["explain", "--platform", "hikey-6220", "--profile", "5.4", "--workload", "hackbench:groups=1"];
    let all = [&old[..], &["--placement", "--at", "20ms"]].concat();
    let told: Value = serde_json::from_str(&good(&[&all[..], &["--format", "json"]].concat())).expect("JSON");
    let load = |key: &str| told["affine"][key].as_i64().expect("a load");
    let (this, previous) = (load("this_effective"), load("previous_effective"));
    let won = if this < previous { "this_cpu" } else { "prev_cpu" };
    assert!(told["affine"]["by"] == "wake_affine_weight" && told["affine"]["winner"] == told[won], "{told}");
    assert_eq!((&told["scan"]["rule"], &told["scan"]["nr_idle_scan"]), (&"SIS_PROP".into(), &Value::Null), "{told}");
    assert!(told["scan"]["avg_idle_ns"].is_u64() && told["scan"]["avg_scan_cost_ns"] == 0, "{told}");
    let text = good(&all);
    assert!(
        text.contains(&format!(
            "effective loads: CPU {} {this}, CPU {} {previous}",
            told["this_cpu"], told["prev_cpu"]
        ))
    );
    assert!(text.contains(", SIS_PROP (mean idle time ") && text.contains(" looked at\n"), "{text}");

    let full = "busy:threads=8 + periodic:name=q,threads=3,run_us=3000,period_us=16000";
    let new = ["explain", "--platform", "hikey-6220", "--workload", full, "--placement=q-1", "--at", "200ms"];
    let told: Value = serde_json::from_str(&good(&[&new[..], &["--format", "json"]].concat())).expect("JSON");
    assert_eq!((&told["scan"]["rule"], &told["scan"]["seen"]), (&"SIS_UTIL".into(), &0.into()), "all are busy: {told}");
    assert_eq!(told["scan"]["nr_idle_scan"], told["scan"]["limit"], "{told}");
    assert!(good(&new).contains("SIS_UTIL (nr_idle_scan 0): at most 0 CPUs, 0 looked at\n"));
}

/// A shell that starts a compiler beside a busy task.
#[test]
fn a_new_programs_placement_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, text) = file(&folder, "shell.json");
    let tasks = r#""sh": { "loop": 1, "phases": { "a": { "loop": 1, "cpus": [0], "run": 2000 },
        "b": { "loop": 1, "cpus": [0, 1, 2, 3], "execve": "cc", "run": 5000 } } }, "hog": { "run": 30000, "cpus": [0] }"#;
    std::fs::write(path, format!("{{ \"tasks\": {{ {tasks} }} }}")).expect("written");
    let common = ["explain", "--platform", "juno-r0", "--workload", &text, "--placement=sh-0"];
    let common = [&common[..], &["--duration", "9ms", "--same-phase"]].concat();
    // What `run` counts is a note of the file's.
    let told: Value =
        serde_json::from_str(&pelton(&[&common[..], &["--format", "json"]].concat()).stdout).expect("JSON");
    assert_eq!((&told["event"], &told["rule"]), (&"new program".into(), &"new program".into()), "{told}");
    assert!(told["prev_cpu"] == 0 && told["chosen_cpu"] != 0, "{told}");
    assert!(!told["groups"].as_array().expect("steps").is_empty(), "{told}");
    assert!(pelton(&common).stdout.contains("new program of `sh-0`"));
}

/// Seven busy tasks on two CPUs: a third CPU may be used from the middle of the run on, and the balance that says so is
/// found.
#[test]
fn a_balance_is_explained_with_its_groups_and_what_it_moved() {
    let common = ["explain", "--platform", "juno-r0", "--duration", "500ms", "--workload", "busy:threads=7"];
    let all = |rest: &[&'static str]| [&common[..], rest].concat();
    let told = |rest: &[&'static str]| -> Value {
        serde_json::from_str(&good(&all(&[rest, &["--format", "json"]].concat()))).expect("JSON")
    };
    for profile in ["5.4", "5.10", "7.2"] {
        let moved = told(&["--balance", "--changed", "--profile", profile]);
        let (end, source) = (moved["end"].as_str().expect("words"), moved["busiest_cpu"].as_u64());
        assert!(source.is_some_and(|cpu| Some(cpu) != moved["cpu"].as_u64()), "{moved}");
        assert!(end == "the running task is stopped and moves" || moved["moved"].as_u64() > Some(0), "{moved}");
        let roles: Vec<_> = moved["groups"].as_array().expect("a list").iter().map(|g| g["role"].as_str()).collect();
        assert_eq!(roles, [Some("own"), Some("busiest")], "{moved}");
        let any = told(&["--balance", "--profile", profile]);
        assert!(any["number"].as_u64() > moved["number"].as_u64(), "most balances move nothing");
    }
    let text = good(&all(&["--balance", "--cpu", "2"]));
    assert!(text.contains("of CPU 2, ") && text.contains("groups that were compared"), "{text}");
    let folder = tempfile::tempdir().expect("temporary folder");
    let (trace, name) = file(&folder, "b.pftrace");
    good(&[&["run"], &common[1..], &["-q", "--trace", &name]].concat());
    let bytes = std::fs::read(trace).expect("written");
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(["balances", "balance, moved", "busiest_group", "overloaded", "imbalance"].iter().all(|text| has(text)));
    assert!(good(&["trace", "info", &name]).contains("damage   none"), "readers pass over them");
    let short = ["explain", "--platform", "juno-r0", "--duration", "1us", "--workload", "busy:threads=7", "--balance"];
    let none = pelton(&short);
    assert!(none.code == 3 && none.stderr.contains("no balance of that kind"), "{}", none.stderr);
}

#[test]
fn updates_of_blocked_load_are_told_with_their_reasons() {
    let common = ["explain", "--platform", "sc7180-trogdor", "--duration", "500ms", "--walk", "--workload"];
    let load = "periodic:run_us=500,period_us=10000,threads=6";
    let told: Value = serde_json::from_str(&good(&[&common[..], &[load, "--format", "json"]].concat())).expect("JSON");
    let reasons = told["reasons"].as_array().expect("a list");
    let sum = |key: &str| reasons.iter().filter_map(|r| r[key].as_u64()).sum::<u64>();
    assert!(!reasons.is_empty() && sum("queues") >= sum("updates") && sum("cost_ns") > 0, "{told}");
    assert!(told["cost_ns"].as_u64() > Some(0), "this platform gives costs: {told}");
    let run = good(&[&["run"], &common[1..5], &["--workload", load, "--format", "json"]].concat());
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let rows = run["rows"].as_array().expect("rows");
    let row = rows.iter().find(|r| r["quantity"] == "blocked_updates_per_s").expect("a row");
    let counted = (row["value"].as_f64().expect("known") * 0.5).round() as u64;
    assert_eq!(counted, sum("updates"), "the report counts as many: {told}");
}

#[test]
fn a_row_without_a_number_in_a_wrong_world_differs_there_and_ends_nothing() {
    let outcome = pelton(&["reproduce", "rt-utilization", "--seeds", "1", "--wrong-worlds"]);
    assert!(!outcome.stderr.contains("no report has"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("rejected"), "{}", outcome.stdout);
}

/// Of two busy tasks the second starts on a little CPU (4.12 to 4.19 give the first the other cluster, where nothing
/// runs). Kernels to 4.19 leave it there, and nothing but a warning says that this is no
/// answer about the load; from 5.4 on it is moved.
#[test]
fn a_task_that_stays_on_a_cpu_too_small_for_it_is_said() {
    let said = |platform: &str, load: &str, policy: &[&str]| {
        let question =
            ["run", "--platform", platform, "--workload", load, "--duration", "1s", "--same-phase", "--format", "json"];
        let run: Value = serde_json::from_str(&good(&[&question[..], policy].concat())).expect("JSON");
        serde_json::from_value::<Vec<String>>(run["remarks"].clone()).expect("texts").join("\n")
    };
    for platform in ["juno-r0", "pixel6-gs101"] {
        for profile in ["4.12", "4.19"] {
            let text = said(platform, "busy:threads=2", &["--profile", profile]);
            assert!(text.contains("too small") && text.contains("`busy-1`"), "{platform} {profile}: {text}");
            assert_eq!(said(platform, "busy:cpus=0", &["--profile", profile]), "", "it may not leave");
        }
        for policy in [["--profile", "5.4"], ["--profile", "7.2"]] {
            assert_eq!(said(platform, "busy:threads=2", &policy), "", "{platform} {policy:?} moves it");
        }
    }
    let question = ["--platform", "juno-r0", "--workload", "busy:threads=2", "--duration", "1s"];
    assert!(
        good(&[&["run", "--same-phase"], &question[..], &["--profile", "4.12"]].concat())
            .contains("\nnote: ran on a CPU too small")
    );
    let policies = ["--policy", "7.2", "--policy", "4.12", "--seeds", "1", "--summary"];
    let compared = good(&[&["compare"], &question[..], &policies[..]].concat());
    assert!(compared.contains("note: [2] ran on a CPU") && !compared.contains("note: [1]"), "{compared}");
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, log) = file(&folder, "busy.plog");
    good(&[&["run"], &question[..], &["--log", &log]].concat());
    let replay = |profile: &str| pelton(&["replay", &log, "--profile", profile, "--format", "json"]);
    let (new, old) = (replay("7.2"), replay("4.12"));
    assert!(old.stderr.contains("too small") && old.stdout.contains("too small"), "{}", old.stderr);
    assert!(!new.stderr.contains("too small"), "{}", new.stderr);
    assert!(old.stdout.contains("were still to do at the end"), "a little CPU does not manage it: {}", old.stderr);
}

#[test]
fn how_many_stars_are_chance_is_said_in_every_format() {
    let question = ["compare", "--platform", "juno-r0", "--workload", "busy", "--duration", "200ms", "--seeds", "6"];
    let policies = ["--policy", "7.2", "--policy", "7.2,rate_limit_us=10000"];
    let all = |rest: &[&str]| good(&[&question[..], &policies[..], rest].concat());
    let chance = &json(&[&question[..], &policies[..], &["--format", "json"]].concat())["chance"];
    let (intervals, stars) = (chance["intervals"].as_u64().expect("a number"), chance["stars"].as_u64());
    assert!(intervals > 20 && stars.is_some_and(|stars| stars > 0), "{chance}");
    assert_eq!(chance["stars_by_chance"].as_f64(), Some(intervals as f64 / 20.0));
    let words = format!("of {intervals} intervals have a star; where nothing changed, about");
    assert!(all(&[]).contains(&words));
    let charts = all(&["--charts"]);
    assert!(charts.trim_end().lines().last().is_some_and(|line| line.contains(&words)), "{charts}");
    let csv = all(&["--format", "csv"]);
    let row = csv.lines().find(|line| line.contains("transitions") && line.contains(",*,")).expect("a star");
    assert!(row.contains(&format!(",*,{intervals},")), "{row}");
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "c.svg");
    all(&["--plot", &name]);
    assert!(std::fs::read_to_string(path).expect("a picture").contains("by chance"));
}
