// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `wakeups`: as many different placements as a machine makes: short sleepers of several classes, pairs that
//! talk over pipes, one that wakes many, and task groups inside task groups.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::{GROUPS, Periodic, Running};

/// Round trips of a pair before it pauses.
const ROUNDS: u32 = 4;
/// Pairs that talk.
const PAIRS: u32 = 2;
/// Tasks that one wakes at once.
const CROWD: u32 = 6;
/// Pause of pairs and crowds.
const PAUSE: Duration = Duration::from_millis(16);
/// Time for which a thread waits for a call before it looks whether the load is over.
const PATIENCE: Duration = Duration::from_millis(50);

/// Starts all of them. Without the cpu controller there are no groups, and a note says so.
pub(super) fn start(running: &mut Running) -> io::Result<()> {
    let groups = groups_or_note(running);
    running.periodic(sleepers(&groups));
    for pair in 0..PAIRS {
        talk(running, pair)?;
    }
    call(running);
    Ok(())
}

/// Nested groups, or none and a note.
pub(super) fn groups_or_note(running: &mut Running) -> Vec<PathBuf> {
    groups(running).unwrap_or_else(|error| {
        running.notes.push(format!("no task groups: {error}"));
        Vec::new()
    })
}

/// A group, one inside it, and one beside it: their files of tasks.
fn groups(running: &mut Running) -> io::Result<Vec<PathBuf>> {
    let outer = Path::new(GROUPS).join(format!("pelton-{}-outer", std::process::id()));
    let beside = Path::new(GROUPS).join(format!("pelton-{}-beside", std::process::id()));
    let all = [outer.clone(), outer.join("inner"), beside];
    for (group, shares) in all.iter().zip(["1024", "512", "3072"]) {
        running.restore.make_group(group)?;
        std::fs::write(group.join("cpu.shares"), shares)?;
    }
    Ok(all.map(|group| group.join("tasks")).to_vec())
}

fn sleepers(groups: &[PathBuf]) -> Vec<Periodic> {
    let run_and_period = [
        (180, 10_800),
        (450, 15_600),
        (900, 25_200),
        (270, 8_400),
        (1500, 44_400),
        (120, 13_200),
        (660, 20_400),
        (2400, 63_600),
        (360, 34_800),
        (210, 22_800),
    ];
    let nices = [0, 0, -5, 0, 5, 0, 0, 10, 0, 0];
    let one = |(index, (&(run, period), nice)): (usize, (&(u64, u64), i32))| Periodic {
        nice,
        idle_policy: index % 5 == 3,
        // Every fourth stays in the root.
        group: groups.get(index % 4).cloned(),
        ..Periodic::new(&format!("sleeper-{index}"), run, period)
    };
    run_and_period.iter().zip(nices).enumerate().map(one).collect()
}

/// Two tasks that wake each other, a burst at a time.
fn talk(running: &mut Running, pair: u32) -> io::Result<()> {
    let ((mut hears_ping, mut ping), (mut hears_pong, mut pong)) = (io::pipe()?, io::pipe()?);
    running.spawn(&format!("ping-{pair}"), move |stop| {
        while !stop.load(Ordering::Relaxed) {
            let talks = (0..ROUNDS).all(|_| ping.write_all(&[1]).is_ok() && heard(&mut hears_pong));
            if !talks {
                return;
            }
            pause();
        }
    });
    running.spawn(&format!("pong-{pair}"), move |_| while heard(&mut hears_ping) && said(&mut pong) {});
    Ok(())
}

/// Sleeping is what such a task does.
fn pause() {
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::empty(), &PAUSE.into());
}

/// False when the other end is closed.
fn heard(from: &mut PipeReader) -> bool {
    from.read_exact(&mut [0]).is_ok()
}

fn said(to: &mut PipeWriter) -> bool {
    to.write_all(&[1]).is_ok()
}

/// One task that wakes a crowd again and again.
fn call(running: &mut Running) {
    let calls = Arc::new((Mutex::new(0u64), Condvar::new()));
    for index in 0..CROWD {
        let calls = Arc::clone(&calls);
        running.spawn(&format!("crowd-{index}"), move |stop| {
            let mut heard = 0;
            while !stop.load(Ordering::Relaxed) {
                let Ok(number) = calls.0.lock() else { return };
                let waited = calls.1.wait_timeout_while(number, PATIENCE, |number| *number == heard);
                let Ok((number, _)) = waited else { return };
                heard = *number;
            }
        });
    }
    running.spawn("caller", move |stop| {
        while !stop.load(Ordering::Relaxed) {
            pause();
            if let Ok(mut number) = calls.0.lock() {
                *number += 1;
            }
            calls.1.notify_all();
        }
    });
}
