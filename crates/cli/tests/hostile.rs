// SPDX-License-Identifier: GPL-2.0-only
//! Files that are wrong in any way, through every verb of the built program: it ends, with a documented exit code and
//! words that fit a terminal, soon and within its memory.
//!
//! `PELTON_HOSTILE_SEED` is the number of the first file, `PELTON_HOSTILE_COUNT` how many follow. A failure keeps the
//! file and prints the command that repeats it.

#![cfg(unix)]

use crate::fuzz;
use crate::fuzz::Target;
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

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file with this ending in a folder of the repository, up to a length that keeps calls short.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(repository().join(folder)).expect("the folder is in the repository");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    paths.sort();
    let all = paths.iter().map(|path| std::fs::read(path).expect("readable"));
    all.map(|mut bytes| {
        bytes.truncate(24 << 10);
        bytes
    })
    .collect()
}

/// How a file is packed after it was changed.
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

/// A kind of file, and the verbs that read it: `@` is the file, `%` a place for outputs.
struct Kind {
    target: Target<'static>,
    ending: &'static str,
    verbs: &'static [&'static str],
}

const OF_TRACES: &[&str] = &[
    "trace info @",
    "trace info @ --format json",
    "validate @",
    "validate @ --platform juno-r0 --profile 6.6",
    "replay @ --recorded-on juno-r0 --to 2s",
    "replay @ --recorded-on hikey-6220 --platform juno-r0 --to 2s --format json --log %/log --trace %/trace",
    "workload from-trace @ --recorded-on juno-r0",
    "workload from-trace @ --recorded-on juno-r0 --model -o %/model.json",
    "trace export @ --to csv -o %/csv/",
    "trace export @ --to json -o %/json",
    "trace export @ --to parquet -o %/parquet/",
    "trace export @ --to text -o %/text",
    "trace export @ --to log -o %/log",
    "trace export @ --to perfetto -o %/perfetto",
];
const OF_WORKLOADS: &[&str] = &[
    "run --platform juno-r0 --workload @ --duration 20ms",
    "run --platform hikey-6220 --workload @ --duration 20ms --format json --log %/log --trace %/trace",
    "run --platform juno-r0 --workload @ --duration 20ms --format csv --define RUN=100",
    "compare --platform juno-r0 --workload @ --duration 10ms --policy 7.2 --policy 4.16 --seeds 2",
];
const OF_PLATFORMS: &[&str] = &[
    "platform check @",
    "platform show @",
    "run --platform @ --workload busy --duration 5ms",
    "run --platform @ --workload periodic:run_us=300,period_us=2000 --duration 10ms --format json",
];
const OF_POLICIES: &[&str] = &[
    "run --policy @ --platform juno-r0 --workload busy --duration 5ms",
    "compare --platform juno-r0 --workload busy --duration 5ms --policy @ --policy 7.2 --seeds 2",
];
const OF_EXPERIMENTS: &[&str] = &["reproduce @ --seeds 1", "reproduce @ --seeds 1 --format json"];

const TABLES: [&str; 4] = [
    "seq,ts,cpu,type,why,pid,prio,comm,obj,cfs,depth,on_rq,running,weight,runnable,now,clock_pelt,lut,util_sum,pc,util_avg,a0,a1\n\
     4,100,4,CFS,,0,0,,3,3,0,1,1,1048576,1,81,92,80,53,54,57,5,1\n5,200,4,SE,,229,120,w,2,3,0,1,1,1048576,1,81,92,80,53,54,57,,\n",
    "ts,kind,cpu,pid,comm,a0,a1,a2,a3,a4,a5,a6\n9,next_freq,0,7,w,1,300,1024,900000,600000,1200000,0\n9,select,0,7,w,1,8,2,3,4,0,1024\n",
    "# cpu=5 signal=cpu_frequency unit=GHz\ntime_s,value\n0.1,1.2\n0.2,0.6\n",
    "start_s,duration_s,cpu,pid,comm,duty_cycle\n0.5,0.25,1,7,w,0.5\n0.8,0.1,1,8,\"a,b\",0.5\n",
];

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
    let never: fn(&[u8]) = |_| {};
    let kind = |name, ending, seeds: Vec<Vec<u8>>, words: &'static [&'static str], verbs| {
        assert!(!seeds.is_empty(), "no seeds for {name}");
        Kind { target: Target { name, run: never, seeds, words }, ending, verbs }
    };
    let [log, perfetto] = own_traces();
    let logs = [files("crates/trace/tests/fixtures", ".plog"), vec![log]].concat();
    let texts = files("crates/trace/tests/fixtures/ftrace", ".txt");
    let tables = TABLES.iter().map(|table| table.as_bytes().to_vec()).collect();
    let event: &[&str] =
        &[" [001] ", ": sched_switch: ", "prev_pid=", " ==> ", "pid=-1", "\u{1b}[2J", "\u{202e}", "\n"];
    let json: &[&str] = &["\"run\"", "\"loop\"", "\"timer\"", "{", "}", "[", "]", ",", "\"\\u001b\"", "-1", "\"a\":"];
    let toml: &[&str] =
        &["=", "[", "]]", "[[perf_domain]]", "opps=[{khz=1}]", "cpus=[0,1023]", "\"\u{1b}\"", "1e999", "nan", "\n"];
    vec![
        kind("trace_text", "txt", texts, event, OF_TRACES),
        kind("trace_csv", "csv", tables, &[",", "\"", "CLK", "18446744073", "-1", "=cmd", "\n"], OF_TRACES),
        kind("trace_log", "plog", logs, &["PELTONLG", "E", "F"], OF_TRACES),
        kind("trace_perfetto", "pftrace", vec![perfetto], &["\n", "\u{80}", "\u{8}"], OF_TRACES),
        kind(
            "trace_dat",
            "dat",
            vec![fuzz::small_trace_dat()],
            &["7\0", "options  \0", "field:", "offset:"],
            OF_TRACES,
        ),
        kind("rtapp_json", "json", files("scenarios/workloads/rt-app", ".json"), json, OF_WORKLOADS),
        kind("platform_toml", "toml", files("scenarios/platforms", ".toml"), toml, OF_PLATFORMS),
        kind(
            "policy_toml",
            "toml",
            vec![b"schema = 1\nwhy = \"a test\"\nprofile = \"6.6\"\n[set]\nrt_signal = \"on\"\n".to_vec()],
            toml,
            OF_POLICIES,
        ),
        kind("experiment_toml", "toml", vec![fuzz::EXPERIMENT.as_bytes().to_vec()], toml, OF_EXPERIMENTS),
    ]
}

/// One call: file number `number` of its kind, and the verb it goes through.
struct Call<'a> {
    kind: &'a Kind,
    bytes: Vec<u8>,
    words: Vec<String>,
    file: PathBuf,
}

impl Call<'_> {
    fn new<'a>(kinds: &'a [Kind], number: u64, folder: &Path) -> Call<'a> {
        let kind = &kinds[(number % kinds.len() as u64) as usize];
        let of_kind = number / kinds.len() as u64;
        let verb = kind.verbs[(of_kind % kind.verbs.len() as u64) as usize];
        let packing = match (std::ptr::eq(kind.verbs, OF_TRACES), of_kind % 8) {
            (true, 5) => Packing::Gzip,
            (true, 6) => Packing::Xz,
            (true, 7) => Packing::Zstd,
            _ => Packing::None,
        };
        let bytes = packing.pack(kind.target.input(of_kind));
        let file = folder.join(format!("in.{}", kind.ending));
        let place =
            |word: &str| word.replace('@', &file.display().to_string()).replace('%', &folder.display().to_string());
        Call { kind, bytes, words: verb.split(' ').map(place).collect(), file }
    }

    fn make(&self) -> Output {
        std::fs::write(&self.file, &self.bytes).expect("room");
        let mut command = Command::new("timeout");
        command.args(["-k", "1", SECONDS_MAX, &program()]).args(&self.words);
        command.env("NO_COLOR", "1").env("COLUMNS", "120").output().expect("a standard command")
    }

    /// What is wrong with how it ended.
    fn fault(&self, output: &Output) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let said = || err.chars().take(2000).collect::<String>();
        let code = output.status.code();
        let is_allowed = match code {
            Some(0 | 1 | 3) => true,
            Some(2) => !err.is_empty(),
            Some(5) => self.words[0] == "validate",
            _ => false,
        };
        if !is_allowed {
            return Some(format!("it ended with {code:?}: {}", said()));
        }
        if code == Some(3) && !err.contains(self.file.file_name()?.to_str()?) {
            return Some(format!("the message does not name the file: {}", said()));
        }
        if err.len() > MESSAGE_BYTES_MAX {
            return Some(format!("{} bytes of messages", err.len()));
        }
        let drives = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        [&out, &err].into_iter().find_map(|text| text.chars().find(|&c| drives(c))).map(|c| format!("it prints {c:?}"))
    }
}

/// How often each exit code came out of each kind of file.
type Counts = BTreeMap<(&'static str, i32), u64>;

fn tried(kinds: &[Kind], number: u64, counts: &Mutex<Counts>) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let call = Call::new(kinds, number, folder.path());
    let output = call.make();
    let rss_kib = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts").max_rss();
    let too_large = (rss_kib > RSS_KIB_MAX).then(|| format!("this call or one beside it took {rss_kib} KiB"));
    if let Some(fault) = call.fault(&output).or(too_large) {
        let place = folder.keep();
        let again =
            format!("PELTON_HOSTILE_SEED={number} PELTON_HOSTILE_COUNT=1 cargo test --test cli_tests hostile::");
        return Err(format!(
            "file {number}: {fault}\n{again}\npelton {} (kept {})",
            call.words.join(" "),
            place.display()
        ));
    }
    let code = output.status.code().unwrap_or(-1);
    *counts.lock().expect("no thread panics with it").entry((call.kind.target.name, code)).or_default() += 1;
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
