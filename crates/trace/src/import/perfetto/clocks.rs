// SPDX-License-Identifier: GPL-2.0-or-later
//! The clocks of a trace: all events are given on the boot clock.

use std::collections::BTreeMap;

use crate::perfetto::fields::clock_snapshot;
use crate::perfetto::proto::each_field;

/// Clock numbers from here on belong to one packet sequence.
const SEQUENCE_CLOCKS: u64 = 64;
/// Fields of `ClockSnapshot.Clock` beyond those we write.
const IS_INCREMENTAL: u32 = 3;
const UNIT_NS: u32 = 4;
/// Clocks and sequences that are kept.
const CLOCKS_MAX: usize = 1 << 14;

/// Monotonic clock without adjustments.
pub(super) const MONOTONIC_RAW: u64 = 5;

/// One clock as last seen.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Time that it showed, ns, and that the boot clock showed.
    shown_ns: u64,
    boot_ns: u64,
    unit_ns: u64,
    incremental: bool,
}

/// All clocks.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    by_id: BTreeMap<(u64, u64), Clock>,
    /// Times on clocks that no snapshot covers.
    pub unknown: u64,
}

impl Clocks {
    /// Notes a snapshot; `None` when it is malformed.
    pub fn snapshot(&mut self, sequence: u64, message: &[u8]) -> Option<()> {
        let mut clocks = Vec::new();
        each_field(message, |field, value| {
            if field == clock_snapshot::CLOCKS {
                let (mut id, mut shown, mut incremental, mut unit_ns) = (0, 0u64, false, 1u64);
                each_field(value.bytes()?, |field, value| {
                    match field {
                        clock_snapshot::CLOCK_ID => id = value.number()?,
                        clock_snapshot::CLOCK_TIMESTAMP => shown = value.number()?,
                        IS_INCREMENTAL => incremental = value.number()? != 0,
                        UNIT_NS => unit_ns = value.number()?.max(1),
                        _ => {}
                    }
                    Some(())
                })?;
                clocks.push((id, shown.wrapping_mul(unit_ns), unit_ns, incremental));
            }
            Some(())
        })?;
        let boot = clocks.iter().find(|clock| clock.0 == clock_snapshot::BOOTTIME);
        let Some(&(_, boot_ns, ..)) = boot else { return Some(()) };
        for (id, shown_ns, unit_ns, incremental) in clocks {
            if self.by_id.len() < CLOCKS_MAX {
                self.by_id.insert(key(sequence, id), Clock { shown_ns, boot_ns, unit_ns, incremental });
            }
        }
        Some(())
    }

    /// A time on a clock as boot time; an incremental clock moves on.
    pub fn boot_time(&mut self, sequence: u64, id: u64, time: u64) -> u64 {
        if id == clock_snapshot::BOOTTIME {
            return time;
        }
        let Some(clock) = self.by_id.get_mut(&key(sequence, id)) else {
            self.unknown += 1;
            return time;
        };
        let time_ns = time.wrapping_mul(clock.unit_ns);
        if clock.incremental {
            clock.shown_ns = clock.shown_ns.wrapping_add(time_ns);
            clock.boot_ns = clock.boot_ns.wrapping_add(time_ns);
            return clock.boot_ns;
        }
        time_ns.wrapping_sub(clock.shown_ns).wrapping_add(clock.boot_ns)
    }
}

fn key(sequence: u64, id: u64) -> (u64, u64) {
    if id >= SEQUENCE_CLOCKS { (sequence, id) } else { (0, id) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perfetto::proto::{put_message, put_uint};

    #[test]
    fn clocks_are_told_on_the_boot_clock() {
        let mut message = Vec::new();
        for (id, shown, incremental, unit) in [(6, 1_000, 0, 1), (3, 400, 0, 1), (64, 1, 1, 10)] {
            put_message(&mut message, clock_snapshot::CLOCKS, |out| {
                put_uint(out, clock_snapshot::CLOCK_ID, id);
                put_uint(out, clock_snapshot::CLOCK_TIMESTAMP, shown);
                put_uint(out, IS_INCREMENTAL, incremental);
                put_uint(out, UNIT_NS, unit);
            });
        }
        let mut clocks = Clocks::default();
        clocks.snapshot(7, &message).expect("well formed");
        assert_eq!((clocks.boot_time(7, 3, 450), clocks.boot_time(7, 6, 5)), (1_050, 5));
        assert_eq!((clocks.boot_time(7, 64, 2), clocks.boot_time(7, 64, 3)), (1_020, 1_050));
        assert_eq!((clocks.boot_time(8, 64, 2), clocks.unknown), (2, 1));
    }
}
