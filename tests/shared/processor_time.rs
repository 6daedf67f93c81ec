// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of time that hold on a machine which does other work: of processor time, this thread's or a child's. Tests of
//! several crates include this file.

use std::io::Read;
use std::process::{Child, Command, Output};
use std::sync::mpsc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Longer on the clock than any call takes on a machine that does other work: a call that waits needs no processor.
const HANGS: Duration = Duration::from_secs(300);
/// `USER_HZ`: Linux counts the times of /proc in these for every program.
const TICKS_PER_S: u64 = 100;

/// A moment in the processor time of this thread.
#[derive(Clone, Copy, Debug)]
pub struct Moment(Duration);

impl Moment {
    /// This moment.
    pub fn now() -> Moment {
        Moment(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock").into())
    }

    /// Processor time of this thread since.
    pub fn elapsed(self) -> Duration {
        Moment::now().0 - self.0
    }
}

/// Processor time so far of a child that was not waited for yet, with that of children it waited for itself.
pub fn of(child: &Child) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it was not waited for");
    // The name stands in parentheses and may hold anything.
    let (_, counts) = stat.rsplit_once(')').expect("every process has a name");
    let counts = counts.split_whitespace().skip(11).take(4);
    let ticks: u64 = counts.map(|count| count.parse::<u64>().expect("a count")).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_S)
}

/// Waits for the end of a child whose outputs are pipes, or nothing; and its processor time. One that hangs is killed.
pub fn ended(mut child: Child) -> (Output, Duration) {
    let watch = watch(&child);
    let [out, err] = [child.stdout.take().map(all_of), child.stderr.take().map(all_of)];
    let [stdout, stderr] = [out, err].map(|read| read.map_or(Vec::new(), |read| read.join().expect("it reads")));
    let spent = of(&child);
    let status = child.wait().expect("a child");
    drop(watch);
    (Output { status, stdout, stderr }, spent)
}

fn all_of(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe");
        bytes
    })
}

/// Kills a child that hangs, until what is returned is dropped.
fn watch(child: &Child) -> mpsc::Sender<()> {
    let (keep, dropped) = mpsc::channel();
    let id = child.id().to_string();
    std::thread::spawn(move || {
        if dropped.recv_timeout(HANGS) == Err(mpsc::RecvTimeoutError::Timeout) {
            println!("{id} hangs: {HANGS:?} passed");
            let _ = Command::new("kill").args(["-KILL", &id]).status();
        }
    });
    keep
}
