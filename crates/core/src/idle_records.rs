// SPDX-License-Identifier: GPL-2.0-or-later
//! Hand-written mirrors of the records of `core/include/pelton/idle.h`, `idle_menu_stays.h` and `idle_teo_state.h`.

use crate::records::{LayoutRow, mirror};

/// Most idle states of a CPU.
pub const IDLE_STATES_MAX: usize = 10;

mirror! {
    /// What an idle state costs.
    IdleState = "pelton_idle_state" {
        /// Worst time from event to execution.
        exit_ns: u64,
        /// Shortest stay that pays.
        residency_ns: u64,
    }
}

mirror! {
    /// The idle states of a CPU, shallow to deep.
    IdleTable = "pelton_idle_table" {
        /// States in use.
        count: u32,
        /// State 0 polls.
        polling: u32,
        /// The states.
        states: [IdleState; IDLE_STATES_MAX],
    }
}

mirror! {
    /// What is known when a CPU goes idle.
    IdleNow = "pelton_idle_now" {
        /// Time to the next timer if the tick were stopped.
        sleep_ns: u64,
        /// Time to the next timer or tick, whichever is armed.
        event_ns: u64,
        /// Length of a tick.
        tick_ns: u64,
        /// Longest exit latency that is tolerated; `u64::MAX` = no limit.
        latency_ns: u64,
        /// The tick was stopped by an earlier choice of this idle period.
        tick_stopped: u32,
        /// Tasks that ran here last and wait for I/O.
        iowaiters: u32,
        /// Utilization is above 1/64 of the capacity.
        utilized: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// The stay that ended last; consumed by the next choice.
    IdleLast = "pelton_idle_last" {
        /// From entry until awake.
        residency_ns: u64,
        /// The state.
        state: u32,
        /// Bits of [`crate::woke`].
        woke: u32,
        /// 1 until the next choice.
        valid: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// What an idle governor answers.
    IdleChoice = "pelton_idle_choice" {
        /// The state.
        state: u32,
        /// 1: stop the tick.
        stop_tick: u32,
    }
}

mirror! {
    /// The idle governor "menu" of one CPU.
    Menu = "pelton_menu" {
        /// The last stay.
        last: IdleLast,
        /// Next timer at the last choice.
        next_timer_ns: u64,
        /// Decade of it.
        bucket: u32,
        /// Place of the next sample.
        position: u32,
        /// Share of the timer that was slept, by decade, of 8192; 0 = not known. The second half is for waits for I/O.
        factor: [u32; 12],
        /// The last stays.
        interval_us: [u32; 8],
    }
}

mirror! {
    /// The idle governor "teo" of one CPU.
    Teo = "pelton_teo" {
        /// The last stay.
        last: IdleLast,
        /// Next timer at the last choice.
        sleep_ns: u64,
        /// Stays that ended at their timer, by bin.
        hits: [u32; IDLE_STATES_MAX],
        /// Stays that ended before, by bin.
        intercepts: [u32; IDLE_STATES_MAX],
        /// Sum of both.
        total: u32,
        /// Stays that the tick ended.
        total_tick: u32,
        /// Intercepts within a tick; 6.18: beyond one.
        tick_intercepts: u32,
        /// Short stays.
        short_idles: u32,
        /// To 5.10: the last stays that ended early, ns + 1; 0 = one that did not.
        early: [u64; 8],
        /// To 5.10: stays that ended before the state paid that the timer spoke for.
        misses: [u32; IDLE_STATES_MAX],
        /// 6.1, 6.6: intercepts among the last nine stays, by bin.
        recent: [u32; IDLE_STATES_MAX],
        /// Bin + 1 of each of them; 0 = no intercept.
        recent_bin: [u32; 9],
        /// Place of the next of `early` or `recent_bin`.
        position: u32,
        /// 6.6, 6.12: stays beyond a tick.
        tick_hits: u32,
        /// Unused.
        reserved: u32,
    }
}
