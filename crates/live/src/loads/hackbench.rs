// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `hackbench`: groups of senders and receivers, as `perf bench sched messaging --thread` has them. Every
//! sender of a group writes `loops` messages to each receiver of its group in turn. The clock runs from the moment all
//! have reported until the last one has ended; then it begins again, until the load is stopped.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::thread::Builder;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::{Running, now};

/// Room of a thread's stack.
const STACK: usize = 64 * 1024;

/// Sizes of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub groups: u64,
    pub fds: u64,
    pub loops: u64,
    pub bytes: u64,
    pub sockets: bool,
}

/// The two ends of a channel.
type Ends = (Box<dyn Read + Send>, Arc<dyn Channel>);

/// An end that all senders of a group write into; each write is one call, as the kernel keeps small ones whole.
trait Channel: Send + Sync {
    fn send(&self, message: &[u8]) -> io::Result<()>;
}

impl Channel for io::PipeWriter {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        (&mut &*self).write_all(message)
    }
}

impl Channel for UnixStream {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        (&mut &*self).write_all(message)
    }
}

impl Shape {
    fn ends(self) -> io::Result<Ends> {
        if self.sockets {
            let (reader, writer) = UnixStream::pair()?;
            return Ok((Box::new(reader), Arc::new(writer)));
        }
        let (reader, writer) = io::pipe()?;
        Ok((Box::new(reader), Arc::new(writer)))
    }
}

/// Runs it again and again; how long each run took goes to the results.
pub(super) fn start(running: &mut Running, shape: Shape) -> io::Result<()> {
    // Whoever cannot have that many files learns it now.
    raise_files();
    drop(shape.ends()?);
    let results = running.results();
    running.spawn("hackbench", move |stop| {
        match costs(shape) {
            Ok([call_ns, switch_ns]) => {
                results.add("call_ns", call_ns);
                results.add("switch_ns", switch_ns);
            }
            Err(error) => results.note(format!("hackbench: what calls cost is not known: {error}")),
        }
        while !stop.load(Ordering::Relaxed) {
            match once(shape) {
                Ok(seconds) => results.add("hackbench_s", seconds),
                Err(error) => {
                    results.note(format!("hackbench: {error}"));
                    return;
                }
            }
        }
    });
    Ok(())
}

/// Rounds of a measurement of costs.
const ROUNDS: u32 = 500;

/// Time to write or read a message when no task waits, and to wake and switch to a task of the same CPU besides; ns,
/// while nothing else runs. They say how fast this machine is, apart from the benchmark.
fn costs(shape: Shape) -> io::Result<[f64; 2]> {
    let message = vec![0; shape.bytes as usize];
    let alone = {
        let (mut reader, writer) = shape.ends()?;
        let (begin, mut room) = (now(), message.clone());
        for _ in 0..ROUNDS {
            writer.send(&message)?;
            reader.read_exact(&mut room)?;
        }
        (now() - begin).as_nanos() as f64 / f64::from(ROUNDS)
    };
    let ((mut ours, to_us), (mut theirs, to_them)) = (shape.ends()?, shape.ends()?);
    on_first_cpu();
    let (answer, mut room) = (message.clone(), message.clone());
    let other = spawn("pong", move || {
        on_first_cpu();
        let mut heard = answer.clone();
        while theirs.read_exact(&mut heard).is_ok() && to_us.send(&answer).is_ok() {}
    })?;
    let begin = now();
    for _ in 0..ROUNDS {
        to_them.send(&message)?;
        ours.read_exact(&mut room)?;
    }
    let round_ns = (now() - begin).as_nanos() as f64 / f64::from(ROUNDS);
    drop((to_them, ours));
    let _ = other.join();
    on_all_cpus();
    Ok([alone / 2.0, round_ns / 2.0 - alone])
}

fn on_first_cpu() {
    let mut set = CpuSet::new();
    let _ = set.set(0).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
}

fn on_all_cpus() {
    let mut set = CpuSet::new();
    let all = (0..CpuSet::count()).all(|cpu| set.set(cpu).is_ok());
    let _ = all.then(|| sched_setaffinity(Pid::from_raw(0), &set));
}

/// As many open files as this process may have.
fn raise_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// One run: seconds from when all are ready until all are gone.
fn once(shape: Shape) -> io::Result<f64> {
    let (start_reader, start_writer) = io::pipe()?;
    let start_fd: Arc<OwnedFd> = Arc::new(start_reader.into());
    let ready = Arc::new(Barrier::new(2 * (shape.groups * shape.fds) as usize + 1));
    let mut threads = Vec::new();
    for _ in 0..shape.groups {
        let mut writers = Vec::new();
        for _ in 0..shape.fds {
            let (reader, writer) = shape.ends()?;
            writers.push(writer);
            let (fd, ready) = (Arc::clone(&start_fd), Arc::clone(&ready));
            let size = (shape.bytes * shape.loops * shape.fds, shape.bytes);
            threads.push(spawn("receiver", move || {
                ready.wait();
                wait_for(&fd);
                receive(reader, size);
            })?);
        }
        for _ in 0..shape.fds {
            let (fd, ready, writers) = (Arc::clone(&start_fd), Arc::clone(&ready), writers.clone());
            threads.push(spawn("sender", move || {
                ready.wait();
                wait_for(&fd);
                send(&writers, shape);
            })?);
        }
    }
    ready.wait();
    let begin = now();
    start_writer.send(&[0])?;
    for thread in threads {
        let _ = thread.join();
    }
    Ok((now() - begin).as_secs_f64())
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<std::thread::JoinHandle<()>> {
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work)
}

/// Waits until there is something in the pipe, and does not read it.
fn wait_for(fd: &OwnedFd) {
    let mut one = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one record of this frame, which lives during the call.
    unsafe { libc::poll(&raw mut one, 1, -1) };
}

fn receive(mut reader: Box<dyn Read + Send>, (all, bytes): (u64, u64)) {
    let (mut message, mut left) = (vec![0; bytes as usize], all);
    while left > 0 {
        match reader.read(&mut message) {
            Ok(0) | Err(_) => return,
            Ok(n) => left = left.saturating_sub(n as u64),
        }
    }
}

fn send(writers: &[Arc<dyn Channel>], shape: Shape) {
    let message = vec![0; shape.bytes as usize];
    for _ in 0..shape.loops {
        for writer in writers {
            if writer.send(&message).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_arrives() {
        for sockets in [false, true] {
            let seconds = once(Shape { groups: 2, fds: 3, loops: 5, bytes: 100, sockets }).expect("it runs");
            assert!(seconds > 0.0 && seconds < 60.0, "{seconds}");
            let [call_ns, switch_ns] = costs(Shape { groups: 1, fds: 1, loops: 1, bytes: 100, sockets }).expect("runs");
            assert!(call_ns > 0.0 && switch_ns < 1e9, "{call_ns} {switch_ns}");
        }
    }
}
