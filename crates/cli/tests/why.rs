// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton why`: shares of switches that were planted, finished runs that are kept, and requests that cannot be met.

use crate::support::{command, file, good, pelton};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

const LOAD: &str = "periodic:run_us=3000,period_us=10000,threads=3";

fn world<'a>(from: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let here = ["why", from, to, "--platform", "juno-r2", "--workload", LOAD, "--duration", "300ms", "-q"];
    [&here[..], more].concat()
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&good(&[words, &["--format", "json"]].concat())).expect("JSON")
}

/// The number that is asked for.
fn answer(why: &Value) -> &Value {
    let numbers = why["numbers"].as_array().expect("a list");
    numbers.iter().find(|number| number["quantity"] == why["metric"]).expect("the answer")
}

fn mean(estimate: &Value) -> f64 {
    estimate["mean"].as_f64().expect("a number")
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-5 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn a_single_switch_carries_everything() {
    let why = json(&world("7.2", "7.2,headroom_pct=80", &["--seeds", "6"]));
    let found = answer(&why);
    assert_eq!(why["players"].as_array().map(Vec::len), Some(1));
    assert_eq!(why["players"][0]["switches"][0]["to"], "80");
    assert_eq!((&found["verdict"], &found["shares"][0]["of_change_pct"]), (&"moved".into(), &100.0.into()));
    let (share, change) = (mean(&found["shares"][0]["share"]), mean(&found["change"]));
    assert!(near(share, change) && change > 1.0, "{share} {change}");
    let said = good(&world("7.2", "7.2,headroom_pct=80", &["--seeds", "6"]));
    assert!(said.starts_with("energy_mj rises by ") && said.contains("`headroom_pct` carries 100 % of it\n"), "{said}");
}

#[test]
fn two_switches_have_the_mean_of_alone_and_left_out() {
    let words = world("7.2", "7.2,headroom_pct=80,rate_limit_us=20000", &["--seeds", "6", "--orders", "2"]);
    let why = json(&words);
    assert_eq!(why["method"]["exact"], true);
    for number in why["numbers"].as_array().expect("a list") {
        let mut sum = 0.0;
        for share in number["shares"].as_array().expect("a list") {
            let by_hand = (mean(&share["alone"]) + mean(&share["left_out"])) / 2.0;
            assert!(near(mean(&share["share"]), by_hand), "{share}");
            sum += mean(&share["share"]);
        }
        assert!(near(sum, mean(&number["change"])), "{number}");
    }
    // The ends are what `compare` has.
    let compared = ["compare", "--policy", "7.2", "--policy", "7.2,headroom_pct=80,rate_limit_us=20000", "--values"];
    let here = ["--platform", "juno-r2", "--workload", LOAD, "--duration", "300ms", "-q", "--only", "energy_mj"];
    let compared = json(&[&compared[..], &here, &["--seeds", "6"]].concat());
    for (cell, end) in [(0, "from"), (1, "to")] {
        let values = compared["rows"][0]["cells"][cell]["values"].as_array().expect("values").clone();
        let mean = values.iter().filter_map(Value::as_f64).sum::<f64>() / 6.0;
        assert!(near(mean, answer(&why)[end].as_f64().expect("a number")), "{end}");
    }
}

#[test]
fn two_kernels_have_shares_of_drawn_orders_that_add_up() {
    let words = world("5.10", "6.12", &["--seeds", "6", "--orders", "12", "--metric", "wakeup_us_avg"]);
    let why = json(&words);
    assert_eq!((&why["method"]["exact"], &why["method"]["orders"]), (&false.into(), &12.into()));
    for number in why["numbers"].as_array().expect("a list") {
        let shares = number["shares"].as_array().expect("a list");
        let sum: f64 = shares.iter().map(|share| mean(&share["share"])).sum();
        // Each is rounded to six decimals.
        let change = mean(&number["change"]);
        assert!((sum - change).abs() <= 1e-5 * change.abs().max(1.0) + 1e-4, "{sum} {change}: {number}");
        assert_eq!(shares.len(), why["players"].as_array().map_or(0, Vec::len));
    }
    let players = why["players"].as_array().expect("a list");
    let pair = players.iter().find(|player| player["name"] == "perf_form + headroom").expect("they go together");
    assert!(pair["together"].as_str().is_some_and(|why| why.contains("contradict each other")), "{pair}");
    let quiet: Vec<&Value> = players.iter().filter(|player| player["changes_runs"] == false).collect();
    assert!(quiet.len() == 1 && quiet[0]["switches"].as_array().is_some_and(|all| all.len() > 5), "{quiet:?}");
    let again = json(&[&words[..], &["--jobs", "1"]].concat());
    assert_eq!(again, why, "the number of jobs changes no result");
}

#[test]
fn switches_that_change_nothing_are_one_line() {
    let said = good(&world("7.2", "7.2,group_idle=off,conservative_form=stops", &["--seeds", "2"]));
    assert!(said.contains("equal in every seed") && said.contains("2 others"), "{said}");
    assert!(said.contains("no run changed") && !said.contains("% of change"), "{said}");
    let none = good(&world("7.2", "7.2", &[]));
    assert!(none.starts_with("no switch or number differs between 7.2 and 7.2"), "{none}");
    let none = json(&world("7.2", "7.2", &[]));
    assert_eq!((&none["players"], &none["numbers"]), (&Value::Array(vec![]), &Value::Array(vec![])));
}

#[test]
fn runs_that_are_kept_are_not_run_again_and_change_no_byte() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "runs.txt");
    let words = world("7.2", "7.2,headroom_pct=80,rate_limit_us=20000", &["--seeds", "6", "--format", "json"]);
    let right = good(&words);
    let kept = [&words[..], &["--resume", &name]].concat();
    assert_eq!(good(&kept), right);
    let whole = std::fs::read_to_string(&path).expect("kept");
    assert_eq!(whole.lines().count(), 2 + 4 * 6);
    let half: Vec<&str> = whole.lines().take(13).collect();
    std::fs::write(&path, half.join("\n") + "\n").expect("room");
    assert_eq!(good(&kept), right);
    assert_eq!(std::fs::read_to_string(&path).expect("kept"), whole);
    let altered = |seed: &str| -> String {
        let row = |row: &str| {
            let mut cells: Vec<&str> = row.split('\t').collect();
            if cells.get(1) == Some(&seed) {
                cells[5] = "1e9";
            }
            cells.join("\t") + "\n"
        };
        whole.lines().map(row).collect()
    };
    // A value of the file is believed: nothing that it has ran again ...
    std::fs::write(&path, altered("2")).expect("room");
    assert_ne!(good(&kept), right);
    // ... but for one run of each policy, by which runs of other rules are noticed.
    std::fs::write(&path, altered("1")).expect("room");
    let outcome = pelton(&kept);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("of a program with other rules"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn a_killed_call_goes_on_from_what_it_kept() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "runs.txt");
    let to = "7.2,headroom_pct=80,rate_limit_us=20000";
    let words = |seeds: &'static str| world("7.2", to, &["--seeds", seeds, "--format", "json"]);
    let long = [&words("5000")[..], &["--jobs", "1", "--resume", &name]].concat();
    let mut child = command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    while !path.exists() {
        assert_eq!(child.try_wait().expect("child"), None);
        std::thread::yield_now();
    }
    child.kill().and_then(|()| child.wait()).expect("child");
    let rows = std::fs::read_to_string(&path).expect("kept").lines().count();
    assert!(rows > 2, "{rows}");
    assert_eq!(good(&[&words("7")[..], &["--resume", &name]].concat()), good(&words("7")));
    assert!(std::fs::read_to_string(&path).expect("kept").lines().count() >= rows);
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_can() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, other) = file(&folder, "other.txt");
    std::fs::write(&path, "mine\n").expect("room");
    let refused = |from, to, more: &[&str], code: i32, words: &str| {
        let outcome = pelton(&world(from, to, more));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{more:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{more:?}: {}", outcome.stderr);
    };
    let more = |words: &'static [&'static str]| words;
    refused("6.6", "7.2", more(&["--metric", "energy"]), 2, "energy_mj");
    refused("6.6", "7.2", more(&["--metric", "run_ms"]), 2, "run_ms");
    refused("6.6", "7.2", more(&["--orders", "3"]), 2, "an even number, 2 to 10000");
    refused("6.6", "7.2", more(&["--seeds", "10000", "--orders", "10000"]), 2, "fewer --seeds or --orders");
    refused("6.6", "7.2", more(&["--metric", "jank_pct", "--seeds", "1"]), 3, "takes one of those that are known here");
    refused(
        "6.6",
        "7.2,governor=ondemand",
        more(&["--metric", "short_ms", "--seeds", "1"]),
        3,
        "governor=schedutil only",
    );
    refused("6.6", "7.22", more(&[]), 3, "7.22");
    refused("6.6", "7.2,util_est=u9", more(&[]), 3, "u9");
    refused("6.6", "7.2", more(&["--resume", "-"]), 2, "kept in a file");
    refused("6.6", "7.2", more(&["--plot", "x.gif"]), 2, ".svg or .png");
    refused("6.6", "7.2", &["--resume", &other], 3, "this is no file of finished runs");
    refused("6.6", &other, &["--resume", &other], 2, "it would be lost");
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "mine\n");
    let missing = folder.path().join("no/such/runs.txt");
    refused(
        "7.2",
        "7.2,headroom_pct=80",
        &["--seeds", "1", "--resume", missing.to_str().expect("UTF-8")],
        4,
        "cannot create",
    );
}

#[test]
fn an_energy_that_is_not_known_is_no_answer() {
    let board =
        ["why", "6.6", "7.2", "--platform", "sc7280-herobrine", "--workload", LOAD, "--duration", "100ms", "-q"];
    let outcome = pelton(&[&board[..], &["--seeds", "1"]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("`energy_mj` is not known: the platform does not know the power"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("wakeup_us_avg"), "{}", outcome.stderr);
    let why = json(&[&board[..], &["--seeds", "1", "--orders", "2", "--metric", "wakeup_us_avg"]].concat());
    assert!(why["unknown"].as_array().is_some_and(|names| names.contains(&"energy_mj".into())), "{}", why["unknown"]);
}

#[test]
fn the_picture_has_a_bar_for_each_switch_that_changes_a_run() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "why.svg");
    let to = "7.2,headroom_pct=80,rate_limit_us=20000,group_idle=off";
    good(&world("7.2", to, &["--seeds", "6", "--plot", &name]));
    let svg = std::fs::read_to_string(Path::new(&path)).expect("a picture");
    for words in ["headroom_pct", "rate_limit_us", "energy_mj rises by", "juno-r2", "</svg>"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    assert!(!svg.contains(">group_idle<"), "{svg}");
}
