// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `clamps`: tasks that ask for other clamps again and again and change their task group, while the limits of
//! the groups and of the system change as well.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::dice::Dice;
use super::{GROUPS, Periodic, Running, activation, now, prepare};

/// Limits of the system, upper first: it must not fall below the lower one.
const SYSTEM: [&str; 2] = ["/proc/sys/kernel/sched_util_clamp_max", "/proc/sys/kernel/sched_util_clamp_min"];
/// The largest clamp.
const CLAMP_MAX: u64 = 1024;
/// A task asks for other clamps in one of so many periods, and changes its group in one of so many.
const CLAMPS_EVERY: u64 = 4;
const GROUP_EVERY: u64 = 9;
/// Time for which limits stay.
const LIMITS_STAY: Duration = Duration::from_millis(15);
/// The system's limits change in one of so many turns; in most they limit nothing.
const SYSTEM_EVERY: u64 = 8;

/// Flags of `sched_setattr`: keep policy and parameters, take both clamps.
const KEEP_AND_CLAMP: u64 = 0x08 | 0x10 | 0x20 | 0x40;

/// Argument of `sched_setattr`, as in `include/uapi/linux/sched/types.h` since 5.3.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

/// A lower and an upper clamp. The edges are as likely as everything between them.
fn pair(dice: &mut Dice, most: u64) -> (u64, u64) {
    let mut one = || match dice.below(4) {
        0 => 0,
        1 => most,
        _ => dice.below(most + 1),
    };
    let (a, b) = (one(), one());
    (a.min(b), a.max(b))
}

/// Starts all of them.
pub(super) fn start(running: &mut Running) -> io::Result<()> {
    let groups = groups(running)?;
    for path in SYSTEM {
        running.restore.write(Path::new(path), &CLAMP_MAX.to_string())?;
    }
    for (index, task) in tasks().into_iter().enumerate() {
        let folders: Vec<PathBuf> = groups.iter().map(|group| group.join("tasks")).collect();
        running.spawn(&task.name.clone(), move |stop| clamped(&task, index as u64, &folders, stop));
    }
    running.spawn("limits", move |stop| limits(&groups, stop));
    Ok(())
}

/// A group, one inside it, one beside it; the root is one more.
fn groups(running: &mut Running) -> io::Result<Vec<PathBuf>> {
    let name = |name: &str| Path::new(GROUPS).join(format!("pelton-{}-{name}", std::process::id()));
    let (outer, beside) = (name("clamped"), name("beside"));
    let all = vec![outer.clone(), outer.join("inner"), beside];
    for group in &all {
        running.restore.make_group(group)?;
        let has_clamps = group.join("cpu.uclamp.max").exists();
        if !has_clamps {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "groups have no clamps (CONFIG_UCLAMP_TASK_GROUP)"));
        }
    }
    Ok([vec![PathBuf::from(GROUPS)], all].concat())
}

fn tasks() -> Vec<Periodic> {
    let run_and_period = [
        (150, 3_100),
        (400, 5_300),
        (900, 11_700),
        (250, 4_100),
        (1_300, 17_900),
        (120, 2_300),
        (600, 7_900),
        (2_100, 29_300),
        (300, 6_700),
        (180, 3_700),
    ];
    let one = |(index, &(run, period)): (usize, &(u64, u64))| Periodic {
        nice: [0, 0, 5][index % 3],
        fifo: (index % 5 == 4).then_some(3),
        idle_policy: index % 7 == 6,
        ..Periodic::new(&format!("clamped-{index}"), run, period)
    };
    run_and_period.iter().enumerate().map(one).collect()
}

/// A task's life.
fn clamped(task: &Periodic, index: u64, groups: &[PathBuf], stop: &AtomicBool) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (index + 1));
    let _ = prepare(task);
    let mut next = now();
    while !stop.load(Ordering::Relaxed) {
        if dice.one_of(CLAMPS_EVERY) {
            let (min, max) = pair(&mut dice, CLAMP_MAX);
            let _ = ask(min as u32, max as u32);
        }
        if dice.one_of(GROUP_EVERY) {
            // 0 is the writing thread itself.
            let _ = std::fs::write(&groups[dice.below(groups.len() as u64) as usize], "0");
        }
        activation(task, &mut next);
    }
    // A group with tasks in it cannot be taken away.
    let _ = std::fs::write(Path::new(GROUPS).join("tasks"), "0");
}

/// Clamps of the calling thread.
fn ask(min: u32, max: u32) -> io::Result<()> {
    let attr = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        flags: KEEP_AND_CLAMP,
        util_min: min,
        util_max: max,
        ..SchedAttr::default()
    };
    // SAFETY: 0 is the calling thread, and `attr` lives during the call and has the size that its field states.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Changes limits of the groups, now and then of the system.
fn limits(groups: &[PathBuf], stop: &AtomicBool) {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    while !stop.load(Ordering::Relaxed) {
        // The root's cannot be changed.
        let group = &groups[1 + dice.below(groups.len() as u64 - 1) as usize];
        let (min, max) = pair(&mut dice, 10_000);
        let percent = |hundredths: u64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let _ = std::fs::write(group.join("cpu.uclamp.min"), percent(min));
        let _ = std::fs::write(group.join("cpu.uclamp.max"), percent(max));
        if dice.one_of(SYSTEM_EVERY) {
            system(&mut dice);
        }
        let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::empty(), &LIMITS_STAY.into());
    }
}

fn system(dice: &mut Dice) {
    let (min, max) = if dice.one_of(2) { pair(dice, CLAMP_MAX) } else { (CLAMP_MAX, CLAMP_MAX) };
    // First out of each other's way.
    for (path, value) in [(SYSTEM[0], CLAMP_MAX), (SYSTEM[1], min), (SYSTEM[0], max)] {
        let _ = std::fs::write(path, value.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_reaches_the_edges_and_the_middle_and_keeps_the_order() {
        let mut dice = Dice(7);
        let all: Vec<(u64, u64)> = (0..200).map(|_| pair(&mut dice, 1024)).collect();
        assert!(all.iter().all(|(min, max)| min <= max && *max <= 1024));
        assert!(all.contains(&(0, 1024)) && all.iter().any(|(min, max)| *min > 0 && *max < 1024));
    }

    #[test]
    fn the_kernel_reads_as_much_as_is_told() {
        assert_eq!(size_of::<SchedAttr>(), 56);
    }
}
