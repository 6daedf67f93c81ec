// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones and memory nodes as a user meets them.

use crate::support::{good, pelton};
use serde_json::Value;

/// Eight busy tasks make hikey960 hot within twenty seconds.
const HOT: [&str; 7] = ["--platform", "hikey960", "--workload", "busy:threads=8", "--duration", "20s", "-q"];

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&good(&[words, &["--format", "json"]].concat())).expect("JSON")
}

fn value(run: &Value, scope: &str, of: &str, quantity: &str) -> f64 {
    let rows = run["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["scope"] == scope && row["of"] == of && row["quantity"] == quantity);
    row.and_then(|row| row["value"].as_f64()).unwrap_or_else(|| panic!("{scope} {of} {quantity}"))
}

#[test]
fn a_hot_board_is_cooled_by_either_governor_and_says_how_far() {
    for governor in ["thermal=step_wise", "thermal=power_allocator"] {
        let run = json(&[&["run"], &HOT[..], &["--set", governor]].concat());
        let hottest = value(&run, "zone", "cls0", "temperature_c_max");
        assert!((70.0..80.0).contains(&hottest), "{governor}: {hottest}");
        let limit = value(&run, "domain", "big", "cooling_limit_mhz_avg");
        assert!(value(&run, "domain", "big", "throttled_pct") > 20.0 && limit < 2362.0, "{governor}: {limit}");
    }
    let free = json(&[&["run"], &HOT[..]].concat());
    assert!(free["rows"].as_array().expect("rows").iter().all(|row| row["scope"] != "zone"), "nothing is cooled");
    let table = good(&[&["run"], &HOT[..], &["--set", "thermal=step_wise", "--charts"]].concat());
    assert!(["thermal zones", "cooled domains", "temperature "].iter().all(|text| table.contains(text)), "{table}");
}

#[test]
fn a_reading_is_explained_with_its_trips_and_limits() {
    let of = |governor: &'static str, rest: &[&'static str]| {
        json(&[&["explain"], &HOT[..], &["--set", governor, "--thermal"], rest].concat())
    };
    let first = of("thermal=step_wise", &["--at", "0ms"]);
    assert_eq!((first["temperature_c"].as_f64(), first["trend"].as_str()), (Some(25.0), Some("stable")));
    assert_eq!(first["next_ms"].as_u64(), Some(1000), "the polling rate");
    let changed = of("thermal=power_allocator", &["--changed"]);
    let domains = changed["domains"].as_array().expect("a list");
    assert!(domains.iter().any(|d| d["state"] != d["state_before"]), "{changed}");
    let (budget, max) = (changed["power"]["budget_mw"].as_u64(), changed["power"]["max_mw"].as_u64());
    assert!(budget.is_some() && budget < max, "{changed}");
    assert!(changed["trips"][0]["reached"].as_bool() == Some(true), "{changed}");
    let none = pelton(&[&["explain"], &HOT[..], &["--thermal"]].concat());
    assert!(none.code == 3 && none.stderr.contains("thermal=step_wise"), "{}", none.stderr);
}

#[test]
fn a_trace_has_the_temperature_as_a_track() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("hot.pftrace");
    let name = path.to_str().expect("plain names");
    good(&[&["run"], &HOT[..], &["--set", "thermal=power_allocator", "--trace", name]].concat());
    let bytes = std::fs::read(&path).expect("written");
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(["Thermal zones", "temperature", "power budget", "cooling limit"].iter().all(|text| has(text)));
}

#[test]
fn what_is_assumed_is_said_and_what_is_not_known_is_refused() {
    let words: Vec<&str> = HOT.iter().copied().filter(|word| *word != "-q").collect();
    let run = pelton(&[&["run"], &words[..], &["--set", "thermal=step_wise"]].concat());
    assert!(run.code == 0 && run.stderr.contains("ASSUMED"), "{}", run.stderr);
    let cool = pelton(&["run", "--platform", "juno-r0", "--workload", "busy", "--set", "thermal=step_wise"]);
    assert!(cool.code != 0 && cool.stderr.contains("juno-r0 has no [[thermal_zone]]"), "{}", cool.stderr);
    let shown = good(&["platform", "show", "hikey960"]);
    assert!(shown.contains("thermal_zone cls0: trips") && shown.contains("65 75"), "{shown}");
}

/// Each mistake in a zone is reported with its line.
#[test]
fn mistakes_in_a_zone_have_a_place() {
    let board =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/platforms/hikey960.toml"));
    let board = board.expect("a built-in platform");
    let folder = tempfile::tempdir().expect("temporary folder");
    let changes = [
        ("  temperature_c = 75\n", "  temperature_c = 60\n", "trips are out of order"),
        (
            "cpus = [0, 1, 2, 3, 4, 5, 6, 7]\nweights",
            "cpus = [0, 1, 4, 5, 6, 7]\nweights",
            "`cpus` has a part of domain",
        ),
        ("weights = [1024, 512]", "weights = [1024]", "1 weights for 2 domains"),
        ("stage_quality = \"assumed\"\n", "", "does not say how `stage` is known"),
        ("passive_ms = 100\n", "", "passive_ms"),
        (
            "  temperature_c = 75\n  hysteresis_c = 1\n",
            "  temperature_c = 75\n  only_switches_on = true\n",
            "the last trip cools nothing",
        ),
        ("k_per_w = 11.111", "k_per_w = 0.0", "k_per_w"),
    ];
    for (at, (old, new, said)) in changes.into_iter().enumerate() {
        assert!(board.contains(old), "{old}");
        let path = folder.path().join(format!("{at}.toml"));
        std::fs::write(&path, board.replacen(old, new, 1)).expect("written");
        let checked = pelton(&["platform", "check", path.to_str().expect("plain names")]);
        let told = checked.stdout + &checked.stderr;
        assert!(checked.code != 0 && told.contains(said) && told.contains(".toml:"), "{old:?}: {told}");
    }
}

/// The domains of a server with two packages, smallest first, up to both memory nodes.
#[test]
fn a_placement_on_a_server_shows_the_domains_that_are_walked() {
    let load = "periodic:run_us=9000,period_us=24390,threads=8";
    let of = |platform: &'static str| {
        json(&["explain", "--platform", platform, "--workload", load, "--duration", "200ms", "--placement"])
    };
    let xeon = of("xeon-4309y-2s");
    let kinds = |told: &Value| -> Vec<String> {
        let domains = told["domains"].as_array().expect("a list");
        domains.iter().map(|d| d["kind"].as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(kinds(&xeon), ["threads", "cache", "nodes"], "{}", xeon["domains"]);
    let sizes: Vec<usize> =
        xeon["domains"].as_array().expect("a list").iter().map(|d| d["cpus"].as_array().map_or(0, Vec::len)).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]) && sizes.last() == Some(&32), "{sizes:?}");
    let epyc = of("epyc-7543p");
    assert!(kinds(&epyc).len() >= 3 && epyc["domains"][0]["kind"] == "threads", "{}", epyc["domains"]);
    let affine =
        |told: &Value| told["domains"].as_array().expect("a list").iter().filter(|d| d["role"] == "affine").count();
    assert_eq!((affine(&xeon), affine(&epyc)), (1, 1), "the smallest that spans the previous CPU");
}
