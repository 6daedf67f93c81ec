// SPDX-License-Identifier: GPL-2.0-or-later
//! Robustness of the reader of rt-app files: whatever comes in, it returns, soon, with a message.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kept::kept;
use crate::processor_time::Moment;
use pelton_scenario::SourceFile;
use pelton_scenario::rtapp::{self, RTAPP_BYTES_MAX, RtAppOptions, fuzz_rtapp};
use proptest::prelude::*;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn json_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).map(|e| e.path()) {
        if path.is_dir() {
            json_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "json") {
            out.push(path);
        }
    }
}

/// Files that are mutated: those of this repository, and the users' files when they are at hand.
fn seeds() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    json_files(&Path::new(REPOSITORY).join("scenarios/workloads"), &mut paths);
    json_files(&Path::new(REPOSITORY).join("tests/bad/rtapp"), &mut paths);
    if let Some(shared) = std::env::var_os("PELTON_SHARED_DATA") {
        json_files(&Path::new(&shared).join("rt-app"), &mut paths);
    }
    paths.sort();
    paths.iter().filter_map(|p| std::fs::read(p).ok()).collect()
}

/// One change to a file.
#[derive(Clone, Debug)]
enum Change {
    Replace(prop::sample::Index, u8),
    Cut(prop::sample::Index, prop::sample::Index),
    Copy(prop::sample::Index, prop::sample::Index, prop::sample::Index),
    Word(prop::sample::Index, &'static str),
}

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"loop\" : -1,",
    "\"run\" : 2147483647,",
    "\"instance\" : 10000,",
    "\"lock\" : \"m\",",
    "\"suspend\",",
    "\"phases\" : {",
    "-9223372036854775808",
    "1e308",
    "/*",
    "//",
    "__X__",
    "\\u",
    "\"fork\" : \"thread0\",",
    "\"timer\" : { \"ref\" : \"unique\", \"period\" : 1 },",
    "\"exec\" : 1,",
    "\"lock_order\" : [\"a\"],",
    "\"util_min\" : 5,",
];

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(i, b)| Change::Replace(i, b)),
        (index(), index()).prop_map(|(i, j)| Change::Cut(i, j)),
        (index(), index(), index()).prop_map(|(i, j, k)| Change::Copy(i, j, k)),
        (index(), prop::sample::select(WORDS)).prop_map(|(i, w)| Change::Word(i, w)),
    ]
}

fn apply(mut data: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let at = |i: &prop::sample::Index| i.index(data.len() + 1);
        let between = |i, j| at(i).min(at(j))..at(i).max(at(j));
        let (place, new): (std::ops::Range<usize>, Vec<u8>) = match change {
            Change::Replace(i, b) => (at(i)..(at(i) + 1).min(data.len()), vec![*b]),
            Change::Cut(i, j) => (between(i, j), Vec::new()),
            Change::Copy(i, j, k) => (at(k)..at(k), data[between(i, j)].to_vec()),
            Change::Word(i, w) => (at(i)..at(i), w.as_bytes().to_vec()),
        };
        data.splice(place, new);
    }
    data
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzz_rtapp(&data);
    }

    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        fuzz_rtapp(words.concat().as_bytes());
    }

    #[test]
    fn changed_files_never_panic(seed in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..6)) {
        let seeds = seeds();
        fuzz_rtapp(&apply(seeds[seed.index(seeds.len())].clone(), &changes));
    }
}

/// Texts of the largest size, each of another kind of excess.
fn excesses() -> Vec<(&'static str, String)> {
    let fill = |head: &str, piece: &str, tail: &str| {
        let n = (RTAPP_BYTES_MAX - head.len() - tail.len()) / piece.len();
        format!("{head}{}{tail}", piece.repeat(n))
    };
    let task = "{\"tasks\":{\"t\":{";
    vec![
        ("brackets", fill("", "[", "")),
        ("values", fill("[", "0,", "0]")),
        ("events", fill(task, "\"run\":1,", "}}}")),
        ("wrong events", fill(task, "\"rum\":1,", "}}}")),
        ("wrong types", fill(task, "\"run\":[],", "}}}")),
        ("locks", fill(task, "\"lock\":\"a\",", "}}}")),
        ("string", fill("{\"", "a", "\":1}")),
        ("escapes", fill("[\"", "\\u00e9", "\"]")),
        ("open string", fill("[\"", "a", "")),
        ("comments", fill("", "/**/", "{}")),
        ("lines", fill("", "\n", "{")),
        ("number", fill("[", "9", "]")),
        ("words", fill("[", "a", "]")),
        ("chains", fill("{\"resources\":1000,\"tasks\":{\"t\":{\"exec\":1,\"lock_order\":[", "1,2,", "1]}}}")),
    ]
}

#[test]
fn the_largest_texts_are_answered_within_a_second() {
    for (name, text) in excesses() {
        let file = SourceFile::new("t.json", text);
        let start = Moment::now();
        let answer = rtapp::load(&file, &RtAppOptions { cpus: Some(8), ..RtAppOptions::default() });
        let elapsed = start.elapsed();
        println!("{name}: {elapsed:?}, {}", if answer.is_ok() { "accepted" } else { "refused" });
        // Unoptimised builds get more time.
        let limit = Duration::from_millis(if cfg!(debug_assertions) { 3000 } else { 1000 });
        assert!(elapsed < limit, "{name} took {elapsed:?}");
    }
}

/// As many values as are accepted at all: quadratic work would show here.
#[test]
fn the_largest_accepted_files_are_answered_within_a_second() {
    let numbered = |n: usize, piece: &dyn Fn(usize) -> String| (0..n).map(piece).collect::<String>();
    let tasks = |body: String| format!("{{\"tasks\":{{{body}}}}}");
    let texts = [
        ("names", tasks(format!("\"t\":{{{}}}", numbered(60_000, &|i| format!("\"resume\":\"n{i}\",\"run\":1,"))))),
        (
            "locks",
            tasks(format!(
                "\"t\":{{{}}}",
                numbered(60_000, &|i| format!("\"lock\":\"n{i}\",\"run\":1,\"unlock\":\"n{i}\","))
            )),
        ),
        ("held", tasks(format!("\"t\":{{{}}}", numbered(60_000, &|i| format!("\"lock\":\"n{i}\",\"run\":1,"))))),
        (
            "tasks",
            tasks(numbered(9_000, &|i| format!("\"t{i}\":{{\"suspend\",\"run\":1,\"resume\":\"t{}\"}},", i + 1))),
        ),
        ("forks", tasks(numbered(5_000, &|i| format!("\"t{i}\":{{\"loop\":1,\"run\":1,\"fork\":\"t{}\"}},", i + 1)))),
        ("wrong words", tasks(format!("\"t\":{{{}}}", numbered(100_000, &|i| format!("\"x{i}\":1,"))))),
        ("wrong forks", tasks(format!("\"t\":{{{}}}", numbered(60_000, &|i| format!("\"fork\":\"x{i}\","))))),
        ("ignored", format!("{{\"tasks\":{{}},\"global\":{{{}}}}}", numbered(100_000, &|_| "\"logdir\":\"\",".into()))),
        (
            "cycles",
            tasks(
                ["t", "u"]
                    .map(|t| {
                        let (x, y) = if t == "t" { ("a", "b") } else { ("b", "a") };
                        let pair = |i| {
                            format!(
                                "\"lock\":\"{x}{i}\",\"lock1\":\"{y}{i}\",\"unlock\":\"{x}{i}\",\"unlock1\":\"{y}{i}\","
                            )
                        };
                        format!("\"{t}\":{{\"run\":1,{}}},", numbered(20_000, &pair))
                    })
                    .concat(),
            ),
        ),
        ("phases", tasks(format!("\"t\":{{\"phases\":{{{}}}}}", numbered(40_000, &|_| "\"p\":{\"run\":1},".into())))),
        (
            "oldest",
            format!(
                "{{\"resources\":{{{}}},\"tasks\":{{\"t\":{{\"exec\":1,\"lock_order\":[{}],\"resources\":{{{}}}}}}}}}",
                numbered(20_000, &|i| format!("\"r{i}\":{{}},")),
                numbered(20_000, &|i| format!("\"r{i}\",")),
                numbered(20_000, &|i| format!("\"r{i}\":{{\"access\":[\"r{}\"]}},", i + 1))
            ),
        ),
    ];
    for (name, text) in texts {
        let file = SourceFile::new("t.json", text);
        let start = Moment::now();
        let answer = rtapp::load(&file, &RtAppOptions { cpus: Some(8), ..RtAppOptions::default() });
        let elapsed = start.elapsed();
        println!(
            "{name}: {elapsed:?}, {}",
            answer.map_or_else(|e| format!("{} messages", e.iter().count()), |w| format!("{} tasks", w.tasks.len()))
        );
        assert!(elapsed < Duration::from_secs(3), "{name} took {elapsed:?}");
    }
}
