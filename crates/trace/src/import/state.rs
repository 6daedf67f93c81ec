// SPDX-License-Identifier: GPL-2.0-or-later
//! States of a task that stops running, as kernels write them, in the four codes of `sched_switch`.
//!
//! Stopped, traced, parked and idle kernel threads wait for something else than a signal: they count as
//! uninterruptible.

use pelton_schema::{
    STATE_DEAD as DEAD, STATE_RUNNABLE as RUNNABLE, STATE_SLEEPING as INTERRUPTIBLE,
    STATE_UNINTERRUPTIBLE as UNINTERRUPTIBLE,
};

use super::text::number::number;

/// From the bits inside a kernel (4.14 and later), as BPF programs see them.
pub(super) fn of_kernel_bits(bits: u64) -> u32 {
    // EXIT_DEAD 0x10, EXIT_ZOMBIE 0x20, TASK_DEAD 0x80; stopped 4, traced 8, parked 0x40, TASK_RTLOCK_WAIT 0x1000.
    match bits {
        _ if bits & 0xb0 != 0 => DEAD,
        _ if bits & 1 != 0 => INTERRUPTIBLE,
        _ if bits & 0x104e != 0 => UNINTERRUPTIBLE,
        _ => RUNNABLE,
    }
}

/// From the number in a trace event.
///
/// The bits changed with 4.14; what both kinds mean the same way decides first. 64 is "dead" before, and `parked`
/// since. A mark for preemption is 0x100 since, and 0x400 to 0x1000 before.
pub(super) fn of_event_bits(bits: u64, parked: bool) -> u32 {
    match bits & 0xff {
        low if low & 1 != 0 => INTERRUPTIBLE,
        low if low & 2 != 0 => UNINTERRUPTIBLE,
        low if low & 0x30 != 0 => DEAD,
        low if low & 0x40 != 0 && !parked => DEAD,
        0 => RUNNABLE,
        _ => UNINTERRUPTIBLE,
    }
}

/// From letters, such as `S`, `R+` or `D|K`; `None` when it is no state.
fn of_letters(text: &[u8]) -> Option<u32> {
    Some(match text.first()? {
        b'R' | b'+' | b'W' | b'N' => RUNNABLE,
        b'S' => INTERRUPTIBLE,
        b'D' | b'K' | b'I' | b'T' | b't' | b'P' => UNINTERRUPTIBLE,
        b'X' | b'x' | b'Z' => DEAD,
        _ => return None,
    })
}

/// Task state from letters or a number. Text does not name the kernel: 64 counts as dead.
pub(super) fn of_text(text: &[u8]) -> Option<u32> {
    number(text).map(|bits| of_event_bits(bits, false)).or_else(|| of_letters(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_all_spellings() {
        let printed: [(&[u8], u32); 16] = [
            (b"R", 0),
            (b"R+", 0),
            (b"S", 1),
            (b"D", 2),
            (b"D|K", 2),
            (b"I", 2),
            (b"P", 2),
            (b"t", 2),
            (b"X", 16),
            (b"Z", 16),
            (b"x", 16),
            (b"0", 0),
            (b"4096", 0),
            (b"0x100", 0),
            (b"64", 16),
            (b"1", 1),
        ];
        for (text, code) in printed {
            assert_eq!(of_text(text), Some(code), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!((of_text(b""), of_text(b"?"), of_text(b"99999999999999999999")), (None, None, None));
    }

    #[test]
    fn states_in_a_record_are_the_four_codes() {
        let codes =
            [(0, 0), (0x100, 0), (1, 1), (2, 2), (0x82, 2), (0x80, 2), (0x20, 16), (0x10, 16), (0x40, 2), (4, 2)];
        codes.iter().for_each(|&(bits, code)| assert_eq!(of_event_bits(bits, true), code, "{bits:#x}"));
        assert_eq!(of_event_bits(0x40, false), 16);
    }

    #[test]
    fn states_inside_a_kernel() {
        let pairs = [(0, 0), (1, 1), (2, 2), (0x402, 2), (0x2001, 1), (0x80, 16), (0x40, 2), (0x102, 2), (0x100, 0)];
        pairs.iter().for_each(|&(bits, code)| assert_eq!(of_kernel_bits(bits), code, "{bits:#x}"));
    }
}
