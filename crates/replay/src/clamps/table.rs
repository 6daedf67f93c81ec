// SPDX-License-Identifier: GPL-2.0-or-later
//! The table: one line for each decision, columns found by name.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use pelton_core::{UCLAMP_BUCKETS, UclampBucket, UclampLimits, UclampRq, UclampTask};
use pelton_trace::import::ImportError;

use crate::columns::places;

/// Longest line.
const LINE_MAX: u64 = 16 * 1024;
/// A delayed task wakes (ENQUEUE_DELAYED, read in kernel/sched/sched.h): 0x200 in 6.12 and 6.18, 0x20 in 7.2; each is
/// nothing of fair tasks in the other.
const ENQUEUE_DELAYED: u64 = 0x220;
/// A quota takes a task off, which stays counted (DEQUEUE_THROTTLE, read there): 0x800 in 6.18, 0x20000 in 7.2.
const DEQUEUE_THROTTLE: u64 = 0x2_0800;

/// Kind of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A task became runnable.
    Enqueue,
    /// A task is no longer runnable here.
    Dequeue,
    /// A task is about to be counted again.
    Update,
    /// A CPU's utilization and its limits.
    Util,
    /// A performance target.
    Perf,
}

/// Clamps of a task's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// In force.
    pub in_force: (u32, u32),
    /// Asked for.
    pub asked: (u32, u32),
    /// In force in the group above.
    pub above: (u32, u32),
}

/// Inputs and results of a performance target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Utilization: of fair tasks, or of all.
    pub util: u32,
    /// Capacity.
    pub scale: u32,
    /// Interrupts.
    pub irq: u32,
    /// Real-time tasks.
    pub rt: u32,
    /// Deadline tasks.
    pub dl: u32,
    /// Reservations, as the kernel keeps them.
    pub dl_bw: u64,
    /// Runnable real-time tasks.
    pub rt_nr: u32,
    /// Lower clamp or limit.
    pub min: u32,
    /// Upper clamp or limit.
    pub max: u32,
    /// Something of this changed meanwhile.
    pub changed: bool,
    /// Target that came out.
    pub out: u32,
    /// The lower limit that came out.
    pub out_min: u32,
    /// The upper limit that came out.
    pub out_max: u32,
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// Kind of the decision.
    pub kind: Kind,
    /// CPU.
    pub cpu: u32,
    /// Number among the records of its runqueue.
    pub order: u64,
    /// Clamps are in use; `None` while they come into use, at a moment that no record shows.
    pub used: Option<bool>,
    /// Limits are changing.
    pub updating: bool,
    /// A quota takes the task off.
    pub throttled: bool,
    /// The task's id.
    pub tid: u32,
    /// Does the kernel count it, by its flags?
    counts: bool,
    /// Clamps that it asks for and has.
    pub task: UclampTask,
    /// Limits of these clamps.
    pub limits: UclampLimits,
    /// Its group.
    pub group: Group,
    /// The CPU's clamps.
    pub clamps: UclampRq,
    /// The target.
    pub target: Target,
}

impl Record {
    /// Is the task counted, or no longer, with this?
    pub(super) fn counts(&self) -> bool {
        self.used == Some(true) && self.counts
    }
}

/// Is this the first line of such a table?
#[must_use]
pub fn is_header(first_bytes: &[u8]) -> bool {
    let line = first_bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |name: &str| line.split(|&byte| byte == b',').any(|field| field.trim_ascii() == name.as_bytes());
    ["order", "act_min", "v_max", "n_min0", "o_util"].iter().all(|name| has(name))
}

/// Reads records, in bounded memory.
pub struct Records {
    path: PathBuf,
    lines: Box<dyn BufRead>,
    columns: BTreeMap<String, usize>,
    values: Vec<u64>,
    line: Vec<u8>,
    number: u64,
}

impl Records {
    /// Reads the line of names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(path: &Path, lines: Box<dyn BufRead>) -> Result<Records, ImportError> {
        let mut table = Records {
            path: path.to_owned(),
            lines,
            columns: BTreeMap::new(),
            values: Vec::new(),
            line: Vec::new(),
            number: 0,
        };
        if table.read_line()? {
            let names = String::from_utf8_lossy(&table.line).into_owned();
            let names = names.trim().split(',').map(|name| name.trim().to_owned());
            table.columns = places(names).map_err(|twice| table.wrong(0, twice))?;
        }
        Ok(table)
    }

    /// False at the end.
    fn read_line(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        let read = self.lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| ImportError::io(&self.path, error))?;
        self.number += 1;
        if read as u64 == LINE_MAX {
            return Err(self.wrong(0, format!("is longer than {} KiB", LINE_MAX / 1024)));
        }
        Ok(read > 0)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, or a line has a value that cannot be.
    pub fn next_record(&mut self) -> Result<Option<Record>, ImportError> {
        loop {
            if !self.read_line()? {
                return Ok(None);
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        self.split()?;
        self.record().map(Some)
    }

    fn split(&mut self) -> Result<(), ImportError> {
        self.values.clear();
        let mut place = 0;
        for field in self.line.trim_ascii_end().split(|&byte| byte == b',') {
            let text = std::str::from_utf8(field).unwrap_or("");
            let Ok(value) = text.parse() else {
                return Err(self.wrong(place, format!("`{text}` is no whole number")));
            };
            self.values.push(value);
            place += field.len() + 1;
        }
        if self.values.len() != self.columns.len() {
            let what = format!("has {} values for {} columns", self.values.len(), self.columns.len());
            return Err(self.wrong(0, what));
        }
        Ok(())
    }

    /// A message about the line; `column`: the first byte that is wrong, from 0.
    fn wrong(&self, column: usize, what: String) -> ImportError {
        // A line is long: what is shown begins a little before the place.
        let from = column.saturating_sub(40).min(self.line.len());
        let near = String::from_utf8_lossy(&self.line[from..self.line.len().min(from + 120)]).trim_end().to_owned();
        ImportError::content(&self.path, what)
            .at_line(self.number, column - from + 1, &near)
            .help("the recording was cut or altered there; record it again, or take the line out")
    }

    fn value(&self, name: &str) -> Result<u64, ImportError> {
        let at = self.columns.get(name);
        at.map(|at| self.values[*at]).ok_or_else(|| {
            ImportError::content(&self.path, format!("has no column `{name}`"))
                .help("pelton record --clamps writes such a table")
        })
    }

    /// A number of at most `most`.
    fn small(&self, name: &str, most: u32) -> Result<u32, ImportError> {
        let value = self.value(name)?;
        let small = u32::try_from(value).ok().filter(|small| *small <= most);
        small.ok_or_else(|| self.wrong(0, format!("`{name}` is {value}, at most {most} can be")))
    }

    /// A capacity or a utilization: averages pass 1024 for a moment.
    fn capacity(&self, name: &str) -> Result<u32, ImportError> {
        self.small(name, 1 << 20)
    }

    fn pair(&self, prefix: &str, most: u32) -> Result<[u32; 2], ImportError> {
        Ok([self.small(&format!("{prefix}_min"), most)?, self.small(&format!("{prefix}_max"), most)?])
    }

    fn record(&self) -> Result<Record, ImportError> {
        let kind = match self.value("kind")? {
            1 => Kind::Enqueue,
            2 => Kind::Dequeue,
            3 => Kind::Update,
            4 => Kind::Util,
            5 => Kind::Perf,
            other => return Err(self.wrong(0, format!("`kind` is {other}, 1 to 5 are known"))),
        };
        let is_target = matches!(kind, Kind::Util | Kind::Perf);
        if !is_target && self.value("buckets")? != UCLAMP_BUCKETS as u64 {
            let what = format!("is of a kernel with {} buckets; the core has {UCLAMP_BUCKETS}", self.value("buckets")?);
            return Err(self.wrong(0, what));
        }
        Ok(Record {
            line: self.number,
            time_ns: self.value("ts")?,
            kind,
            cpu: self.small("cpu", u32::MAX)?,
            order: self.value("order")?,
            used: [Some(false), Some(true)].get(self.value("used")? as usize).copied().flatten(),
            updating: self.value("updating")? != 0,
            tid: self.small("pid", u32::MAX)?,
            counts: self.is_counted(kind)?,
            throttled: self.is_throttled(kind)?,
            task: self.task()?,
            limits: self.limits()?,
            group: self.group()?,
            clamps: self.clamps()?,
            target: self.target()?,
        })
    }

    /// A delayed task is off the books already; it comes back when it wakes.
    fn is_counted(&self, kind: Kind) -> Result<bool, ImportError> {
        let (delayed, flags) = (self.value("delayed")? != 0, self.value("flags")?);
        Ok(match kind {
            Kind::Enqueue => !delayed || flags & ENQUEUE_DELAYED != 0,
            Kind::Dequeue => !delayed && !self.is_throttled(kind)?,
            _ => false,
        })
    }

    fn is_throttled(&self, kind: Kind) -> Result<bool, ImportError> {
        Ok(kind == Kind::Dequeue && self.value("flags")? & DEQUEUE_THROTTLE != 0)
    }

    fn task(&self) -> Result<UclampTask, ImportError> {
        let (requested, value) = (self.pair("req", 1024)?, self.pair("val", 1024)?);
        let (bucket, active) = (self.pair("bkt", 7)?, self.pair("act", 1)?);
        Ok(UclampTask { requested, value, bucket, active, ..UclampTask::default() })
    }

    fn limits(&self) -> Result<UclampLimits, ImportError> {
        let in_group = self.value("in_group")? != 0;
        let limits = if in_group { UclampLimits::of_group(self.pair("g", 1024)?.into()) } else { UclampLimits::NONE };
        Ok(UclampLimits { system: self.pair("d", 1024)?, ..limits })
    }

    fn group(&self) -> Result<Group, ImportError> {
        let pair = |prefix| self.pair(prefix, 1024).map(|[min, max]| (min, max));
        Ok(Group { in_force: pair("g")?, asked: pair("gr")?, above: pair("u")? })
    }

    fn clamps(&self) -> Result<UclampRq, ImportError> {
        let side = |side: &str| -> Result<[UclampBucket; UCLAMP_BUCKETS], ImportError> {
            let mut out = [UclampBucket::default(); UCLAMP_BUCKETS];
            for (at, bucket) in out.iter_mut().enumerate() {
                bucket.tasks = self.small(&format!("n_{side}{at}"), u32::MAX)?;
                bucket.value = self.small(&format!("b_{side}{at}"), 2047)?;
            }
            Ok(out)
        };
        let (min, max, value) = (side("min")?, side("max")?, self.pair("v", 1024)?);
        Ok(UclampRq { min, max, value, idle: self.small("idle", 1)?, ..UclampRq::default() })
    }

    fn target(&self) -> Result<Target, ImportError> {
        let v = |name: &str| self.capacity(name);
        Ok(Target {
            util: v("t_util")?,
            scale: v("t_scale")?,
            irq: v("t_irq")?,
            rt: v("t_rt")?,
            dl: v("t_dl")?,
            dl_bw: self.value("t_dl_bw")?,
            rt_nr: v("t_rt_nr")?,
            min: v("t_min")?,
            max: v("t_max")?,
            changed: self.value("changed")? != 0,
            out: v("o_util")?,
            out_min: v("o_min")?,
            out_max: v("o_max")?,
        })
    }
}
