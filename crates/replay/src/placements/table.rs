// SPDX-License-Identifier: GPL-2.0-or-later
//! The table: one line for each decision, columns found by name.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use csv_core::ReadRecordResult;
use pelton_core::{DOMAINS_MAX, PlaceCpu, Placement, Policy, UclampLimits, UclampTask, scale_load_down};
use pelton_trace::import::ImportError;

use super::inner::Inner;
use super::topology::Topology;
use crate::columns::places;

/// Longest line.
const LINE_MAX: usize = 256 * 1024;
/// Most columns.
const COLUMNS_MAX: usize = 4096;
/// A waker's count of partners is halved when it is older than this (`record_wakee`).
const FLIPS_S: u64 = 1;
/// The current task ends (PF_EXITING).
const PF_EXITING: u64 = 0x4;
/// The current task is a kernel thread (PF_KTHREAD).
const PF_KTHREAD: u64 = 0x0020_0000;
/// Bits of the preempt count that are set outside task context.
const NOT_IN_TASK: u64 = 0x00ff_0100;
/// Scheduling policy SCHED_IDLE.
const SCHED_IDLE: u64 = 5;

/// Decision of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// The task's id.
    pub tid: u64,
    /// The CPU that it chose.
    pub cpu: u32,
    /// The task's recent CPU afterwards.
    pub recent_cpu: u32,
    /// The waker's count of partners afterwards.
    pub waker_flips: u32,
    /// True when nothing that was recorded changed while the kernel decided.
    pub quiet: bool,
    /// Intermediate values of the kernel.
    pub inner: Inner,
    /// Columns of CPUs that had another value afterwards, with blanks between them.
    pub changed: String,
    /// The task's own signals were brought to another moment than that of the record.
    pub queue_moved: bool,
    /// CPUs that were others afterwards, as they were then. Older tables do not have them.
    pub later: Vec<(u32, PlaceCpu)>,
}

/// Is this the first line of such a table?
#[must_use]
pub fn is_header(first_bytes: &[u8]) -> bool {
    let line = first_bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |name: &str| line.split(|&byte| byte == b',').any(|field| field.trim_ascii() == name.as_bytes());
    ["w0", "prev", "flags", "ret", "p_mask", "p_util"].iter().all(|name| has(name))
}

/// Reads decisions, in bounded memory.
pub struct Decisions {
    policy: Policy,
    path: PathBuf,
    lines: Box<dyn BufRead>,
    columns: BTreeMap<String, usize>,
    cpus: Vec<CpuColumns>,
    line: Vec<u8>,
    number: u64,
    fields: Vec<u8>,
    ends: Vec<usize>,
    record: Box<Placement>,
    hz: u64,
    /// Texts that stand for those of the line.
    later: Vec<(usize, String)>,
}

type PutCpu = fn(&mut pelton_core::PlaceCpu, u64);

/// Columns of every CPU and where their values go.
const OF_CPU: [(&str, PutCpu); 26] = [
    ("cap", |c, v| c.capacity = v as u32),
    ("cap0", |c, v| c.state.cap_orig = v as u32),
    ("hw", |c, v| c.hw_pressure = v as u32),
    ("cpufreq_pressure", |c, v| c.cpufreq_pressure = v as u32),
    ("util", |c, v| c.state.util_cfs = v as u32),
    ("load", |c, v| c.load = v),
    ("runnable", |c, v| c.state.runnable_cfs = v as u32),
    ("util_est", |c, v| c.state.util_est = v as u32),
    ("rt", |c, v| c.state.util_rt = v as u32),
    ("dl", |c, v| c.state.util_dl = v as u32),
    ("dl_bw", |c, v| c.state.bw_dl = pelton_core::cpu_bw_dl(v)),
    ("nr", |c, v| c.nr_running = v as u32),
    ("hq", |c, v| c.h_nr_queued = v as u32),
    ("hr", |c, v| c.h_nr_runnable = v as u32),
    ("h_idle", |c, v| c.h_nr_idle = v as u32),
    ("pending", |c, v| c.ttwu_pending = v as u32),
    ("curr_idle", |c, v| c.curr_idle = v as u32),
    ("umin", |c, v| c.state.uclamp_min = v as u32),
    ("umax", |c, v| c.state.uclamp_max = v as u32),
    ("uflags", |c, v| c.uclamp_idle = (v & 1) as u32),
    ("rt_nr", |c, v| c.state.rt_nr_running = v as u32),
    ("idle_stamp", |c, v| c.idle_stamp_ns = v),
    ("exit_lat", |c, v| c.exit_latency_ns = v as u32),
    ("scan_asym", |c, v| c.nr_idle_scan_asym = v as u32),
    ("scan_llc", |c, v| c.nr_idle_scan_llc = v as u32),
    ("core_asym", |c, v| c.has_idle_cores = v as u32),
];

/// Columns of every CPU with a value for each of its domains.
const OF_DOMAINS: [&str; 3] = ["g_cap", "g_max", "g_imb"];

/// Places of the columns of one CPU.
pub(super) struct CpuColumns {
    values: [usize; OF_CPU.len()],
    domains: [usize; OF_DOMAINS.len()],
    curr_pid: usize,
    /// Since November 2026.
    rt_queued: Option<usize>,
    /// Older tables have none: their kernels do not account for the time of interrupts.
    irq: Option<usize>,
}

impl CpuColumns {
    fn has(&self, at: usize) -> bool {
        let some = [Some(self.curr_pid), self.rt_queued, self.irq];
        self.values.contains(&at) || self.domains.contains(&at) || some.contains(&Some(at))
    }
}

impl Decisions {
    /// Reads the line of names. `policy` has the rule of groups' clamps.
    ///
    /// # Errors
    /// When it cannot be read, or a column that is needed is not there.
    pub fn new(
        path: &Path,
        lines: Box<dyn BufRead>,
        topology: &Topology,
        policy: &Policy,
    ) -> Result<Decisions, ImportError> {
        let mut table = Decisions::bare(path, lines, topology, policy)?;
        table.cpus = (0..topology.cpus()).map(|cpu| table.cpu_columns("", cpu)).collect::<Result<_, _>>()?;
        Ok(table)
    }

    /// Opens a table without the columns of CPUs.
    pub(super) fn bare(
        path: &Path,
        lines: Box<dyn BufRead>,
        topology: &Topology,
        policy: &Policy,
    ) -> Result<Decisions, ImportError> {
        let mut table = Decisions {
            policy: *policy,
            path: path.to_owned(),
            lines,
            columns: BTreeMap::new(),
            cpus: Vec::new(),
            line: Vec::new(),
            number: 0,
            fields: vec![0; LINE_MAX],
            ends: vec![0; COLUMNS_MAX],
            record: Box::new(topology.placement()),
            hz: topology.hz(),
            later: Vec::new(),
        };
        if let Some(count) = table.split()? {
            let names = (0..count).map(|at| table.field(at).trim().to_owned());
            table.columns = places(names).map_err(|twice| table.wrong(0, twice))?;
        }
        Ok(table)
    }

    /// Columns of a CPU whose names begin with `prefix`.
    pub(super) fn cpu_columns(&self, prefix: &str, cpu: u32) -> Result<CpuColumns, ImportError> {
        let mut values = [0; OF_CPU.len()];
        for (at, (name, _)) in values.iter_mut().zip(&OF_CPU) {
            *at = self.column(&format!("{prefix}{name}{cpu}"))?;
        }
        let mut domains = [0; OF_DOMAINS.len()];
        for (at, name) in domains.iter_mut().zip(&OF_DOMAINS) {
            *at = self.column(&format!("{prefix}{name}{cpu}"))?;
        }
        let curr_pid = self.column(&format!("{prefix}curr_pid{cpu}"))?;
        let [rt_queued, irq] =
            ["rt_queued", "irq"].map(|name| self.columns.get(&format!("{prefix}{name}{cpu}")).copied());
        Ok(CpuColumns { values, domains, curr_pid, rt_queued, irq })
    }

    /// Names of all columns of a CPU, without its number, that are there before and after.
    pub(super) fn of_every_cpu(&self, cpu: u32) -> Vec<String> {
        let number = cpu.to_string();
        let names = self.columns.keys().filter_map(|name| name.strip_prefix("x_")?.strip_suffix(&number));
        // CPU 1 is not CPU 11.
        let own = names.filter(|name| !name.ends_with(|c: char| c.is_ascii_digit()) || *name == "cap0");
        own.filter(|name| self.columns.contains_key(&format!("{name}{cpu}"))).map(str::to_owned).collect()
    }

    pub(super) fn column(&self, name: &str) -> Result<usize, ImportError> {
        self.columns.get(name).copied().ok_or_else(|| {
            ImportError::content(&self.path, format!("has no column `{name}`"))
                .help("the table must have every column of every CPU that its .topo.json names")
        })
    }

    /// Next decision: the record as it was before, and the kernel's decision; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, or a line has a value that cannot be.
    pub fn next_decision(&mut self) -> Result<Option<(&mut Placement, Said)>, ImportError> {
        if !self.next_line()? {
            return Ok(None);
        }
        let said = self.fill()?;
        Ok(Some((self.checked_record()?, said)))
    }

    /// Reads the next line that has values; false at the end.
    pub(super) fn next_line(&mut self) -> Result<bool, ImportError> {
        let count = loop {
            match self.split()? {
                None => return Ok(false),
                Some(1) if self.ends[0] == 0 => {}
                Some(count) => break count,
            }
        };
        if count != self.columns.len() {
            let what = format!("has {count} values for {} columns", self.columns.len());
            return Err(self.wrong(0, what));
        }
        Ok(true)
    }

    /// The record, when it is one that can be.
    pub(super) fn checked_record(&mut self) -> Result<&mut Placement, ImportError> {
        match self.record.fault() {
            Some(what) => Err(self.wrong(0, format!("cannot be: {what}"))),
            None => Ok(&mut self.record),
        }
    }

    pub(super) fn record(&self) -> &Placement {
        &self.record
    }

    pub(super) fn put_cpu(&mut self, cpu: usize, filled: pelton_core::PlaceCpu) {
        self.record.cpus[cpu] = filled;
    }

    /// Number of the line that was read last.
    pub(super) fn line(&self) -> u64 {
        self.number
    }

    /// Have two columns the same text?
    pub(super) fn are_equal(&self, a: usize, b: usize) -> bool {
        self.field(a) == self.field(b)
    }

    /// Reads a line into fields; their number, or `None` at the end of the file.
    fn split(&mut self) -> Result<Option<usize>, ImportError> {
        self.line.clear();
        let limit = LINE_MAX as u64;
        let read = self.lines.by_ref().take(limit).read_until(b'\n', &mut self.line);
        if read.map_err(|error| ImportError::io(&self.path, error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() == LINE_MAX {
            return Err(self.wrong(0, format!("is longer than {} KiB", LINE_MAX / 1024)));
        }
        let mut reader = csv_core::Reader::new();
        let (mut read, mut written, mut ends) = (0, 0, 0);
        loop {
            let (state, bytes, out, fields) =
                reader.read_record(&self.line[read..], &mut self.fields[written..], &mut self.ends[ends..]);
            (read, written, ends) = (read + bytes, written + out, ends + fields);
            match state {
                // An empty input ends the reader's line.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record => return Ok(Some(ends)),
                ReadRecordResult::End => return Ok(Some(ends.max(1))),
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(self.wrong(0, format!("has more than {COLUMNS_MAX} values")));
                }
            }
        }
    }

    fn field(&self, at: usize) -> &str {
        if let Some((_, text)) = self.later.iter().find(|(column, _)| *column == at) {
            return text;
        }
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        std::str::from_utf8(&self.fields[start..self.ends[at]]).unwrap_or("")
    }

    /// A message about the line; `column`: the first byte that is wrong, from 0.
    pub(super) fn wrong(&self, column: usize, what: String) -> ImportError {
        // A line is long: what is shown begins a little before the place.
        let from = column.saturating_sub(40).min(self.line.len());
        let near = String::from_utf8_lossy(&self.line[from..self.line.len().min(from + 120)]).trim_end().to_owned();
        ImportError::content(&self.path, what)
            .at_line(self.number, column - from + 1, &near)
            .help("the recording was cut or altered there; record it again, or take the line out")
    }

    pub(super) fn number(&self, at: usize) -> Result<u64, ImportError> {
        let text = self.field(at);
        let wide: Option<i128> = text.trim().parse().ok();
        let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
        wide.filter(|value| range.contains(value)).map(|value| value as u64).ok_or_else(|| {
            let name = self.columns.iter().find(|(_, place)| **place == at).map_or("", |(name, _)| name);
            let column = if at == 0 { 0 } else { self.place_of(at) };
            self.wrong(column, format!("`{name}` is `{text}`, an integer is expected"))
        })
    }

    /// Offset of a field in its line, when nothing before it is quoted.
    fn place_of(&self, at: usize) -> usize {
        self.line.iter().enumerate().filter(|(_, byte)| **byte == b',').nth(at - 1).map_or(0, |(place, _)| place + 1)
    }

    pub(super) fn value(&self, name: &str) -> Result<u64, ImportError> {
        self.number(self.column(name)?)
    }

    fn fill(&mut self) -> Result<Said, ImportError> {
        let tid = self.value("p_pid")?;
        for cpu in 0..self.cpus.len() {
            let filled = self.read_cpu(cpu, &self.cpus[cpu], tid)?;
            self.put_cpu(cpu, filled);
        }
        self.fill_task()?;
        self.fill_waker()?;
        let v = |name: &str| self.value(name);
        let (this_cpu, prev_cpu, flags) = (v("w0")? as u32, v("prev")? as u32, v("flags")? as u32);
        let (over, clamps) = (v("over")?, v("uclamp_used")?);
        let record = &mut self.record;
        (record.this_cpu, record.prev_cpu, record.flags) = (this_cpu, prev_cpu, flags);
        record.overutilized = (over != 0).into();
        record.uclamp_used = (clamps as i64 > 0).into();
        let said = self.said(tid)?;
        // What a quiet decision read is known.
        let later = if said.quiet { Vec::new() } else { self.later(tid)? };
        Ok(Said { later, ..said })
    }

    /// A CPU as these columns have it.
    pub(super) fn read_cpu(
        &self,
        cpu: usize,
        columns: &CpuColumns,
        tid: u64,
    ) -> Result<pelton_core::PlaceCpu, ImportError> {
        let mut filled = self.record.cpus[cpu];
        for (at, (_, put)) in columns.values.iter().zip(&OF_CPU) {
            put(&mut filled, self.number(*at)?);
        }
        // A queue whose last task is just leaving has a task and is not queued itself: not runnable
        // (`rt_rq_is_runnable`).
        if let Some(at) = columns.rt_queued
            && self.number(at)? == 0
        {
            filled.state.rt_nr_running = 0;
        }
        filled.state.util_irq = columns.irq.map_or(Ok(0), |at| self.number(at))? as u32;
        filled.state.uclamp_used = 1;
        filled.state.cfs_nr_running = filled.h_nr_runnable;
        filled.curr_is_task = (tid != 0 && self.number(columns.curr_pid)? == tid).into();
        let domains = filled.nr_domains as usize;
        for (what, at) in columns.domains.iter().enumerate() {
            let values = self.list(*at)?;
            for (domain, value) in filled.domains[..domains].iter_mut().zip(values) {
                match what {
                    0 => domain.group_capacity = value,
                    1 => domain.group_max_capacity = value,
                    _ => domain.group_imbalance = value,
                }
            }
        }
        Ok(filled)
    }

    /// A value for each domain, with colons between them.
    pub(super) fn list(&self, at: usize) -> Result<[u32; DOMAINS_MAX], ImportError> {
        let mut out = [0; DOMAINS_MAX];
        for (value, text) in out.iter_mut().zip(self.field(at).split(':')) {
            *value = text
                .parse()
                .map_err(|_| self.wrong(self.place_of(at), format!("`{}` is no list of integers", self.field(at))))?;
        }
        Ok(out)
    }

    fn fill_task(&mut self) -> Result<(), ImportError> {
        let v = |name: &str| self.value(name);
        let mut task = self.record.task;
        let avg = &mut task.se.avg;
        avg.last_update_time_ns = v("p_lut")?;
        (avg.load_sum, avg.runnable_sum, avg.util_sum) = (v("p_load_sum")?, v("p_run_sum")?, v("p_util_sum")? as u32);
        (avg.load_avg, avg.runnable_avg, avg.util_avg) = (v("p_load")?, v("p_run")?, v("p_util")?);
        (avg.period_contrib, avg.util_est_enqueued) = (v("p_contrib")? as u32, v("p_est")? as u32);
        task.se.weight = scale_load_down(v("p_weight")?);
        task.queue_update_ns = v("q_lut")?;
        task.queue_load = v("q_load")?;
        task.queue_h_load = self.h_load(["q_h_load", "q_h_load_j", "x_q_h_load", "x_q_h_load_j"], task.queue_load)?;
        task.allowed = v("p_mask")?;
        (task.cpu, task.recent_cpu) = (v("p_cpu")? as u32, v("p_recent")? as u32);
        task.on_rq = (v("p_on_rq")? == 1).into();
        task.wakee_flips = v("p_flips")? as u32;
        task.sched_idle = (v("p_policy")? == SCHED_IDLE).into();
        (task.uclamp_min, task.uclamp_max) = self.clamps()?;
        task.numa_cpu = pelton_core::NO_CPU;
        self.record.task = task;
        Ok(())
    }

    /// Clamps of the task: in force, or what it would get. Older tables have no limits of its group.
    fn clamps(&self) -> Result<(u32, u32), ImportError> {
        let pair = |min: &str, max: &str| Ok([self.value(min)? as u32, self.value(max)? as u32]);
        let task = UclampTask {
            requested: pair("p_umin_req", "p_umax_req")?,
            value: pair("p_umin_val", "p_umax_val")?,
            active: pair("p_umin_act", "p_umax_act")?,
            ..UclampTask::default()
        };
        let mut limits = UclampLimits { system: pair("d_umin", "d_umax")?, ..UclampLimits::NONE };
        if self.columns.contains_key("p_gmin") {
            limits = UclampLimits { system: limits.system, ..UclampLimits::of_group(pair("p_gmin", "p_gmax")?.into()) };
        }
        Ok(task.effective(&self.policy, &limits))
    }

    /// Load with which a queue counts at the root. The kernel works it out once in a tick: it was known, or the
    /// decision left it behind (where the table has that), or it was not needed; at the root it is the load of that
    /// moment. Names: value and tick, before and after.
    fn h_load(&self, names: [&str; 4], load: u64) -> Result<u64, ImportError> {
        let [before, before_j, after, after_j] = names;
        if self.value(before_j)? == self.value("j")? {
            return self.value(before);
        }
        let told = self.columns.contains_key(after_j) && self.value(after_j)? == self.value("x_j")?;
        if told { self.value(after) } else { Ok(load) }
    }

    fn fill_waker(&mut self) -> Result<(), ImportError> {
        let v = |name: &str| self.value(name);
        let mut waker = self.record.waker;
        waker.load = v("c_load")?;
        waker.queue_load = v("cq_load")?;
        let names = ["cq_h_load", "cq_h_load_j", "x_cq_h_load", "x_cq_h_load_j"];
        waker.queue_h_load = self.h_load(names, waker.queue_load)?;
        waker.wakee_flips = v("c_flips")? as u32;
        let age = v("j")?.wrapping_sub(v("c_flip_ts")?.wrapping_add(FLIPS_S * self.hz)) as u32 as i32;
        waker.flips_expired = (age > 0).into();
        waker.same_wakee = (v("c_last_is_p")? != 0).into();
        let flags = v("c_flags")?;
        waker.exiting = (flags & PF_EXITING != 0).into();
        let alone = flags & PF_KTHREAD != 0 && v("c_nr_allowed")? == 1;
        waker.pinned_kthread = (alone && v("c_preempt")? & NOT_IN_TASK == 0).into();
        self.record.waker = waker;
        Ok(())
    }

    fn said(&self, tid: u64) -> Result<Said, ImportError> {
        let v = |name: &str| self.value(name);
        let changed = self.field(self.column("changed")?);
        let queue_moved = v("q_lut")? != v("x_q_lut")?;
        // Which task runs is no input of any rule but for the placed one, whose own state would change with it.
        let same = changed.split_ascii_whitespace().all(|name| name.starts_with("curr_pid"));
        let still = |a: &str, b: &str| -> Result<bool, ImportError> { Ok(v(a)? == v(b)?) };
        Ok(Said {
            line: self.number,
            time_ns: v("ts0")?,
            tid,
            cpu: v("ret")? as u32,
            recent_cpu: v("x_recent")? as u32,
            waker_flips: v("x_flips")? as u32,
            quiet: same && still("j", "x_j")? && still("over", "x_over")? && !queue_moved,
            inner: self.inner()?,
            changed: changed.to_owned(),
            queue_moved,
            later: Vec::new(),
        })
    }

    /// True when the table has the state of CPUs afterwards.
    pub fn tells_later(&self) -> bool {
        self.columns.contains_key("later")
    }

    /// Columns that were others afterwards, and their texts then.
    fn later_texts(&self) -> Result<Vec<(usize, String)>, ImportError> {
        let Some(&at) = self.columns.get("later") else { return Ok(Vec::new()) };
        let (names, texts) = (self.field(self.column("changed")?), self.field(at));
        if names.split_ascii_whitespace().count() != texts.split_ascii_whitespace().count() {
            return Err(self.wrong(self.place_of(at), "`changed` and `later` are not of one length".to_owned()));
        }
        let pairs = names.split_ascii_whitespace().zip(texts.split_ascii_whitespace());
        pairs.map(|(name, text)| Ok((self.column(name)?, text.to_owned()))).collect()
    }

    /// The CPUs that were others afterwards.
    fn later(&mut self, tid: u64) -> Result<Vec<(u32, PlaceCpu)>, ImportError> {
        self.later = self.later_texts()?;
        let rows = (0..self.cpus.len()).filter(|&cpu| self.later.iter().any(|(at, _)| self.cpus[cpu].has(*at)));
        let read: Result<Vec<_>, _> =
            rows.map(|cpu| Ok((cpu as u32, self.read_cpu(cpu, &self.cpus[cpu], tid)?))).collect();
        self.later.clear();
        read
    }

    /// Intermediate values of the kernel.
    fn inner(&self) -> Result<Inner, ImportError> {
        let at = self.column("inner")?;
        Inner::read(self.field(at), self.record.nr_cpus)
            .map_err(|value| self.wrong(self.place_of(at), format!("`{value}` is no inner value")))
    }
}
