// SPDX-License-Identifier: GPL-2.0-or-later
//! A process that has a scheduler and is ended.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pelton_live::scheduler::{Attached, Host, Machine};

/// Variable that says how a child ends.
const HOW: &str = "PELTON_LIVE_CHILD";
/// Time after which a child ends in any case.
const LONGEST: Duration = Duration::from_secs(60);

/// Way in which a scheduler ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
    /// An end of dispatching, which the kernel notices.
    Stall,
    /// The process aborts.
    Exit,
}

pub struct Child {
    process: std::process::Child,
    said: BufReader<std::process::ChildStdout>,
    end: End,
}

impl Child {
    /// Starts a process, and waits until its scheduler has all tasks.
    pub fn start(end: End) -> Child {
        let mut process = Command::new(std::env::current_exe().expect("own path"))
            .args(["scheduler::child::a_scheduler_until_it_is_ended", "--exact", "--nocapture"])
            .env(HOW, format!("{end:?}"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = BufReader::new(process.stdout.take().expect("piped"));
        let mut line = String::new();
        while !line.contains("attached") {
            line.clear();
            assert!(said.read_line(&mut line).expect("text") > 0, "{end:?}: it ended before it was attached");
        }
        Child { process, said, end }
    }

    /// Ends it, and says what it said.
    pub fn end(mut self) -> String {
        let signal = match self.end {
            End::Term => Some(libc::SIGTERM),
            End::Kill => Some(libc::SIGKILL),
            End::Stall | End::Exit => None,
        };
        if let Some(signal) = signal {
            // SAFETY: no memory is passed; the child was not waited for, so that the number is its own.
            let sent = unsafe { libc::kill(self.process.id() as i32, signal) };
            assert_eq!(sent, 0, "{:?}", std::io::Error::last_os_error());
        }
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("text");
        self.process.wait().expect("it ends");
        rest
    }
}

/// Not a test by itself: the process that `Child::start` starts.
#[test]
fn a_scheduler_until_it_is_ended() {
    let Ok(how) = std::env::var(HOW) else { return };
    let machine = Machine::here().described().expect("the kernel tells of its domains");
    let mut options = super::options(super::POLICIES[0]);
    options.stall_after = (how == "Stall").then_some(Duration::from_secs(1));
    let mut attached = Attached::start(&machine, &options).expect("the kernel takes it");
    println!("attached");
    let begin = Instant::now();
    while begin.elapsed() < LONGEST {
        attached.stall_when_due();
        if let Some(ended) = attached.ended() {
            println!("{} {}", ended.reason, ended.message);
            return;
        }
        if how == "Exit" && begin.elapsed() > Duration::from_secs(2) {
            std::process::abort();
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}
