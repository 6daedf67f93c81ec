// SPDX-License-Identifier: GPL-2.0-or-later
//! The columns that a state and the state before a call have in common.

use pelton_core::Avg;
use pelton_schema::Event;

/// Sums and averages of a state, or of the one before a call.
pub fn averages(event: &Event) -> Option<Avg> {
    let (Event::PeltState {
        last_update_time_ns,
        load_sum,
        runnable_sum,
        util_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        util_avg,
        ..
    }
    | Event::PeltBefore {
        last_update_time_ns,
        load_sum,
        runnable_sum,
        util_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        util_avg,
        ..
    }) = *event
    else {
        return None;
    };
    let util_avg = util_avg.into();
    let own = Avg { last_update_time_ns, load_sum, runnable_sum, util_sum, period_contrib, ..Avg::default() };
    Some(Avg { load_avg, runnable_avg, util_avg, ..own })
}
