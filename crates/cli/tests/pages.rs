// SPDX-License-Identifier: GPL-2.0-or-later
//! Report pages: as files, and in the distribution's Chromium.

use crate::support::{good, pelton};
use pelton_lab::number::number;
use pelton_lab::watch::Unwatched;
use pelton_report::{ReportRequest, report};
use serde_json::{Map, Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two rate limits on a phone: time lines, decisions, power, limits.
const PHONE: [&str; 10] = [
    "--platform",
    "pixel6-gs101",
    "--workload",
    "ui-frames",
    "--duration",
    "2s",
    "--policy",
    "7.2",
    "--policy",
    "7.2,rate_limit_us=10000",
];
/// Letters that would be markup, if they were not escaped.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The page that the program writes.
fn page(name: &str, arguments: &[&str]) -> (PathBuf, String) {
    let path = place(name);
    good(&[&["report", "--quiet", "-o", path.to_str().expect("UTF-8")], arguments].concat());
    let text = std::fs::read_to_string(&path).expect("a page");
    (path, text)
}

/// Opens a page in a browser; false: there is none here.
fn opens(path: &Path, options: &[&str]) -> bool {
    checked("check.mjs", path, options)
}

fn checked(script: &str, path: &Path, options: &[&str]) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web").join(script);
    let Ok(output) = Command::new("node").arg(script).arg(path).args(options).output() else { return false };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        matches!(output.status.code(), Some(0 | 4)),
        "{}: {said}{}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    output.status.code() == Some(0)
}

#[test]
fn a_page_of_runs_opens_everywhere_and_says_what_the_result_says() {
    let (path, text) = page("runs.html", &[&PHONE[..], &["--seeds", "4"]].concat());
    let result = good(&[&["compare", "--quiet", "--summary", "--format", "json", "--seeds", "4"], &PHONE[..]].concat());
    let result: Value = serde_json::from_str(&result).expect("JSON");
    let mut wanted = Map::new();
    for row in result["rows"].as_array().expect("rows") {
        let medians = row["cells"].as_array().expect("cells").iter().map(|cell| cell["median"].as_f64().map(number));
        wanted.insert(row["quantity"].as_str().expect("a name").to_owned(), medians.collect());
    }
    assert!(wanted.len() > 5 && text.contains("energy_mj"), "{wanted:?}");
    let numbers = place("numbers.json");
    std::fs::write(&numbers, Value::Object(wanted).to_string()).expect("room");
    if !opens(&path, &["--numbers", numbers.to_str().expect("UTF-8")]) {
        println!("not measured: pages in a browser (node, npm ci --prefix web, chromium)");
    }
}

#[test]
fn a_served_page_hands_its_time_lines_to_perfetto() {
    let (path, _) = page("served.html", &[&PHONE[..], &["--seeds", "1"]].concat());
    if !checked("check_perfetto.mjs", &path, &["--program", env!("CARGO_BIN_EXE_pelton")]) {
        println!("not measured: pages in a browser (node, npm ci --prefix web, chromium)");
    }
}

/// Answer to a request for a path of a server: the first line, and all of it.
fn asked(port: &str, path: &str, host: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.iter().position(|&byte| byte == b'\r').expect("a line");
    (String::from_utf8_lossy(&answer[..end]).into_owned(), answer)
}

#[test]
fn a_trace_is_served_once_to_those_who_know_its_name() {
    let log = place("served.plog");
    let load = ["--platform", "hikey-6220", "--workload", "busy", "--duration", "50ms", "--quiet"];
    good(&[&["run", "--log", log.to_str().expect("UTF-8")], &load[..]].concat());
    let mut server = Command::new(env!("CARGO_BIN_EXE_pelton"))
        .args(["serve", "--quiet", "--once", "--port", "0"])
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("piped")).read_line(&mut line).expect("a link");
    let address =
        line.trim().strip_prefix("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:").expect("a link of Perfetto");
    let (port, path) = address.split_at(address.find('/').expect("a path"));
    let own = format!("127.0.0.1:{port}");
    for (path, host) in [("/", own.as_str()), ("/trace.pftrace", &own), (path, "elsewhere.example")] {
        assert!(asked(port, path, host).0.contains("404"), "{path} for {host}");
    }
    let (first, answer) = asked(port, path, &own);
    let text = String::from_utf8_lossy(&answer).into_owned();
    assert!(first.contains("200") && text.contains("Access-Control-Allow-Origin: https://ui.perfetto.dev"), "{text}");
    assert!(server.wait().expect("it ends").success());
}

#[test]
fn a_page_of_policies_that_part_at_places_opens() {
    let load = ["--platform", "juno-r0", "--workload", "ui-frames", "--duration", "500ms", "--seeds", "1"];
    let policies = ["--policy", "5.10", "--policy", "6.12", "--policy", "7.2"];
    let (path, text) = page("places.html", &[&load[..], &policies].concat());
    assert!(text.contains("Table: CPUs as places for the task, [1], beside [3]"), "{}", path.display());
    if !opens(&path, &[]) {
        println!("not measured: pages in a browser (node, npm ci --prefix web, chromium)");
    }
}

#[test]
fn a_page_of_a_kept_result_opens_and_nothing_in_it_is_markup() {
    let kept = place("kept.json");
    let row = json!({"quantity": HOSTILE, "value": null, "cells": [{"median": 1.25}, {"median": 2}]});
    let value = json!({"result": "compare", "schema": 2, "run": {"platform": HOSTILE}, "rows": [row]});
    // Two of them: what is there twice has names of its own.
    let value = json!([value.clone(), value]);
    std::fs::write(&kept, value.to_string()).expect("room");
    let (path, text) = page("kept.html", &[kept.to_str().expect("UTF-8")]);
    assert!(!text.contains("<img") && text.contains("&lt;img") && text.contains("1.25"), "{text}");
    if !opens(&path, &[]) {
        println!("not measured: pages in a browser (node, npm ci --prefix web, chromium)");
    }
}

#[test]
fn names_of_a_workload_are_no_markup() {
    let workload = place("hostile-names.json");
    let task = json!({"loop": -1, "run": 2000, "timer": {"ref": "r", "period": 16000}});
    let file = json!({"global": {"duration": 1, "calibration": "CPU0"}, "tasks": {HOSTILE: task}});
    std::fs::write(&workload, file.to_string()).expect("room");
    let given = workload.to_str().expect("UTF-8");
    let (path, text) = page("hostile-names.html", &["--platform", "hikey-6220", "--workload", given, "--seeds", "1"]);
    assert!(text.contains("img src=x") && !text.contains("<img"), "it is there, as text");
    let shell = text.matches("<script").count();
    assert_eq!(text.matches("</script>").count(), shell, "no script ends early");
    assert!(text.contains("\"panels\":[{"), "{}", path.display());
}

#[test]
fn many_tasks_and_cpus_make_no_large_page() {
    let many = ["--workload", "periodic:threads=3000,run_us=20,period_us=20000", "--duration", "60ms", "--seeds", "1"];
    let (_, text) = page("many-tasks.html", &[&["--platform", "hikey-6220"], &many[..]].concat());
    assert!(text.len() < 5_000_000 && text.contains("The first 2000;"), "{}", text.len());
    let (_, text) = page("many-cpus.html", &[&["--platform", "epyc-7543p"], &many[..]].concat());
    assert!(text.len() < 5_000_000, "{}", text.len());
}

#[test]
fn a_request_gives_the_page_of_the_verb_and_the_same_bytes_each_time() {
    let here = ["--platform", "hikey-6220", "--workload", "busy:cpus=0", "--duration", "50ms", "--seeds", "2"];
    let (_, text) = page("request.html", &here);
    let input = json!({"platform": "hikey-6220", "workload": "busy:cpus=0", "duration_ns": 50_000_000});
    let ask: ReportRequest = serde_json::from_value(json!({
        "compare": {"input": input, "policies": ["7.2"], "seeds": 2},
    }))
    .expect("a request");
    assert_eq!(report(&ask, &Unwatched).expect("a page"), text);
    assert_eq!(report(&ask, &Unwatched).expect("a page"), text);
}

#[test]
fn what_is_no_result_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(path("text"), "no JSON").expect("room");
    std::fs::write(path("other.json"), "{\"a\": 1}").expect("room");
    let page = path("page.html");
    for (given, why) in [("absent", "no such file"), ("text", "it is no JSON"), ("other.json", "no `result` in it")] {
        let outcome = pelton(&["report", &path(given), "-o", &page]);
        assert!(outcome.code == 3 && outcome.stderr.contains(why), "{given}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("--format json"), "{}", outcome.stderr);
    }
    let outcome = pelton(&["report", &path("text"), "-o", &path("text")]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(path("text")).expect("still there"), "no JSON");
    for words in [&["report", "-o", &page][..], &["report", "--platform", "hikey-6220", "-o", &page]] {
        assert_eq!(pelton(words).code, 2, "{words:?}");
    }
    assert!(!Path::new(&page).exists());
}
