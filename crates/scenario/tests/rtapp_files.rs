// SPDX-License-Identifier: GPL-2.0-or-later
//! Real rt-app files of users.

use std::path::{Path, PathBuf};

use pelton_scenario::SourceFile;
use pelton_scenario::rtapp::{self, RtAppOptions};

/// The files of this repository, and those that cannot all be distributed with it.
fn real_files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads");
    let shared = std::env::var_os("PELTON_SHARED_DATA").map_or_else(|| "../../../shared/data".into(), PathBuf::from);
    let mut files = json_files(&shared.join("rt-app"));
    if files.is_empty() {
        println!("not measured: no rt-app files in {}", shared.display());
    }
    files.extend(json_files(&own));
    assert!(files.len() > 20, "the repository's own files are missing");
    files.sort();
    files
}

fn json_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|e| e.path());
    paths.flat_map(|p| if p.is_dir() { json_files(&p) } else { vec![p] }).filter(|p| is_json(p)).collect()
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

fn source(path: &Path) -> SourceFile {
    let name = path.file_name().and_then(|n| n.to_str()).expect("readable names");
    SourceFile::new(name, std::fs::read_to_string(path).expect("readable files"))
}

#[test]
fn every_real_file_follows_the_grammar() {
    for path in real_files() {
        if let Err(e) = rtapp::parse(&source(&path)) {
            panic!("{}\n{e}", path.display());
        }
    }
}

/// Files that are refused, and why.
const REFUSED: &[(&str, &str)] = &[
    ("grub-support_tutorial_example6.json", "--define MEM_NS_PER_KIB=NS"),
    ("grub_deadline_reclaim-2.json", "GRUB"),
    ("grub_deadline_reclaim-4.json", "GRUB"),
    ("grub_deadline_reclaim-5.json", "GRUB"),
    ("merge_global.json", "the file has no `tasks`"),
    ("merge_resources.json", "the file has no `tasks`"),
    ("merge_thread0.json", "not declared in `resources`"),
    ("merge_thread1.json", "not declared in `resources`"),
    ("merge_thread2.json", "not declared in `resources`"),
    ("merge_thread3.json", "not declared in `resources`"),
    ("lisa_mp3-short.json", "--define DURATION=VALUE"),
    ("tests_mp3-short.json", "--define DURATION=VALUE"),
];

fn options() -> RtAppOptions {
    RtAppOptions { cpus: Some(8), ..RtAppOptions::default() }
}

#[test]
fn every_real_file_runs_or_is_refused_for_a_known_reason() {
    for path in real_files() {
        let file = source(&path);
        let reason = REFUSED.iter().find(|(name, _)| *name == file.name()).map(|(_, reason)| *reason);
        match (rtapp::load(&file, &options()), reason) {
            (Ok(workload), None) => assert!(!workload.tasks.is_empty(), "{}", path.display()),
            (Err(e), Some(reason)) => assert!(e.to_string().contains(reason), "{e}"),
            (Ok(_), Some(reason)) => panic!("{} is no longer refused: {reason}", path.display()),
            (Err(e), None) => panic!("{}\n{e}", path.display()),
        }
    }
}

#[test]
fn a_template_runs_once_its_words_have_values() {
    let path = real_files().into_iter().find(|p| p.ends_with("rt-app/lisa_mp3-short.json")).expect("own file");
    let values = [("DURATION", "6"), ("LOGDIR", "./"), ("PVALUE", "CPU0")];
    let defines = values.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let workload = rtapp::load(&source(&path), &RtAppOptions { defines, ..options() }).expect("all words have values");
    assert_eq!((workload.tasks.len(), workload.duration_ns), (5, Some(6_000_000_000)));
}

/// Files without a licence, which are not distributed.
#[test]
fn the_clamps_of_the_measured_uclamp_runs_are_read() {
    let name = "arm-uclamp/juno-r2_s1_uclamp_min_max_above_little.json";
    let Some(path) = real_files().into_iter().find(|p| p.ends_with(name)) else {
        println!("not measured: {name} is not at hand");
        return;
    };
    let workload = rtapp::load(&source(&path), &options()).expect("a real file");
    assert_eq!(workload.tasks.iter().map(|t| t.uclamp).collect::<Vec<_>>(), [Some((383, 384)); 2]);
    assert_eq!(workload.tasks[0].phases[0].loops, Some(50));
}
