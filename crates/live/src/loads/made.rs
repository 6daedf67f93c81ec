// SPDX-License-Identifier: GPL-2.0-or-later
//! Loads written as workloads of `pelton run` are: `busy:threads=4+bursts:run_us=300,sleep_us=500,threads=8`. What the
//! guest does and what the simulator does are one text then.
//!
//! Times of work are what a CPU gave a thread, however fast that is, and found without asking for the thread's clock
//! (`own_time.rs` says why).

use std::collections::BTreeMap;
use std::time::Duration;

use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::own_time::OwnTime;
use super::{Periodic, Running, START_EVERY, Speeds, now, prepare};

/// Most threads of one part.
const THREADS_MAX: u64 = 1000;
/// Longest time, microseconds.
const TIME_US_MAX: u64 = 1_000_000_000;
/// Iterations between two looks at the clock: as many as fit into half of the rest, within these bounds.
const CHUNK: std::ops::RangeInclusive<u64> = 100..=20_000;
/// Iterations between two hints that the CPU waits. An emulator that executes one CPU after another goes on with the
/// next one then, where it would not before the next timer.
const HINTS: u64 = 128;

/// Behaviour of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Work in every period; a missed one begins at once, and periods go on from there.
    Periods { run_us: u64, period_us: u64 },
    /// Work, then sleep.
    Bursts { run_us: u64, sleep_us: u64 },
    /// Work.
    Works,
    /// Messages of a group of senders and receivers.
    Messages { groups: u64, fds: u64, loops: u64, bytes: u64, sockets: bool },
    /// Message threads that wake workers.
    Calls { message_threads: u64, cputime_us: u64, sleeptime_us: u64 },
}

/// Threads that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub(super) name: String,
    pub(super) does: Does,
    pub(super) threads: u64,
    pub(super) nice: i32,
    pub(super) fifo: Option<i32>,
    pub(super) idle_policy: bool,
    /// The only CPU that it runs on.
    pub(super) cpu: Option<usize>,
}

/// The options of a part that were not used yet.
struct Options<'a> {
    part: &'a str,
    left: BTreeMap<&'a str, &'a str>,
}

impl<'a> Options<'a> {
    fn of(part: &'a str) -> Result<(&'a str, Options<'a>), String> {
        let (model, options) = part.split_once(':').unwrap_or((part, ""));
        let mut left = BTreeMap::new();
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) =
                option.split_once('=').ok_or_else(|| format!("`{option}` of `{part}` is not KEY=VALUE"))?;
            if left.insert(key, value).is_some() {
                return Err(format!("`{key}` is given twice in `{part}`"));
            }
        }
        Ok((model, Options { part, left }))
    }

    fn number(&mut self, key: &str, default: Option<u64>, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let Some(text) = self.left.remove(key) else {
            return default.ok_or_else(|| format!("`{}` needs `{key}`", self.part));
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("`{key}={text}`: a number in {}..={} is expected", range.start(), range.end()))
    }

    fn word(&mut self, key: &str, words: &[&str]) -> Result<usize, String> {
        let Some(text) = self.left.remove(key) else { return Ok(0) };
        let place = words.iter().position(|word| *word == text);
        place.ok_or_else(|| format!("`{key}={text}`: {} is expected", words.join(" or ")))
    }

    fn time(&mut self, key: &str, default: Option<u64>) -> Result<u64, String> {
        self.number(key, default, 1..=TIME_US_MAX)
    }
}

/// Reads a load.
///
/// # Errors
/// A sentence about what is wrong.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, String> {
    text.split('+').map(part).collect()
}

fn part(text: &str) -> Result<Part, String> {
    let (model, mut options) = Options::of(text)?;
    let does = match model {
        "periodic" => {
            Does::Periods { run_us: options.time("run_us", None)?, period_us: options.time("period_us", None)? }
        }
        "bursts" => Does::Bursts { run_us: options.time("run_us", None)?, sleep_us: options.time("sleep_us", None)? },
        "busy" => Does::Works,
        "hackbench" => messages(&mut options)?,
        "schbench" => calls(&mut options)?,
        other => return Err(format!("no part is called `{other}`")),
    };
    let is_bench = matches!(does, Does::Messages { .. });
    let threads = if is_bench { 1 } else { options.number("threads", Some(1), 1..=THREADS_MAX)? };
    let nice = match options.left.remove("nice") {
        None => 0,
        Some(text) => text.parse().ok().filter(|nice| (-20..=19).contains(nice)).ok_or("`nice` is -20 to 19")?,
    };
    let cpu =
        if options.left.contains_key("cpus") { Some(options.number("cpus", None, 0..=1023)? as usize) } else { None };
    let policy = options.word("policy", &["other", "fifo", "idle"])?;
    let priority = options.number("priority", Some(10), 1..=99)? as i32;
    let name = options.left.remove("name").unwrap_or(model).to_owned();
    if let Some(key) = options.left.keys().next() {
        return Err(format!("`{model}` has no option `{key}` here"));
    }
    Ok(Part { name, does, threads, nice, fifo: (policy == 1).then_some(priority), idle_policy: policy == 2, cpu })
}

fn messages(options: &mut Options<'_>) -> Result<Does, String> {
    if options.word("mode", &["", "threads"])? != 1 {
        return Err("hackbench is made of threads here: mode=threads".to_owned());
    }
    Ok(Does::Messages {
        groups: options.number("groups", Some(10), 1..=100)?,
        fds: options.number("fds", Some(20), 1..=100)?,
        loops: options.number("loops", Some(100), 1..=1_000_000)?,
        bytes: options.number("bytes", Some(100), 1..=100_000)?,
        sockets: options.word("channel", &["sockets", "pipes"])? == 0,
    })
}

fn calls(options: &mut Options<'_>) -> Result<Does, String> {
    if options.word("form", &["", "2016"])? != 1 {
        return Err("schbench is that of 2016 here: form=2016".to_owned());
    }
    Ok(Does::Calls {
        message_threads: options.number("message_threads", Some(2), 1..=THREADS_MAX)?,
        cputime_us: options.time("cputime_us", Some(10_000))?,
        sleeptime_us: options.time("sleeptime_us", Some(10_000))?,
    })
}

/// Starts every thread of every part.
pub(super) fn start(running: &mut Running, parts: &[Part]) -> std::io::Result<()> {
    let mut next = now();
    for part in parts {
        match part.does {
            Does::Messages { groups, fds, loops, bytes, sockets } => {
                super::hackbench::start(running, super::hackbench::Shape { groups, fds, loops, bytes, sockets })?;
            }
            Does::Calls { message_threads, cputime_us, sleeptime_us } => {
                let shape = super::schbench::Shape { message_threads, workers: part.threads, cputime_us, sleeptime_us };
                super::schbench::start(running, shape);
            }
            _ => threads(running, part, &mut next),
        }
    }
    Ok(())
}

/// Makes threads one after the other. A period begins when its thread was to be made, however long making it took: what
/// phases tasks begin with decides how they meet.
fn threads(running: &mut Running, part: &Part, next: &mut Duration) {
    for index in 0..part.threads {
        let mut begin = *next;
        *next += START_EVERY;
        sleep_until(begin);
        let task = Periodic {
            nice: part.nice,
            fifo: part.fifo,
            idle_policy: part.idle_policy,
            cpu: part.cpu,
            ..Periodic::new(&format!("{}-{index}", part.name), 0, 0)
        };
        let (does, (sender, told)) = (part.does, std::sync::mpsc::channel());
        let speeds = running.speeds.clone();
        running.spawn(&task.name.clone(), move |stop| {
            let _ = sender.send(prepare(&task));
            // The simulator's timers are exact as well.
            set_timer_slack();
            let own = OwnTime::here();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                once(does, &mut begin, speeds.as_deref(), &own);
            }
        });
        if let Ok(Err(what)) = told.recv() {
            running.notes.push(format!("{}-{index}: {what}", part.name));
        }
    }
}

/// Sleeps end when they are over, not up to 50 us later.
fn set_timer_slack() {
    // SAFETY: the call changes a number of the calling thread and reads no memory.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

fn once(does: Does, next: &mut Duration, speeds: Option<&Speeds>, own: &OwnTime) {
    let work = |time| speeds.map_or_else(|| own.spend(time), |speeds| speeds.work(time, own));
    match does {
        Does::Periods { run_us, period_us } => {
            work(Duration::from_micros(run_us));
            *next += Duration::from_micros(period_us);
            let now = now();
            if now < *next {
                sleep_until(*next);
            } else {
                *next = now;
            }
        }
        Does::Bursts { run_us, sleep_us } => {
            work(Duration::from_micros(run_us));
            pause(Duration::from_micros(sleep_us));
        }
        _ => work(Duration::from_millis(50)),
    }
}

fn sleep_until(end: Duration) {
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &end.into());
}

pub(super) fn pause(time: Duration) {
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::empty(), &time.into());
}

/// Computes until a moment, looking at the clock the more often the nearer that is. How long an iteration takes is what
/// the last ones took: an emulator that executes one CPU after another takes the longer the more of them are busy.
pub(super) fn spin(end: Duration) {
    let (mut at, mut iterations) = (now(), *CHUNK.start());
    while at < end {
        compute(iterations);
        let after = now();
        let iteration_ns = ((after - at).as_nanos() as u64 / iterations).max(1);
        let left_ns = end.saturating_sub(after).as_nanos() as u64;
        iterations = (left_ns / 2 / iteration_ns).clamp(*CHUNK.start(), *CHUNK.end());
        at = after;
    }
}

/// Does nothing so many times.
fn compute(iterations: u64) {
    for i in 0..iterations {
        if std::hint::black_box(i).is_multiple_of(HINTS) {
            hint();
        }
    }
}

/// Executes the CPU's hint that a thread waits.
fn hint() {
    // What the library has for this machine is a barrier, which an emulator takes for no hint.
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither memory nor registers.
    unsafe {
        std::arch::asm!("yield", options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    std::hint::spin_loop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_list_of_parts() {
        let parts =
            parse("busy:threads=3,nice=5+periodic:run_us=300,period_us=2000,policy=fifo,priority=7,name=a,cpus=2")
                .unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].threads, parts[0].nice, parts[0].does), (3, 5, Does::Works));
        let periods = Does::Periods { run_us: 300, period_us: 2000 };
        assert_eq!((parts[1].name.as_str(), parts[1].does, parts[1].fifo), ("a", periods, Some(7)));
        assert_eq!((parts[0].cpu, parts[1].cpu), (None, Some(2)));
        assert!(parse("hackbench:groups=2,mode=threads,channel=pipes").is_ok() && parse("schbench:form=2016").is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("lazy", "no part"),
            ("bursts:run_us=3", "sleep_us"),
            ("busy:threads", "KEY=VALUE"),
            ("busy:threads=0", "1..=1000"),
            ("busy:thread=1", "no option"),
            ("busy:threads=1,threads=2", "twice"),
            ("schbench", "2016"),
            ("hackbench", "mode=threads"),
        ] {
            let said = parse(text).expect_err(text);
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
