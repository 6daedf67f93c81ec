// SPDX-License-Identifier: GPL-2.0-or-later
//! Layout of the reference's records in the flat buffer: fields, order and widths of `types.h`.

use pelton_reference::clock::{Clock, Rq};
use pelton_reference::gate::Gate;
use pelton_reference::group::TaskGroup;
use pelton_reference::idle::{Last, Menu, Table};
use pelton_reference::pelt::Avg;
use pelton_reference::perf::{CpuState, Terms};
use pelton_reference::rq::{CfsRq, Se, units};
use pelton_reference::schedutil::{Decision, SugovCpu, SugovPolicy};
use pelton_reference::teo::Teo;

/// Receives the fields of a record in the order of the C structure.
pub trait Fields {
    /// A field of 64 bits.
    fn word(&mut self, name: &'static str, value: u64);
    /// A field of 32 bits.
    fn half(&mut self, name: &'static str, value: u64);
    /// The fields that follow belong to this member.
    fn member(&mut self, name: &'static str);
}

/// A record of the core.
pub trait Record {
    /// Names every field to `to`.
    fn fields(&self, to: &mut impl Fields);
}

impl Record for Avg {
    fn fields(&self, to: &mut impl Fields) {
        to.word("last_update_time_ns", self.last_update_time_ns);
        to.word("load_sum", self.load_sum);
        to.word("runnable_sum", self.runnable_sum);
        to.half("util_sum", self.util_sum);
        to.half("period_contrib", self.period_contrib);
        to.word("load_avg", self.load_avg);
        to.word("runnable_avg", self.runnable_avg);
        to.word("util_avg", self.util_avg);
        to.half("util_est_enqueued", self.util_est_enqueued);
        to.half("util_est_ewma", self.util_est_ewma);
    }
}

impl Record for Se {
    fn fields(&self, to: &mut impl Fields) {
        to.member("avg");
        self.avg.fields(to);
        to.member("");
        to.word("weight", self.weight());
        to.half("on_rq", self.on_rq);
        to.half("running", self.running);
        to.half("nr_runnable", self.nr_runnable);
        to.half("delayed", self.delayed);
        to.half("weight_rest", rest(self.full_weight));
        to.half("runnable_weight", self.runnable_weight);
    }
}

/// Part of a weight that its units leave out, as 32 bits.
fn rest(full: u64) -> u64 {
    (full as i64 - units(full) as i64 * 1024) as u64 & 0xffff_ffff
}

impl Record for CfsRq {
    fn fields(&self, to: &mut impl Fields) {
        self.avg.fields(to);
        to.word("load_weight", self.load_weight());
        to.half("h_nr_runnable", self.h_nr_runnable);
        to.half("nr_queued", self.nr_queued);
        to.half("has_curr", self.has_curr);
        to.half("propagate", self.propagate);
        to.word("prop_runnable_sum", self.prop_runnable_sum as u64);
        to.word("removed_load", self.removed.load);
        to.word("removed_util", self.removed.util);
        to.word("removed_runnable", self.removed.runnable);
        to.half("removed_nr", self.removed.nr);
        to.half("util_est", self.util_est);
        to.word("tg_load_avg_contrib", self.tg_load_avg_contrib);
        to.word("throttled_clock_pelt_ns", self.throttled_clock_pelt_ns);
        to.word("throttled_at_ns", self.throttled_at_ns);
        to.word("tg_update_ns", self.tg_update_ns);
        to.word("runnable_weight", self.runnable_weight);
        to.half("throttle_count", self.throttle_count);
        to.half("weight_rest", rest(self.full_load));
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
        to.word("sum", self.rt_share.sum);
        to.word("age_stamp_ns", self.rt_share.age_stamp_ns);
        to.word("counted_to_ns", self.rt_share.counted_to_ns);
        to.member("");
        to.half("cap_orig", self.cap_orig);
        to.half("freq_scale", self.freq_scale);
    }
}

impl Record for TaskGroup {
    fn fields(&self, to: &mut impl Fields) {
        to.word("load_avg", self.load_avg);
        to.word("shares", self.shares);
    }
}

macro_rules! field {
    ($to:ident, record, $value:expr, $name:expr) => {
        $value.fields($to)
    };
    ($to:ident, $width:ident, $value:expr, $name:expr) => {
        $to.$width($name, $value)
    };
}

/// A record whose fields all have names and widths as in the list.
macro_rules! record {
    ($type:ident { $($width:ident $field:ident,)+ }) => {
        impl Record for $type {
            fn fields(&self, to: &mut impl Fields) {
                $(field!(to, $width, self.$field, stringify!($field));)+
            }
        }
    };
}

impl Record for CpuState {
    fn fields(&self, to: &mut impl Fields) {
        to.word("idle_calls", self.idle_calls);
        to.half("cap_orig", self.cap_orig);
        to.half("util_cfs", self.util_cfs);
        to.half("runnable_cfs", self.runnable_cfs);
        to.half("util_est", self.util_est);
        to.half("util_rt", self.util_rt);
        to.half("util_dl", self.util_dl);
        to.half("util_irq", self.util_irq);
        to.half("bw_dl", self.bw_dl);
        to.half("rt_nr_running", self.rt_nr_running);
        to.half("uclamp_used", self.uclamp_used);
        to.half("uclamp_min", self.uclamp_min);
        to.half("uclamp_max", self.uclamp_max);
        to.half("cfs_nr_running", self.cfs_nr_running);
        to.half("reserved", 0);
    }
}

record!(Terms {
    half cfs,
    half rt,
    half dl,
    half irq,
    half effective,
    half iowait,
    half min,
    half max,
    half headroom,
    half perf,
    half forced_max,
    half stale,
    half request,
    half scale,
});

record!(Decision {
    half perf,
    half cpu,
    half forced_max,
    half raw_khz,
    half resolved_khz,
    half commit,
    half request,
    half scale,
});

impl Record for SugovPolicy {
    fn fields(&self, to: &mut impl Fields) {
        to.word("last_ns", self.last_ns);
        to.word("rate_limit_ns", self.rate_limit_ns);
        to.half("next_freq_khz", self.next_freq_khz);
        to.half("cached_raw_khz", self.cached_raw_khz);
        to.half("work_in_progress", self.work_in_progress);
        to.half("limits_changed", self.limits_changed);
        to.half("need_update", self.need_update);
        to.half("nr_cpus", self.nr_cpus);
        to.half("min_khz", self.min_khz);
        to.half("max_khz", self.max_khz);
        to.half("ref_khz", self.ref_khz);
        to.half("cur_khz", self.cur_khz);
        to.half("fast_switch", self.fast_switch);
        to.half("remote_ok", self.remote_ok);
        to.half("freq_invariant", self.freq_invariant);
        to.half("hw_max_khz", self.hw_max_khz);
        to.half("need_update_limits", self.need_update_limits);
        to.half("scale_khz", self.scale_khz);
        self.gate.fields(to);
    }
}

impl Record for Gate {
    fn fields(&self, to: &mut impl Fields) {
        to.word("gate.window_ns", self.window_ns);
        to.word("gate.spacing_ns", self.spacing_ns);
        to.word("gate.half_ns", self.half_ns);
        to.word("gate.until_ns", self.until_ns);
        for peak_khz in self.peak_khz {
            to.half("gate.peak_khz", peak_khz);
        }
        to.half("gate.maximum_khz", self.maximum_khz);
        to.half("gate.error", self.error);
        to.half("gate.flags", self.flags);
        to.half("gate.verdict", self.verdict);
        to.half("gate.half_length_ns", self.half_length_ns);
    }
}

impl Record for SugovCpu {
    fn fields(&self, to: &mut impl Fields) {
        to.word("last_update_ns", self.last_update_ns);
        to.word("saved_idle_calls", self.saved_idle_calls);
        to.word("iowait_faded_ns", self.iowait_faded_ns);
        to.half("iowait_boost", self.iowait_boost);
        to.half("iowait_pending", self.iowait_pending);
        to.half("util", self.util);
        to.half("bw_min", self.bw_min);
        to.half("flags", self.flags);
        to.half("marks", self.marks);
        to.half("util_evaluated", self.util_evaluated);
        to.half("khz_evaluated", self.khz_evaluated);
        to.half("kept_cfs", self.kept_cfs);
        to.half("kept_rt", self.kept_rt);
        to.half("kept_bw", self.kept_bw);
        to.half("reserved", 0);
    }
}

impl Record for Table {
    fn fields(&self, to: &mut impl Fields) {
        to.half("count", self.count);
        to.half("polling", self.polling);
        for (exit_ns, residency_ns) in self.states {
            to.word("exit_ns", exit_ns);
            to.word("residency_ns", residency_ns);
        }
    }
}

impl Record for Last {
    fn fields(&self, to: &mut impl Fields) {
        to.word("residency_ns", self.residency_ns);
        to.half("state", self.state);
        to.half("woke", self.woke);
        to.half("valid", self.valid);
        to.half("reserved", 0);
    }
}

impl Record for Menu {
    fn fields(&self, to: &mut impl Fields) {
        to.member("last");
        self.last.fields(to);
        to.member("");
        to.word("next_timer_ns", self.next_timer_ns);
        to.half("bucket", self.bucket);
        to.half("position", self.position);
        self.factor.iter().for_each(|&factor| to.half("factor", factor));
        self.interval_us.iter().for_each(|&us| to.half("interval_us", us));
    }
}

impl Record for Teo {
    fn fields(&self, to: &mut impl Fields) {
        to.member("last");
        self.last.fields(to);
        to.member("");
        to.word("sleep_ns", self.sleep_ns);
        self.hits.iter().for_each(|&n| to.half("hits", n));
        self.intercepts.iter().for_each(|&n| to.half("intercepts", n));
        to.half("total", self.total);
        to.half("total_tick", self.total_tick);
        to.half("tick_intercepts", self.tick_intercepts);
        to.half("short_idles", self.short_idles);
        self.early.iter().for_each(|&ns| to.word("early", ns));
        self.misses.iter().for_each(|&n| to.half("misses", n));
        self.recent.iter().for_each(|&n| to.half("recent", n));
        self.recent_bin.iter().for_each(|&bin| to.half("recent_bin", bin));
        to.half("position", self.position);
        to.half("tick_hits", self.tick_hits);
        to.half("reserved", 0);
    }
}

/// Words of a type of record.
pub fn words_of<R: Record + Default>() -> usize {
    let mut words = Words::default();
    R::default().fields(&mut words);
    words.list.len()
}

/// Collects records as words.
#[derive(Debug, Default)]
pub struct Words {
    /// Words collected so far.
    pub list: Vec<u64>,
    low: Option<u64>,
}

impl Fields for Words {
    fn word(&mut self, name: &'static str, value: u64) {
        assert!(self.low.is_none(), "{name} is not aligned");
        self.list.push(value);
    }

    fn half(&mut self, name: &'static str, value: u64) {
        assert!(value <= u64::from(u32::MAX), "{name} does not fit 32 bits: {value}");
        match self.low.take() {
            None => self.low = Some(value),
            Some(low) => self.list.push(low | value << 32),
        }
    }

    fn member(&mut self, _name: &'static str) {}
}

/// Collects the name and position of every field.
#[derive(Debug, Default)]
pub struct Names {
    /// Name, index of the half word where it starts, width in half words.
    pub list: Vec<(String, usize, usize)>,
    /// Prefix of the names that follow.
    pub record: String,
    member: &'static str,
    halves: usize,
}

impl Names {
    fn push(&mut self, name: &str, width: usize) {
        let parts = [self.record.as_str(), self.member, name];
        let full: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.list.push((full.join("."), self.halves, width));
        self.halves += width;
    }

    /// Starts a new record.
    pub fn begin(&mut self, record: String) {
        self.record = record;
        self.member = "";
    }

    /// Skips words that belong to no record.
    pub fn skip_words(&mut self, words: usize) {
        self.halves += 2 * words;
    }
}

impl Fields for Names {
    fn word(&mut self, name: &'static str, _value: u64) {
        self.push(name, 2);
    }

    fn half(&mut self, name: &'static str, _value: u64) {
        self.push(name, 1);
    }

    fn member(&mut self, name: &'static str) {
        self.member = name;
    }
}
