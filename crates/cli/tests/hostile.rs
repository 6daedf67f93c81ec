// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that are wrong in any way, through every verb of the built program: it ends, with a documented exit code and
//! words that fit a terminal, soon and within its memory.
//!
//! `PELTON_HOSTILE_SEED` is the number of the first file, `PELTON_HOSTILE_COUNT` how many follow. A failure keeps the
//! file and prints the command that repeats it.

#![cfg(unix)]

use crate::fuzz::Target;
use crate::readers::{READERS, Reader};
use crate::seeds;
use crate::support;
use nix::sys::resource::{UsageWho, getrusage};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Files tried without being asked for another number: about half a minute.
const COUNT: u64 = 600;
/// Most memory of any call, KiB.
const RSS_KIB_MAX: i64 = 256 << 10;
/// Longest call, s: one that takes longer hangs. Unoptimised, on a machine that does other work.
const SECONDS_MAX: &str = "60";
/// Longest message, bytes.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The program: another build of it when `PELTON_HOSTILE_PROGRAM` names one.
fn program() -> String {
    std::env::var("PELTON_HOSTILE_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_pelton").to_owned())
}

/// Longest input to begin with, bytes: calls stay short.
const SEED_BYTES_MAX: usize = 24 << 10;

/// Compression of a file after it was changed.
#[derive(Clone, Copy)]
enum Packing {
    None,
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    fn pack(self, bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Packing::None => bytes,
            Packing::Zstd => zstd::encode_all(&bytes[..], 1).expect("a vector takes everything"),
            Packing::Gzip => {
                let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                out.write_all(&bytes).and_then(|()| out.finish()).expect("a vector takes everything")
            }
            Packing::Xz => {
                let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
                out.write_all(&bytes).and_then(|()| out.finish()).expect("a vector takes everything")
            }
        }
    }
}

/// A reader, and what its files begin with.
struct Kind {
    reader: &'static Reader,
    target: Target<'static>,
}

/// Our log, and a Perfetto trace of ours.
fn own_traces() -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(log, log_text), (trace, trace_text)] = ["l", "t"].map(|name| support::file(&folder, name));
    let run = "run --platform hikey-6220 --workload periodic:run_us=500,period_us=4000,threads=2 --duration 40ms";
    let run: Vec<&str> = run.split(' ').chain(["--log", &log_text, "--trace", &trace_text]).collect();
    support::good(&run);
    [log, trace].map(|path| std::fs::read(path).expect("written"))
}

fn kinds() -> Vec<Kind> {
    let [log, perfetto] = own_traces();
    let kind = |reader: &'static Reader| {
        let mut seeds = seeds::of(reader);
        match reader.name {
            "trace_log" => seeds.push(log.clone()),
            "trace_perfetto" => seeds.push(perfetto.clone()),
            _ => {}
        }
        seeds.iter_mut().for_each(|seed| seed.truncate(SEED_BYTES_MAX));
        let target = Target { name: reader.name, run: |_| {}, seeds, words: reader.words };
        Kind { reader, target }
    };
    READERS.iter().map(kind).collect()
}

/// One call: file number `number` of its kind, and the verb it goes through.
struct Call<'a> {
    kind: &'a Kind,
    words: Vec<String>,
    folder: &'a Path,
}

impl<'a> Call<'a> {
    /// Puts the file in its place.
    fn new(kinds: &'a [Kind], number: u64, folder: &'a Path) -> Call<'a> {
        let kind = &kinds[(number % kinds.len() as u64) as usize];
        let of_kind = number / kinds.len() as u64;
        let verb = kind.reader.verbs[(of_kind % kind.reader.verbs.len() as u64) as usize];
        let packing = match (kind.reader.name.starts_with("trace_"), of_kind % 8) {
            (true, 5) => Packing::Gzip,
            (true, 6) => Packing::Xz,
            (true, 7) => Packing::Zstd,
            _ => Packing::None,
        };
        let bytes = packing.pack(kind.target.input(of_kind));
        let file = kind.reader.put(&bytes, folder).expect("room");
        std::fs::create_dir(folder.join("out")).expect("room");
        std::fs::write(folder.join("out/of the user"), "kept").expect("room");
        let out = folder.join("out").display().to_string();
        let place = |word: &str| word.replace('@', &file.display().to_string()).replace('%', &out);
        Call { kind, words: verb.split(' ').map(place).collect(), folder }
    }

    fn make(&self) -> Output {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", SECONDS_MAX, &program()]).args(&self.words);
        command.env("NO_COLOR", "1").env("COLUMNS", "120").output().expect("a standard command")
    }

    /// Files of the user, with what is in them.
    fn belongings(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut paths: Vec<PathBuf> = folder_of(self.folder);
        let out = self.folder.join("out");
        paths.retain(|path| !path.starts_with(&out) || path.ends_with("of the user"));
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
    }

    /// Fault in the way the call ended; `None` where there is none.
    fn fault(&self, output: &Output) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let said = || err.chars().take(2000).collect::<String>();
        let code = output.status.code();
        let is_allowed = match code {
            Some(0 | 1 | 3) => true,
            Some(2) => !err.is_empty(),
            Some(5) => ["validate", "check"].contains(&self.words[0].as_str()),
            _ => false,
        };
        if !is_allowed {
            return Some(format!("it ended with {code:?}: {}", said()));
        }
        if code == Some(3) && !self.names_a_file(&err) {
            return Some(format!("the message does not name the file: {}", said()));
        }
        if err.len() > MESSAGE_BYTES_MAX {
            return Some(format!("{} bytes of messages", err.len()));
        }
        let drives = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        [&out, &err].into_iter().find_map(|text| text.chars().find(|&c| drives(c))).map(|c| format!("it prints {c:?}"))
    }

    fn names_a_file(&self, said: &str) -> bool {
        let name = self.kind.reader.place.rsplit('/').next().expect("a name");
        said.contains(name) || (self.kind.reader.is_bundle && said.contains("/in"))
    }
}

/// Every file below a folder.
fn folder_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { folder_of(&path) } else { vec![path] }).collect()
}

/// Number of times that each exit code came out of each kind of file.
type Counts = BTreeMap<(&'static str, i32), u64>;

fn tried(kinds: &[Kind], number: u64, counts: &Mutex<Counts>) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let call = Call::new(kinds, number, folder.path());
    let before = call.belongings();
    let output = call.make();
    let harmed = (call.belongings() != before).then(|| "it changed a file of the user".to_owned());
    let rss_kib = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts").max_rss();
    let too_large = (rss_kib > RSS_KIB_MAX).then(|| format!("this call or one beside it took {rss_kib} KiB"));
    if let Some(fault) = call.fault(&output).or(harmed).or(too_large) {
        let words = call.words.join(" ");
        let place = folder.keep();
        let again =
            format!("PELTON_HOSTILE_SEED={number} PELTON_HOSTILE_COUNT=1 cargo test --test cli_tests hostile::");
        return Err(format!("file {number}: {fault}\n{again}\npelton {} (kept {})", words, place.display()));
    }
    let code = output.status.code().unwrap_or(-1);
    *counts.lock().expect("no thread panics with it").entry((call.kind.reader.name, code)).or_default() += 1;
    Ok(())
}

#[test]
fn hostile_files_end_every_verb_in_good_order() {
    let kinds = kinds();
    let (first, count) = (number("PELTON_HOSTILE_SEED", 0), number("PELTON_HOSTILE_COUNT", COUNT));
    let (next, counts, faults) = (AtomicU64::new(first), Mutex::new(Counts::new()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count || faults.lock().expect("no thread panics with it").len() > 20 {
                return;
            }
            if let Err(fault) = tried(&kinds, number, &counts) {
                faults.lock().expect("no thread panics with it").push(fault);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let rss_kib = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts").max_rss();
    println!("{count} files from {first}, most memory {rss_kib} KiB, calls by kind and exit code: {counts:?}");
    let faults = faults.into_inner().expect("no thread panics with it");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    let accepted: u64 =
        counts.into_inner().expect("as above").iter().filter(|((_, code), _)| *code < 2).map(|c| c.1).sum();
    assert!(count < COUNT || accepted > count / 10, "only {accepted} of {count} files got behind the readers");
}
