// SPDX-License-Identifier: GPL-2.0-only
//! The core's own records, field by field in the order of `types.h`, so that they compare with the reference's.

use pelton_core::{Avg, CfsRq, Clock, Rq, RtShare, Se, TaskGroup};

use crate::conformance::layout::{Fields, Record};

/// A signed half word as the buffer holds it.
fn rest(value: i32) -> u64 {
    u64::from(value as u32)
}

impl Record for Avg {
    fn fields(&self, to: &mut impl Fields) {
        to.word("last_update_time_ns", self.last_update_time_ns);
        to.word("load_sum", self.load_sum);
        to.word("runnable_sum", self.runnable_sum);
        to.half("util_sum", self.util_sum.into());
        to.half("period_contrib", self.period_contrib.into());
        to.word("load_avg", self.load_avg);
        to.word("runnable_avg", self.runnable_avg);
        to.word("util_avg", self.util_avg);
        to.half("util_est_enqueued", self.util_est_enqueued.into());
        to.half("util_est_ewma", self.util_est_ewma.into());
    }
}

impl Record for Se {
    fn fields(&self, to: &mut impl Fields) {
        to.member("avg");
        self.avg.fields(to);
        to.member("");
        to.word("weight", self.weight);
        to.half("on_rq", self.on_rq.into());
        to.half("running", self.running.into());
        to.half("nr_runnable", self.nr_runnable.into());
        to.half("delayed", self.delayed.into());
        to.half("weight_rest", rest(self.weight_rest));
        to.half("runnable_weight", self.runnable_weight.into());
    }
}

impl Record for CfsRq {
    fn fields(&self, to: &mut impl Fields) {
        self.avg.fields(to);
        to.word("load_weight", self.load_weight);
        to.half("h_nr_runnable", self.h_nr_runnable.into());
        to.half("nr_queued", self.nr_queued.into());
        to.half("has_curr", self.has_curr.into());
        to.half("propagate", self.propagate.into());
        to.word("prop_runnable_sum", self.prop_runnable_sum as u64);
        to.word("removed_load", self.removed_load);
        to.word("removed_util", self.removed_util);
        to.word("removed_runnable", self.removed_runnable);
        to.half("removed_nr", self.removed_nr.into());
        to.half("util_est", self.util_est.into());
        to.word("tg_load_avg_contrib", self.tg_load_avg_contrib);
        to.word("throttled_clock_pelt_ns", self.throttled_clock_pelt_ns);
        to.word("throttled_at_ns", self.throttled_at_ns);
        to.word("tg_update_ns", self.tg_update_ns);
        to.word("runnable_weight", self.runnable_weight);
        to.half("throttle_count", self.throttle_count.into());
        to.half("weight_rest", rest(self.weight_rest));
    }
}

impl Record for Clock {
    fn fields(&self, to: &mut impl Fields) {
        to.word("clock_ns", self.clock_ns);
        to.word("clock_task_ns", self.clock_task_ns);
        to.word("clock_pelt_ns", self.clock_pelt_ns);
        to.word("lost_idle_ns", self.lost_idle_ns);
        to.word("clock_idle_ns", self.clock_idle_ns);
        to.word("clock_pelt_idle_ns", self.clock_pelt_idle_ns);
    }
}

impl Record for RtShare {
    fn fields(&self, to: &mut impl Fields) {
        to.word("sum", self.sum);
        to.word("age_stamp_ns", self.age_stamp_ns);
        to.word("counted_to_ns", self.counted_to_ns);
    }
}

impl Record for Rq {
    fn fields(&self, to: &mut impl Fields) {
        to.member("clock");
        self.clock.fields(to);
        to.member("cfs");
        self.cfs.fields(to);
        for (name, avg) in [("rt", &self.rt), ("dl", &self.dl), ("irq", &self.irq), ("hw", &self.hw)] {
            to.member(name);
            avg.fields(to);
        }
        to.member("rt_share");
        self.rt_share.fields(to);
        to.member("");
        to.half("cap_orig", self.cap_orig.into());
        to.half("freq_scale", self.freq_scale.into());
    }
}

impl Record for TaskGroup {
    fn fields(&self, to: &mut impl Fields) {
        to.word("load_avg", self.load_avg);
        to.word("shares", self.shares);
    }
}
