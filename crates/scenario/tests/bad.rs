// SPDX-License-Identifier: GPL-2.0-or-later
//! Bad input: every file in tests/bad is refused with a message a person can act on, quickly and in little memory. One
//! snapshot per file; review changes of them like code.

#[path = "../../../tests/shared/processor_time.rs"]
#[allow(dead_code, reason = "every test program uses a part of it")]
mod processor_time;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use pelton_scenario::platform::PlatformOptions;
use pelton_scenario::{Diagnostics, SourceFile, behaviour, platform, policy, render};
use processor_time::Moment;

/// Most memory one refusal may take, bytes.
const PEAK_BYTES_MAX: usize = 128 << 20;

/// Counts what is allocated, to bound what hostile input can take.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards to the system allocator; the counters do not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps the contract of GlobalAlloc.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of GlobalAlloc.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs `refuse`, which must take less than a second and little memory, and renders what it says.
fn rendered(name: &str, refuse: impl FnOnce() -> Option<Diagnostics>) -> String {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Moment::now();
    let refused = refuse().unwrap_or_else(|| panic!("{name} was accepted"));
    let text = render(&refused, 100, false);
    let (took, peak) = (start.elapsed(), PEAK.load(Relaxed).saturating_sub(before));
    assert!(took < Duration::from_secs(1), "{name} took {took:?}");
    assert!(peak < PEAK_BYTES_MAX, "{name} took {peak} bytes");
    assert!(text.len() < 40_000, "{name}: {} bytes of messages", text.len());
    text
}

fn files(folder: &str) -> Vec<PathBuf> {
    let list = std::fs::read_dir(Path::new("tests/bad").join(folder)).unwrap();
    let mut files: Vec<PathBuf> = list.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Lists of all known words, and the table's words about a switch, change with the table: what matters is that they are
/// there.
fn without_lists(text: &str) -> String {
    let switches = pelton_core::switches();
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let word = line.trim().trim_start_matches("help: ").split(": ").next().unwrap_or("");
        let starts =
            line.starts_with("  ") && (matches!(word, "known" | "switches") || switches.iter().any(|s| s.name == word));
        inside = starts || (inside && line.starts_with("        "));
        if starts {
            out += &format!("{}{word}: [...]\n", line.split(word).next().unwrap_or(""));
        } else if !inside {
            out += line;
            out.push('\n');
        }
    }
    out
}

fn snapshot(folder: &str, path: &Path, text: &str) {
    let text = if matches!(folder, "policy" | "argument") { without_lists(text) } else { text.to_owned() };
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path(Path::new("bad-rendered").join(folder));
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(path.file_stem().unwrap().to_str().unwrap(), text));
}

fn refuse_platform(path: &str) -> Option<Diagnostics> {
    platform::load(path).and_then(|file| file.machine(&PlatformOptions::new("7.2"))).err()
}

/// One test, so that the memory counted is that of one refusal.
#[test]
fn every_bad_file_is_refused_with_a_message_that_helps() {
    let (platforms, policies) = (files("platform"), files("policy"));
    assert!(platforms.len() >= 40 && policies.len() >= 15);
    for path in platforms {
        let text = rendered(&path.display().to_string(), || refuse_platform(path.to_str().unwrap()));
        snapshot("platform", &path, &text);
    }
    for path in policies {
        let none: [&str; 0] = [];
        let text = rendered(&path.display().to_string(), || policy::load(None, &[&path], &none).err());
        snapshot("policy", &path, &text);
    }
    let behaviours = files("behaviour");
    assert!(behaviours.len() >= 35);
    for path in behaviours {
        let text = rendered(&path.display().to_string(), || behaviour::load(path.to_str().unwrap()).err());
        snapshot("behaviour", &path, &text);
    }
    arguments();
    large_files();
    the_canary_passes();
}

type Refusal = Box<dyn FnOnce() -> Option<Diagnostics>>;

/// Faults on the command line are shown in the same way as those of files.
fn arguments() {
    let none: [&str; 0] = [];
    let sets = |sets: &[&str]| policy::load(None, &[] as &[&str], sets).err();
    let cases: Vec<(&str, Refusal)> = vec![
        ("unknown-platform", Box::new(|| refuse_platform("hikey-960"))),
        ("unknown-platform-far-off", Box::new(|| refuse_platform("toaster"))),
        ("missing-file", Box::new(|| refuse_platform("./no/such/machine.toml"))),
        ("a-directory", Box::new(|| refuse_platform("tests/bad/"))),
        ("a-device", Box::new(|| refuse_platform("/dev/zero"))),
        ("set-without-value", Box::new(move || sets(&["util_est"]))),
        ("set-unknown-switch", Box::new(move || sets(&["util-est=u4", "runable_boost = off"]))),
        ("set-unknown-value", Box::new(move || sets(&["gate=r1"]))),
        ("set-meaningless", Box::new(move || sets(&["runnable_signal=off"]))),
        ("unknown-profile", Box::new(move || policy::load(Some("v5.15.3"), &[] as &[&str], &none).err())),
        ("unknown-profile-too-old", Box::new(move || policy::load(Some("3.10"), &[] as &[&str], &none).err())),
        ("unknown-behaviour", Box::new(|| behaviour::load("small-task").err())),
        ("missing-behaviour-file", Box::new(|| behaviour::load("./nowhere.toml").err())),
        ("bad-file-and-bad-set", Box::new(|| policy::load(None, &["tests/bad/policy/unknown-key.toml"], &["x"]).err())),
        ("missing-policy-file", Box::new(move || policy::load(None, &["nowhere.toml"], &none).err())),
    ];
    for (name, refuse) in cases {
        let text = rendered(name, refuse);
        snapshot("argument", Path::new(name), &text);
    }
}

/// Sizes that would be too large for this repository.
fn large_files() {
    let numbers =
        |n: usize| format!("schema = 1\nname = \"a\"\n[[perf_domain]]\nid = \"a\"\ncpus = [{}]\n", "0,".repeat(n));
    let cases = [
        ("file-of-2-mib", "#".repeat(2 << 20)),
        ("list-of-half-a-million-numbers", numbers(520_000)),
        ("many-unknown-keys", (0..45_000).map(|i| format!("capacities{i} = 1\n")).collect()),
        ("many-tables", "[[a]]\n".repeat(170_000)),
        ("deep-brackets", format!("a = {}", "[".repeat(1_000_000))),
        ("one-long-string", format!("a = \"{}\"", "x".repeat(1_000_000))),
    ];
    for (name, text) in cases {
        let out = rendered(name, || {
            let source = SourceFile::from_bytes(format!("{name}.toml"), text.as_bytes());
            source.and_then(|source| platform::parse(&source)).err()
        });
        snapshot("large", Path::new(name), &out);
    }
}

/// Inputs that must be accepted, to prove that the above is no refusal of everything.
fn the_canary_passes() {
    assert!(refuse_platform("tests/good/platform.toml").is_none());
    assert!(behaviour::load("tests/good/behaviour.toml").is_ok());
    assert!(policy::load(None, &["tests/good/policy.toml"], &["rt_signal=on"]).is_ok());
}
