// SPDX-License-Identifier: GPL-2.0-or-later
//! Time that a thread has run, found without the scheduler's notice. The thread's own clock is not: whoever asks for it
//! makes the kernel charge the running task at once (`task_sched_runtime()` calls `update_curr()`), and a request that
//! is over ends there instead of at the next tick. A load that asks all the time runs as if a timer ended requests.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::made::spin;
use super::{cpu_time, now};

/// Time in which a thread ran, ns, in which it waited for a CPU, ns, and how often it got one.
const COUNTERS: &str = "/proc/thread-self/schedstat";

/// Counters by which a thread knows its time.
pub(super) struct OwnTime {
    /// Its counters; none where the kernel does not count.
    counters: Option<File>,
    /// Work done too much because the end was noticed late, ns: so much less is done the next time.
    ahead_ns: Cell<i64>,
}

impl OwnTime {
    /// Time of the calling thread.
    pub(super) fn here() -> OwnTime {
        OwnTime::of(File::open(COUNTERS).ok().filter(|file| waited_ns(file).is_some()))
    }

    fn of(counters: Option<File>) -> OwnTime {
        OwnTime { counters, ahead_ns: Cell::new(0) }
    }

    /// Grows while the thread runs or sleeps, and stands while it waits for a CPU. A wait that falls between the two
    /// looks is taken off by the next call only: time may go back then.
    pub(super) fn now_ns(&self) -> i64 {
        let Some(file) = &self.counters else { return cpu_time().as_nanos() as i64 };
        let waited_ns = waited_ns(file).unwrap_or_default();
        now().as_nanos() as i64 - waited_ns
    }

    /// Computes for so long.
    pub(super) fn spend(&self, time: Duration) {
        self.spend_at(time, |ns| ns, Duration::MAX);
    }

    /// Computes until so much is done; `takes`: how long that takes now, ns, which is asked again after each `piece`.
    pub(super) fn spend_at(&self, work: Duration, takes: impl Fn(u64) -> u64, piece: Duration) {
        let mut begin_ns = self.now_ns();
        let mut left_ns = work.as_nanos() as i64 - self.ahead_ns.get();
        while left_ns > 0 {
            let whole_ns = takes(left_ns.unsigned_abs()).max(1);
            spin(now() + piece.min(Duration::from_nanos(whole_ns)));
            let end_ns = self.now_ns();
            let done_ns = i128::from(left_ns) * i128::from(end_ns - begin_ns) / i128::from(whole_ns);
            (left_ns, begin_ns) = (left_ns - done_ns as i64, end_ns);
        }
        self.ahead_ns.set(-left_ns);
    }
}

/// The second counter; a kernel that does not count says that the thread which asks never got a CPU.
fn waited_ns(file: &File) -> Option<i64> {
    let mut text = [0; 64];
    let n = file.read_at(&mut text, 0).ok()?;
    let numbers: Vec<i64> =
        std::str::from_utf8(&text[..n]).ok()?.split_whitespace().map_while(|number| number.parse().ok()).collect();
    match numbers[..] {
        [_, waited_ns, times] if times > 0 => Some(waited_ns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn time_in_which_a_thread_waits_is_not_its_own() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"5 1000000000 3\n").expect("room");
        let own = OwnTime::of(Some(file.try_clone().expect("a file")));
        let before = own.now_ns();
        std::os::unix::fs::FileExt::write_at(&file, b"5 1900000000", 0).expect("room");
        assert!(own.now_ns() < before, "900 ms of waiting are taken off");
    }

    #[test]
    fn a_kernel_that_does_not_count_is_not_believed() {
        for text in ["0 0 0\n", "", "5 x 3\n"] {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(text.as_bytes()).expect("room");
            assert!(waited_ns(&file).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_spent_is_what_the_kernel_charges() {
        let own = OwnTime::here();
        let before = cpu_time();
        (0..10).for_each(|_| own.spend(Duration::from_micros(300)));
        let took = cpu_time() - before;
        assert!(took >= Duration::from_micros(2_900) && took < Duration::from_millis(20), "{took:?}");
    }
}
