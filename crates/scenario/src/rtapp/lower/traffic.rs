// SPDX-License-Identifier: GPL-2.0-or-later
//! Bytes written to memory (`mem`) and to a device (`iorun`). Their time is not in the file; the caller may give it.

use super::super::ast::{Event, EventKind, RtAppFile};
use super::super::flat::FlatTask;
use super::super::report::{Report, say};
use super::CAPACITY_MAX;
use crate::rtapp::RtAppOptions;

/// Name under which the time of 1024 bytes of `mem` is defined, ns.
pub const MEM_NS_PER_KIB: &str = "MEM_NS_PER_KIB";
/// Name under which the time of one write of `iorun` is defined, ns.
pub const IO_CALL_NS: &str = "IO_CALL_NS";
/// Longest time of either.
const NS_MAX: f64 = 1e9;
/// rt-app, DEFAULT_MEM_BUF_SIZE.
const BUFFER_BYTES: i64 = 4 << 20;
/// rt-app's own default. What is written there goes nowhere: a write is a system call, however many bytes it has.
const NOWHERE: &str = "/dev/null";

/// Files with bytes whose time is not known are refused before.
const KNOWN: &str = "`check` refuses a file without it";

/// Time that bytes take.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    mem_ns_per_kib: Option<f64>,
    io_call_ns: Option<f64>,
    /// Most bytes of one write.
    buffer_bytes: u64,
}

impl Traffic {
    /// Times as defined; a definition that is no time is an error.
    pub fn new(file: &RtAppFile, options: &RtAppOptions, report: &mut Report) -> Self {
        let buffer_bytes = file.global.mem_buffer_size.as_ref().map_or(BUFFER_BYTES, |bytes| bytes.value);
        let mut time = |name: &str| {
            let text = options.defines.get(name)?;
            let ns = text.trim().parse::<f64>().ok().filter(|ns| *ns > 0.0 && *ns <= NS_MAX);
            if ns.is_none() {
                report.about(say(format!("`{name}={text}` is no time")).allowed("above 0, at most 1000000000 ns"));
            }
            ns
        };
        Traffic {
            mem_ns_per_kib: time(MEM_NS_PER_KIB),
            io_call_ns: time(IO_CALL_NS),
            buffer_bytes: u64::try_from(buffer_bytes).unwrap_or(1).max(1),
        }
    }

    /// Nothing is known of bytes whose time was not defined, nor of devices.
    pub fn check(&self, file: &RtAppFile, tasks: &[FlatTask<'_>], report: &mut Report) {
        let device = file.global.io_device.as_ref().filter(|device| device.value != NOWHERE);
        for event in tasks.iter().flat_map(FlatTask::events) {
            match (&event.kind, device) {
                (EventKind::Mem(_), _) if self.mem_ns_per_kib.is_none() => unknown(
                    event,
                    "mem",
                    "how long these bytes take is not known",
                    format!(
                        "--define {MEM_NS_PER_KIB}=NS says how long 1024 bytes take on the CPU that `run` is measured on"
                    ),
                    report,
                ),
                (EventKind::IoRun(_), Some(device)) => unknown(
                    event,
                    "iorun",
                    &format!("how long `{}` takes for these bytes is not known", device.value),
                    "replace it by `run` (work), or by a thread of `io:run_us=..,service_us=..` beside the file"
                        .to_owned(),
                    report,
                ),
                (EventKind::IoRun(_), None) if self.io_call_ns.is_none() => unknown(
                    event,
                    "iorun",
                    "how long a write to /dev/null takes is not known",
                    format!("--define {IO_CALL_NS}=NS says how long one takes on the CPU that `run` is measured on"),
                    report,
                ),
                _ => {}
            }
        }
    }

    /// Work of writing memory, as `run` counts it.
    pub fn mem_ns(&self, bytes: i64, run_capacity: u32) -> u64 {
        scaled(bytes as f64 / 1024.0 * self.mem_ns_per_kib.expect(KNOWN), run_capacity)
    }

    /// Work of writing to nowhere: the buffer is written until all bytes are, and each write takes the same time.
    pub fn io_ns(&self, bytes: i64, run_capacity: u32) -> u64 {
        let writes = u64::try_from(bytes).unwrap_or(0).div_ceil(self.buffer_bytes);
        scaled(writes as f64 * self.io_call_ns.expect(KNOWN), run_capacity)
    }

    /// Note for readers of the results.
    pub fn note(&self, tasks: &[FlatTask<'_>]) -> Option<String> {
        let memory = |event: &Event| matches!(event.kind, EventKind::Mem(_));
        let ns = self.mem_ns_per_kib.filter(|_| tasks.iter().flat_map(FlatTask::events).any(memory))?;
        Some(format!(
            "`mem` is work like `run`: {ns} ns per 1024 bytes where `run` is measured, more on a slower CPU, as if memory \
             were as much slower there; other tasks do not slow it down"
        ))
    }
}

fn scaled(ns: f64, run_capacity: u32) -> u64 {
    (ns * f64::from(run_capacity) / f64::from(CAPACITY_MAX)).round() as u64
}

fn unknown(event: &Event, word: &str, why: &str, help: String, report: &mut Report) {
    report.error(event.span, say(format!("`{word}` cannot be honoured")).label(why).help(help));
}
