// SPDX-License-Identifier: GPL-2.0-or-later
//! Exported tables: what pandas, polars, pyarrow and DuckDB read is what the trace says. `make test` installs them; the
//! script says `not measured` for what is missing.

use crate::support::{file, good, pelton};
use std::path::{Path, PathBuf};
use std::process::Command;

fn recorded(folder: &tempfile::TempDir) -> String {
    let (_, log) = file(folder, "run.plog");
    let load = "periodic:run_us=3000,period_us=10000 + periodic:run_us=500,period_us=3000,policy=fifo,priority=5";
    good(&["run", "--platform", "hikey-6220", "--workload", load, "--duration", "300ms", "--log", &log]);
    log
}

#[test]
fn other_programs_read_the_tables_as_they_are() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    for form in ["csv", "json", "parquet"] {
        let out = format!("{}/", folder.path().join(form).display());
        good(&["trace", "export", &log, "--to", form, "-o", &out]);
        let again = pelton(&["trace", "export", &log, "--to", form, "-o", &out]);
        assert!(again.code == 2 && again.stderr.contains("is not empty"), "{}", again.stderr);
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let installed = repository.join(".venv/bin/python");
    let python = if installed.exists() { installed } else { PathBuf::from("python3") };
    let checked = Command::new(python).arg(repository.join("tests/trace/check_tables.py")).arg(folder.path()).output();
    let Ok(checked) = checked else {
        println!("not measured: tables read by other programs: there is no python3");
        return;
    };
    let text = String::from_utf8_lossy(&checked.stdout).into_owned() + &String::from_utf8_lossy(&checked.stderr);
    println!("{text}");
    assert!(checked.status.success(), "{text}");
}

#[test]
fn polars_loads_a_comparison_in_one_line() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let load = repository.join("scenarios/workloads/rt-app/browser-long.json");
    let [(json, _), (picture, picture_name)] = ["limits.json", "limits.png"].map(|name| file(&folder, name));
    let question = ["compare", "--platform", "pixel6-gs101", "--workload", load.to_str().expect("plain names")];
    let limits = ["--policy", "7.2,rate_limit_us=500", "--policy", "7.2,rate_limit_us=10000"];
    let short = ["--duration", "300ms", "--seeds", "6", "--plot", &picture_name, "-q"];
    let all = |rest: &[&str]| good(&[&question[..], &limits[..], &short[..], rest].concat());
    let screen = all(&["--summary", "--charts"]);
    // Longer lines are continued on the next one.
    let rows: usize = screen.lines().map(|line| line.chars().count().div_ceil(100).max(1)).sum();
    assert!(rows <= 40, "{rows} lines of 100 columns\n{screen}");
    for word in ["energy_mj", "step_latency_ms_avg", "█", "by chance"] {
        assert!(screen.contains(word), "{word}\n{screen}");
    }
    let drawn = std::fs::read(picture).expect("a picture");
    assert!(drawn.starts_with(b"\x89PNG") && drawn.len() > 4_000, "{} bytes", drawn.len());
    std::fs::write(&json, all(&["--per-seed", "--format", "json"])).expect("room");
    let line = "import sys, polars as pl\n\
                t = pl.read_json(sys.argv[1]).select('rows').explode('rows').unnest('rows').explode('cells').unnest('cells')\n\
                e = t.filter(pl.col('quantity') == 'energy_mj')\n\
                assert e['policy'].to_list() == ['7.2,rate_limit_us=500', '7.2,rate_limit_us=10000'], e\n\
                assert e.height == 2 and e['median'].min() > 0 and e['values'].list.len().to_list() == [6, 6], e\n\
                print(t.height, 'rows')";
    let installed = repository.join(".venv/bin/python");
    let python = if installed.exists() { installed } else { PathBuf::from("python3") };
    let loaded = Command::new(&python).args(["-c", line]).arg(&json).output();
    let text = loaded.as_ref().map(|o| String::from_utf8_lossy(&o.stderr).into_owned()).unwrap_or_default();
    match loaded {
        Ok(loaded) if loaded.status.success() => {}
        Ok(_) if !text.contains("No module named") => panic!("{text}"),
        _ => println!("not measured: polars is not here: {text}"),
    }
}

#[test]
fn a_table_has_no_comments_and_units_in_its_names() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let head = |form: &str, event: &[&str]| {
        let out = good(&[&["trace", "export", &log, "--to", form, "-o", "-"], event].concat());
        out.lines().next().unwrap_or("").to_owned()
    };
    assert_eq!(head("csv", &["--event", "cpu_frequency"]), "time_ns,cpu,freq_khz");
    assert_eq!(head("csv", &["--event", "pelt_rt"]), "time_ns,cpu,util_avg_of_1024");
    assert_eq!(head("csv", &[]), "number,time_ns,event,column,value");
    assert!(head("json", &["--event", "cpu_frequency"]).starts_with("{\"time_ns\":0,\"cpu\":0,\"freq_khz\":"));
    let refused = pelton(&["trace", "export", &log, "--to", "parquet", "-o", "x.parquet"]);
    assert!(refused.code == 2 && refused.stderr.contains("-o NAME/"), "{}", refused.stderr);
}

#[test]
fn what_a_form_cannot_hold_is_said() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let [(_, trace), (text, text_name)] = ["t.pftrace", "f.txt"].map(|name| file(&folder, name));
    let exported = pelton(&["trace", "export", &log, "--to", "perfetto", "-o", &trace]);
    assert!(exported.code == 0 && exported.stderr.contains("task_attributes (2)"), "{}", exported.stderr);
    let unknown = "a-7 [001] 1.0: cpu_idle: state=1 cpu_id=1\na-7 [001] 1.1: ext4_sync: x=1\n";
    std::fs::write(text, unknown).expect("room");
    let exported = pelton(&["trace", "export", &text_name, "--to", "text", "-o", &trace]);
    assert!(exported.code == 0 && exported.stderr.contains("ext4_sync (1)"), "{}", exported.stderr);
}
