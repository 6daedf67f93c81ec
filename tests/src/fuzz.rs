// SPDX-License-Identifier: GPL-2.0-or-later
//! Fuzzing without special tools: a seeded corpus, seeded mutations, and a report that repeats the failure.
//!
//! The same targets are built with cargo-fuzz in `fuzz/`. Here they run in the ordinary tests, for a fixed number of
//! inputs, so that a run is the same on every machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Largest input tried, bytes.
const INPUT_BYTES_MAX: usize = 64 << 10;
/// Mutations stacked on one input.
const MUTATIONS_MAX: u64 = 8;

/// Code that takes any bytes and must not panic.
pub struct Target<'a> {
    /// Name, as in `fuzz/fuzz_targets/`.
    pub name: &'a str,
    /// The code.
    pub run: fn(&[u8]),
    /// Inputs to start from; never empty.
    pub seeds: Vec<Vec<u8>>,
    /// Pieces of the format, inserted now and then.
    pub words: &'a [&'a str],
}

/// The first input that made a target panic.
#[derive(Debug)]
pub struct Failure {
    /// Number of the input; `Target::input` makes it again.
    pub number: u64,
    /// The input.
    pub input: Vec<u8>,
    /// Message of the panic.
    pub message: String,
}

impl Target<'_> {
    /// Input `number`: the seeds themselves first, then mutations of them.
    pub fn input(&self, number: u64) -> Vec<u8> {
        let seed = &self.seeds[(number % self.seeds.len() as u64) as usize];
        if number < self.seeds.len() as u64 {
            return seed.clone();
        }
        let mut random = Random(number);
        let mut input = seed.clone();
        for _ in 0..=random.below(MUTATIONS_MAX) {
            self.mutate(&mut input, &mut random);
        }
        input.truncate(INPUT_BYTES_MAX);
        input
    }

    /// Runs inputs `0..count`; the first that panics is the failure.
    pub fn smoke(&self, count: u64) -> Result<(), Failure> {
        (0..count).try_for_each(|number| self.try_one(number))
    }

    fn try_one(&self, number: u64) -> Result<(), Failure> {
        self.try_input(number, self.input(number))
    }

    /// Runs one input.
    pub fn try_input(&self, number: u64, input: Vec<u8>) -> Result<(), Failure> {
        let result = catch_unwind(AssertUnwindSafe(|| (self.run)(&input)));
        result.map_err(|panic| Failure { number, message: message(panic.as_ref()), input })
    }

    fn mutate(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() as u64 + 1) as usize;
        let end = at + random.below((input.len() - at) as u64 + 1).min(64) as usize;
        match random.below(8) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => double(input, at, end),
            3 => flip(input, at, random),
            4 => insert(input, at, &[random.next() as u8]),
            5 => replace_number(input, at, random),
            6 => insert(input, at, random.pick(self.words).unwrap_or(&"").as_bytes()),
            _ => self.splice(input, at, random),
        }
    }

    /// Continues with the tail of another seed.
    fn splice(&self, input: &mut Vec<u8>, at: usize, random: &mut Random) {
        if let Some(other) = random.pick(&self.seeds) {
            let from = at.min(other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}

impl Failure {
    /// The failure as a test reports it.
    pub fn report(&self, target: &str) -> String {
        let input = String::from_utf8_lossy(&self.input);
        format!("fuzz target {target}, input {}: {}\n--- input ---\n{input}\n--- end ---", self.number, self.message)
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without text".to_owned())
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let tail = input.split_off(at.min(input.len()));
    input.extend_from_slice(piece);
    input.extend_from_slice(&tail);
}

/// Repeats a piece right after itself.
fn double(input: &mut Vec<u8>, start: usize, end: usize) {
    let piece = input[start..end].to_vec();
    insert(input, end, &piece);
}

fn flip(input: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

/// Replaces the first number after `at` by an extreme one.
fn replace_number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    const EXTREMES: &[&str] = &[
        "0",
        "-1",
        "1",
        "1024",
        "1025",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "1e308",
        "1e999",
        "-0.0",
        "0.0000001",
        "1e-400",
        "99999999999999999999999999999",
    ];
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let end = input[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(input.len(), |found| start + found);
    let extreme = random.pick(EXTREMES).unwrap_or(&"0");
    input.splice(start..end, extreme.bytes());
}

/// SplitMix64: small, seedable, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform enough in `0..bound`; 0 when `bound` is 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len() as u64) as usize)
    }
}

/// A trace.dat of version 6 with one CPU, one page and one record.
pub fn small_trace_dat() -> Vec<u8> {
    let format = "name: cpu_idle\nID: 9\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                  \tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n";
    let mut file = b"\x17\x08\x44tracing6\0\0\x08".to_vec();
    file.extend(256u32.to_le_bytes());
    for name in ["header_page\0", "header_event\0"] {
        file.extend(name.as_bytes());
        file.extend(0u64.to_le_bytes());
    }
    file.extend(1u32.to_le_bytes());
    file.extend((format.len() as u64).to_le_bytes());
    file.extend(format.as_bytes());
    file.extend([0; 4 + 4 + 4 + 8]);
    file.extend(1u32.to_le_bytes());
    file.extend(b"options  \0\0\0flyrecord\0");
    let page = (file.len() as u64 + 16).next_multiple_of(256);
    file.extend(page.to_le_bytes());
    file.extend(256u64.to_le_bytes());
    file.resize(page as usize, 0);
    file.extend(77u64.to_le_bytes());
    file.extend(20u64.to_le_bytes());
    file.extend((4u32 | 5 << 5).to_le_bytes());
    file.extend([9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    file.resize(page as usize + 256, 0);
    file
}

/// An experiment small enough to be run some thousand times.
pub const EXPERIMENT: &str = r#"schema = 1
table = "small"
why = "a test"
source = "invented"
platform = "hikey-6220"
profile = "4.16"
duration_s = 0.1
hz = 1000
seeds = 2
calibration = "none"
[assumptions]
hz = "free"
[workload.a]
why = "w"
spec = "periodic:run_us=300,period_us=2000"
[variant.base]
why = "v"
set = { util_est = "off" }
[[row]]
id = "r"
variant = "base"
workload = "a"
quantity = "transitions"
published = 10
tolerance = "10 %"
role = "predicted"
[[claim]]
id = "c"
text = "few"
row = "r"
max = 20.0
"#;
