// SPDX-License-Identifier: GPL-2.0-or-later
//! Agreement of `pelton validate` with the logs of `pelton run`, over random boards, loads, profiles, switches and
//! parameters.
//!
//! `PELTON_OWN_SEED` is the first seed, `PELTON_OWN_COUNT` how many runs follow. A failure prints the two commands.

use crate::random_runs::{Dice, Scenario, grouped_scenario, scenario};
use crate::support::pelton;
use pelton_scenario::platform;
use pelton_schema::{Event, Sink};
use pelton_trace::{LogReader, PeltonLog, RunHeader};
use std::fs::File;
use std::path::Path;

/// Runs tried without being asked for another number; about one in ten is refused.
const COUNT: u64 = 300;
/// Runs with nothing to check, of 1000: their speeds are not in the log, or they have few events.
const UNCHECKED_PERMILLE_MAX: usize = 20;

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// Result of one run.
enum Outcome {
    Refused,
    Agrees,
    /// Nothing to check; the command's output says so.
    Unchecked,
    /// Averages rebuilt from the schedule are outside their tolerance.
    Outside(String),
    Wrong(String),
}

fn outcome(scenario: &Scenario, log: &Path) -> Outcome {
    let log = log.display().to_string();
    let mut words = scenario.arguments();
    words.extend(["-q", "--log", &log].map(str::to_owned));
    let run = pelton(&words.iter().map(String::as_str).collect::<Vec<_>>());
    if run.code == 2 || run.code == 3 {
        return Outcome::Refused;
    }
    assert_eq!(run.code, 0, "{}\n{}", scenario.command(), run.stderr);
    let own = pelton(&["validate", &log]);
    let told = format!("{} --log own.plog; pelton validate own.plog\n{}", scenario.command(), own.stdout);
    match own.code {
        0 => Outcome::Agrees,
        5 if own.stdout.contains("nothing in this trace can be checked") => Outcome::Unchecked,
        1 if own.stdout.contains(" 0 divergent") && own.stdout.contains("OUTSIDE") => Outcome::Outside(told),
        _ => Outcome::Wrong(told),
    }
}

/// The run with groups in which one record of a queue is taken for another moment (F-463).
const GROUP_MISSES: [u64; 1] = [266];

/// Runs of seeds from `PELTON_OWN_SEED` on, validated; `draw` makes a run of a seed, the `known` ones are outside.
fn validated(draw: fn(u64, &[String]) -> Scenario, count: u64, known: &[u64]) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = folder.path().join("own.plog");
    let platforms: Vec<String> = platform::list().into_iter().filter(|p| p.simulated).map(|p| p.name).collect();
    let (first, count) = (from_environment("PELTON_OWN_SEED", 1), from_environment("PELTON_OWN_COUNT", count));
    let (mut agree, mut unchecked, mut outside, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let mut scenario = draw(seed, &platforms);
        scenario.inputs.duration_ns = Some(Dice(seed).between(50_000_000, 1_000_000_000));
        match outcome(&scenario, &log) {
            Outcome::Refused => {}
            Outcome::Agrees => {
                assert!(!known.contains(&seed), "seed {seed} is inside: it is no longer a known miss");
                agree += 1;
            }
            Outcome::Unchecked => unchecked += 1,
            Outcome::Outside(_) if known.contains(&seed) => agree += 1,
            Outcome::Outside(told) => outside.push(format!("seed {seed}: {told}")),
            Outcome::Wrong(told) => wrong.push(format!("seed {seed}: {told}")),
        }
    }
    let ran = agree + unchecked + outside.len() + wrong.len();
    println!("{ran} of {count} runs, {agree} agree, {unchecked} unchecked, {} outside", outside.len());
    assert!(wrong.is_empty(), "{} of {ran} runs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(outside.is_empty(), "{}\n{}", outside.len(), outside.join("\n"));
    assert!(unchecked * 1000 <= ran * UNCHECKED_PERMILLE_MAX, "{unchecked} of {ran} have nothing to check");
    assert!(count < 100 || ran as u64 * 3 >= count * 2, "most are refused: {ran} of {count}");
}

#[test]
fn runs_of_ours_validate() {
    validated(scenario, COUNT, &[]);
}

/// Groups in groups, weights, quotas and clamps that change, programs of several tasks beside each other.
#[test]
fn runs_of_ours_with_groups_validate() {
    validated(grouped_scenario, COUNT, &GROUP_MISSES);
}

/// Tasks of two groups on few CPUs, which move and sleep.
const TWO_GROUPS: &str = "bursts:run_us=3000,sleep_us=2000,threads=3,group=/a + \
                          bursts:run_us=900,sleep_us=4000,threads=3,group=/c + ui-frames:group=/a/b";

/// A log of a run with `TWO_GROUPS`, changed.
fn retold(folder: &Path, profile: &str, header: impl Fn(&mut RunHeader), tell: impl Fn(&mut Event)) -> Outcome {
    let (log, other) = (folder.join("log"), folder.join("other"));
    let name = |path: &Path| path.display().to_string();
    let run = ["run", "--platform", "juno-r2", "--workload", TWO_GROUPS, "--duration", "600ms", "-q"];
    let run = pelton(&[&run[..], &["--profile", profile, "--log", &name(&log)]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let reader = LogReader::open(File::open(&log).expect("there")).expect("a log");
    let mut run = reader.header().clone();
    header(&mut run);
    let mut written = PeltonLog::new(File::create(&other).expect("a file"), &run);
    for event in reader {
        let (at, mut event) = event.expect("whole");
        tell(&mut event);
        written.event(at, &event);
    }
    written.finish().expect("written");
    let said = pelton(&["validate", &name(&other)]);
    match said.code {
        0 if said.stdout.contains("util_avg of task groups on CPUs") => Outcome::Agrees,
        1 if said.stdout.contains(" 0 divergent") && said.stdout.contains("OUTSIDE") => Outcome::Outside(said.stdout),
        _ => Outcome::Wrong(said.stdout),
    }
}

/// Groups of tasks, and the way in which a kernel takes tasks out of groups, decide what their queues have.
#[test]
fn a_run_does_not_validate_with_a_wrong_group_or_a_wrong_rule_of_groups() {
    let directory = tempfile::tempdir().expect("a directory");
    let told = |profile: &str, header: fn(&mut RunHeader), tell: fn(&mut Event)| {
        retold(directory.path(), profile, header, tell)
    };
    for profile in ["4.16", "5.4", "6.1", "6.12", "7.2"] {
        let as_it_was = told(profile, |_| {}, |_| {});
        assert!(matches!(as_it_was, Outcome::Agrees), "{profile}");
        let moved = told(
            profile,
            |_| {},
            |event| {
                if let Event::TaskAttributes { tid: 1, group, .. } = event {
                    *group = 2;
                }
            },
        );
        assert!(matches!(moved, Outcome::Outside(_)), "{profile}: a task that the log puts into another group");
        let paths = told(profile, |header| header.groups.swap(1, 3), |_| {});
        assert!(matches!(paths, Outcome::Outside(_)), "{profile}: paths of two groups exchanged");
    }
    let removed = |header: &mut RunHeader| header.policy = "queued_migrant=removed".to_owned();
    assert!(matches!(told("7.2", removed, |_| {}), Outcome::Outside(_)), "a rule of older kernels");
}

/// Tasks of a group that end on a CPU which only other classes then use: their utilization stays until the
/// group's average is next updated (seed 700016).
#[test]
fn a_run_whose_tasks_end_in_a_group_validates() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let load = "hackbench:groups=1,fds=4,loops=11 + hackbench:groups=1,fds=3,loops=6 + \
                periodic:run_us=19397,period_us=30935,policy=deadline,budget_us=19397";
    let run = ["run", "--platform", "odroid-n2-s922x", "--workload", load, "--group", "/a/b", "--hz", "1000", "-q"];
    let rest = ["--profile", "5.10", "--duration", "795ms", "--set", "governor=ondemand", "--log", &log];
    let run = pelton(&[&run[..], &rest].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = pelton(&["validate", &log]);
    assert!(said.code == 0 && said.stdout.contains("util_avg of task groups"), "{}{}", said.stdout, said.stderr);
}

/// Time in interrupts is no task's: averages are rebuilt without it, whether the release has a signal of its own for it
/// or not.
#[test]
fn runs_with_interrupts_validate() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    for (profile, load) in [
        ("4.12", "io:run_us=5,service_us=20,irq_us=60"),
        ("7.2", "io:run_us=5,service_us=20,irq_us=60,cpus=0"),
        ("7.2", "io:run_us=5,service_us=20,irq_us=60,cpus=0 + busy:cpus=0"),
        ("6.1", "io:run_us=300,service_us=100,depth=4,irq_us=60,threads=3,cpus=0 + busy:cpus=0"),
    ] {
        let run = ["run", "--platform", "juno-r0", "--workload", load, "--profile", profile, "-q"];
        let run = pelton(&[&run[..], &["--duration", "500ms", "--log", &log]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let said = pelton(&["validate", &log]);
        assert!(said.code == 0 && said.stdout.contains("util_avg of tasks"), "{profile} {load}\n{}", said.stdout);
    }
}

/// A frequency that changes between two looks at a real-time average: time before the first look counts once, at its
/// speed.
#[test]
fn real_time_averages_of_a_run_with_rare_changes_of_frequency_validate() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let load = "cyclictest:threads=4,interval_us=2829 + periodic:run_us=11090,period_us=24108,policy=fifo,priority=10";
    let run = ["run", "--platform", "sc8280xp-8cx-gen3", "--workload", load, "--hz", "300", "-q"];
    let rest = ["--profile", "5.4", "--duration", "779ms", "--rate-limit-us", "20000", "--seed", "4294967296"];
    let run = pelton(&[&run[..], &rest, &["--log", &log]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = pelton(&["validate", &log]);
    let rows = said.stdout.lines().filter(|line| line.contains("of the RT class") && line.ends_with(" inside"));
    assert!(said.code == 0 && rows.count() == 1, "{}{}", said.stdout, said.stderr);
    // Averages without sums: no fault can be put in, and none was let pass.
    let tested = pelton(&["validate", &log, "--self-test"]);
    assert!(tested.code == 5 && !tested.stdout.contains("NO"), "{}{}", tested.stdout, tested.stderr);
}

/// Until ticks come with an event (5.8), no event says that a tick looked at the clock shortly before the frequency
/// rose: for 4 ms at 208 MHz that could be 17 % or 80 % of them.
#[test]
fn averages_behind_a_change_of_frequency_that_found_an_old_clock_are_taken_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let load = "bursts:run_us=800,sleep_us=3000,threads=6";
    let run = ["run", "--platform", "hikey-6220", "--workload", load, "--profile", "5.4", "--duration", "50ms", "-q"];
    let run = pelton(&[&run[..], &["--log", &log]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = pelton(&["validate", &log]);
    let inside = |of: &str| said.stdout.lines().any(|line| line.contains(of) && line.ends_with(" inside"));
    assert!(said.code == 0 && inside("util_avg of CPUs") && inside("util_avg of tasks"), "{}", said.stdout);
    assert!(said.stdout.contains("changes of frequency found a busy CPU"), "{}", said.stdout);
}

/// Averages of tasks whose group is over its quota stand still, and no event says which tasks these are.
#[test]
fn runs_with_quotas_validate() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let quota = "group:path=/a,cpu.max=20000 50000 + busy:group=/a,threads=2";
    for (board, others) in
        [("juno-r2", "busy + ui-frames + "), ("rock-5b-rk3588", "busy:threads=9 + "), ("juno-r0", "")]
    {
        for profile in ["4.12", "5.4", "6.12", "7.2"] {
            let load = format!("{others}{quota}");
            let about = ["--platform", board, "--profile", profile, "-q"];
            let run =
                pelton(&[&["run", "--workload", &load, "--duration", "500ms", "--log", &log], &about[..]].concat());
            assert_eq!(run.code, 0, "{board} {profile}: {}", run.stderr);
            let said = pelton(&["validate", &log]);
            assert!(said.code == 0, "{board} {profile}: {}{}", said.stdout, said.stderr);
            assert!(
                said.stdout.contains("not measured: util_avg of tasks: a quota stopped"),
                "{board} {profile}: {}",
                said.stdout
            );
        }
    }
}

/// Values that are written into files of groups are in the log, in explanations and in a Perfetto trace.
#[test]
fn what_is_written_into_files_of_groups_shows_everywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (log, perfetto, text) = (file("log"), file("run.pftrace"), file("run.txt"));
    let load = "busy:threads=2,group=/a + periodic:run_us=500,period_us=5000 + \
                group:path=/a,cpu.idle=1,from_ms=40 + group:path=/a,cpu.idle=0,from_ms=60 + \
                group:path=/a,cpu.max=50000,cpu.uclamp.max=50,from_ms=80";
    let run = ["--workload", load, "--platform", "juno-r2", "--profile", "6.12", "-q", "--duration", "100ms"];
    let good = |words: &[&str]| {
        let done = pelton(words);
        assert_eq!(done.code, 0, "{words:?}: {}", done.stderr);
        done.stdout
    };
    good(&[&["run", "--log", &log], &run[..]].concat());
    good(&["trace", "export", &log, "--to", "text", "-o", &text]);
    good(&["trace", "export", &log, "--to", "perfetto", "-o", &perfetto]);
    good(&["validate", &log]);
    let told = std::fs::read_to_string(&text).expect("written");
    assert_eq!(told.matches("task_group").count(), 4, "{told}");
    let trace = std::fs::read(&perfetto).expect("written");
    let has = |text: &str| trace.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(["Task groups", "files written", "cpu.idle 1"].iter().all(|text| has(text)));
    for kind in [&[][..], &["--placement"], &["--balance"], &["--walk"]] {
        let said = good(&[&["explain"], kind, &["--at", "70ms"], &run[..]].concat());
        let rows: Vec<&str> = said.lines().filter(|line| line.contains("cpu.")).collect();
        let idle = rows.iter().any(|row| row.split_whitespace().eq(["/a", "cpu.idle", "1", "0", "0.060000000"]));
        assert!(idle && rows.len() == 1, "{kind:?} at 70 ms: {said}");
    }
    let early = good(&[&["explain", "--at", "30ms"], &run[..]].concat());
    assert!(!early.contains("files of task groups"), "{early}");
}

#[test]
fn runs_with_limits_validate() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let load = "busy:threads=3 + periodic:run_us=2000,period_us=10000,threads=3";
    let boards = [("rock-5b-rk3588", 1_300_000, 1_200_000), ("juno-r2", 800_000, 575_000)];
    for (board, first, second) in boards.into_iter().chain([("intel-lunar-lake-226v", 1_300_000, 1_200_000)]) {
        let cooling = format!("limits:by=cooling,max_khz={second},from_ms=600");
        let load = format!("{load} + limits:max_khz={first},from_ms=200 + limits:from_ms=500 + {cooling}");
        for profile in ["4.12", "4.19", "6.6", "7.2"] {
            let about = ["--platform", board, "--profile", profile, "-q"];
            let run =
                pelton(&[&["run", "--workload", &load, "--duration", "800ms", "--log", &log], &about[..]].concat());
            assert_eq!(run.code, 0, "{board} {profile}: {}", run.stderr);
            let said = pelton(&[&["validate", &log], &about[..]].concat());
            assert!(said.stdout.contains(" 0 divergent"), "{board} {profile}: {}{}", said.stdout, said.stderr);
        }
    }
}

/// Boosts for I/O are frequencies up to 5.0; a decision has them rounded down to a unit of capacity.
#[test]
fn boosts_for_io_validate() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log").display().to_string();
    let load = "io:run_us=13369,service_us=37613,irq_us=1,threads=2";
    for profile in ["4.12", "4.16", "4.19", "5.4", "7.2"] {
        let about = ["--platform", "chromebook-kukui-mt8183", "--profile", profile, "--duration", "700ms", "-q"];
        let run = pelton(&[&["run", "--workload", load, "--log", &log], &about[..]].concat());
        assert_eq!(run.code, 0, "{profile}: {}", run.stderr);
        let said = pelton(&["validate", &log]);
        assert!(said.code == 0, "{profile}: {}{}", said.stdout, said.stderr);
    }
}
