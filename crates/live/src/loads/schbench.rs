// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `schbench` with the semantics of 2016. A worker puts itself on its message thread's list, wakes that thread
//! and waits; called, it notes how long ago it was called and spins. A message thread takes the time once, wakes all of
//! its list (the last to come first), waits until a worker comes, and sleeps; up to a quarter longer, at random.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use super::made::{pause, spin};
use super::{Running, now};

/// Time for which a thread waits before it looks whether the load is over.
const PATIENCE: Duration = Duration::from_millis(200);

/// Sizes of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub message_threads: u64,
    pub workers: u64,
    pub cputime_us: u64,
    pub sleeptime_us: u64,
}

/// A worker as its message thread sees it.
struct Worker {
    thread: Thread,
    called: AtomicBool,
    called_ns: AtomicU64,
}

/// A message thread as its workers see it.
#[derive(Default)]
struct Messages {
    thread: OnceLock<Thread>,
    list: Mutex<Vec<Arc<Worker>>>,
    came: AtomicBool,
}

/// Starts all of it; latencies in us go to the results.
pub(super) fn start(running: &mut Running, shape: Shape) {
    for index in 0..shape.message_threads {
        let messages = Arc::new(Messages::default());
        let own = Arc::clone(&messages);
        running.spawn(&format!("message-{index}"), move |stop| {
            let _ = own.thread.set(std::thread::current());
            let mut seed = index + 1;
            while !stop.load(Ordering::Relaxed) {
                own.call_all();
                wait(&own.came, stop);
                pause(Duration::from_micros(shape.sleeptime_us + jitter(&mut seed, shape.sleeptime_us)));
            }
            own.call_all();
        });
        for worker in 0..shape.workers {
            let (messages, results) = (Arc::clone(&messages), running.results());
            running.spawn(&format!("worker-{worker}"), move |stop| {
                let mut latencies = Vec::new();
                work(&messages, shape, stop, &mut latencies);
                latencies.into_iter().for_each(|us| results.add("schbench_us", us as f64));
            });
        }
    }
}

/// Whole microseconds below a quarter of the sleep.
fn jitter(seed: &mut u64, sleeptime_us: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % (sleeptime_us / 4).max(1)
}

/// Waits until the mark is set, and takes it away.
fn wait(mark: &AtomicBool, stop: &AtomicBool) {
    while !mark.swap(false, Ordering::AcqRel) && !stop.load(Ordering::Relaxed) {
        std::thread::park_timeout(PATIENCE);
    }
}

impl Messages {
    fn call_all(&self) {
        self.came.store(false, Ordering::Release);
        let called_ns = u64::try_from(now().as_nanos()).unwrap_or(0);
        let Ok(mut list) = self.list.lock() else { return };
        let all = std::mem::take(&mut *list);
        drop(list);
        for worker in all.into_iter().rev() {
            worker.called_ns.store(called_ns, Ordering::Relaxed);
            worker.called.store(true, Ordering::Release);
            worker.thread.unpark();
        }
    }

    fn enlist(&self, worker: &Arc<Worker>) {
        if let Ok(mut list) = self.list.lock() {
            list.push(Arc::clone(worker));
        }
        self.came.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

fn work(messages: &Messages, shape: Shape, stop: &AtomicBool, latencies: &mut Vec<u64>) {
    let (called, called_ns) = (AtomicBool::new(false), AtomicU64::new(0));
    let own = Arc::new(Worker { thread: std::thread::current(), called, called_ns });
    while !stop.load(Ordering::Relaxed) {
        messages.enlist(&own);
        wait(&own.called, stop);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let begin = now();
        let since_ns = (begin.as_nanos() as u64).saturating_sub(own.called_ns.load(Ordering::Relaxed));
        // A latency below a microsecond is none.
        if since_ns >= 1000 {
            latencies.push(since_ns / 1000);
        }
        spin(begin + Duration::from_micros(shape.cputime_us));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_are_called_note_how_long_ago() {
        let messages = Arc::new(Messages::default());
        let stop = Arc::new(AtomicBool::new(false));
        let shape = Shape { message_threads: 1, workers: 1, cputime_us: 10, sleeptime_us: 100 };
        let (theirs, ends) = (Arc::clone(&messages), Arc::clone(&stop));
        let worker = std::thread::spawn(move || {
            let mut latencies = Vec::new();
            work(&theirs, shape, &ends, &mut latencies);
            latencies
        });
        for _ in 0..20 {
            pause(Duration::from_millis(1));
            messages.call_all();
        }
        stop.store(true, Ordering::Relaxed);
        messages.call_all();
        let latencies = worker.join().expect("the worker ends");
        assert!(!latencies.is_empty() && latencies.iter().all(|us| *us < 10_000_000), "{latencies:?}");
    }

    #[test]
    fn sleeps_are_up_to_a_quarter_longer() {
        let mut seed = 3;
        let all: Vec<u64> = (0..1000).map(|_| jitter(&mut seed, 10_000)).collect();
        assert!(all.iter().all(|us| *us < 2500) && all.iter().any(|us| *us > 2400), "{:?}", all.iter().max());
    }
}
