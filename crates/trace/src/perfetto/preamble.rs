// SPDX-License-Identifier: GPL-2.0-or-later
//! The packets before the first event: clocks, machine, threads.

use super::fields::{clock_snapshot, cpu_info, packet, process_tree, service_event, system_info, trace_uuid};
use super::proto::{put_bytes, put_int, put_message, put_uint};
use super::{KERNEL_UNKNOWN, PROCESS_PID, TRACK_SEQUENCE, TaskIds, put_packet};
use crate::header::RunHeader;

/// All packets of the preamble.
pub(super) fn encode(run: &RunHeader, ids: TaskIds) -> Vec<u8> {
    let mut out = Vec::new();
    put_clocks(&mut out);
    put_trace_uuid(&mut out, run);
    put_system_info(&mut out, run, ids);
    put_service_event(&mut out, service_event::TRACING_STARTED);
    if ids == TaskIds::Run {
        put_cpu_info(&mut out, run);
        put_process_tree(&mut out, run);
    }
    super::tracks::put_interned_names(&mut out);
    out
}

/// Simulated time is the boot clock, which is also what ftrace time means when a bundle says nothing else. The packet
/// starts the sequence of the tracks.
fn put_clocks(out: &mut Vec<u8>) {
    put_packet(out, |out| {
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_uint(out, packet::SEQUENCE_FLAGS, packet::FLAG_STATE_CLEARED);
        put_uint(out, packet::FIRST_ON_SEQUENCE, 1);
        put_uint(out, packet::TIMESTAMP, 0);
        put_message(out, packet::CLOCK_SNAPSHOT, |out| {
            for clock in [clock_snapshot::BOOTTIME, clock_snapshot::MONOTONIC] {
                put_message(out, clock_snapshot::CLOCKS, |out| {
                    put_uint(out, clock_snapshot::CLOCK_ID, clock);
                    put_uint(out, clock_snapshot::CLOCK_TIMESTAMP, 0);
                });
            }
            put_uint(out, clock_snapshot::PRIMARY, clock_snapshot::BOOTTIME);
        });
    });
}

/// Equal runs have equal ids.
fn put_trace_uuid(out: &mut Vec<u8>, run: &RunHeader) {
    put_packet(out, |out| {
        put_message(out, packet::TRACE_UUID, |out| {
            put_int(out, trace_uuid::MSB, run.scenario_hash.cast_signed());
            put_int(out, trace_uuid::LSB, (run.core_hash.rotate_left(32) ^ run.seed).cast_signed());
        });
    });
}

/// System information, whose release shows a reader how this kernel encodes task states and whose version identifies
/// the run. States of a recorded trace are written as kernels since 4.14 encode them, whatever its own kernel was.
fn put_system_info(out: &mut Vec<u8>, run: &RunHeader, ids: TaskIds) {
    let release = match ids {
        TaskIds::Run => format!("{}.0-pelton", run.profile),
        TaskIds::Kernel => recorded_release(run),
    };
    let version = format!(
        "pelton {} scenario {:016x} core {:016x} seed {}",
        run.tool_version, run.scenario_hash, run.core_hash, run.seed
    );
    put_packet(out, |out| {
        put_message(out, packet::SYSTEM_INFO, |out| {
            put_message(out, system_info::UTSNAME, |out| {
                put_bytes(out, system_info::SYSNAME, b"Linux");
                put_bytes(out, system_info::VERSION, version.as_bytes());
                put_bytes(out, system_info::RELEASE, release.as_bytes());
                put_bytes(out, system_info::MACHINE, run.platform.as_bytes());
            });
            if ids == TaskIds::Run {
                put_uint(out, system_info::NUM_CPUS, run.cpus.len() as u64);
            }
        });
    });
}

/// The recorded kernel's release. One before 4.14 encodes states in another way than they are written here.
fn recorded_release(run: &RunHeader) -> String {
    let version = |release: &str| {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    match version(&run.kernel) {
        Some(version) if version >= (4, 14) => run.kernel.clone(),
        Some(_) => format!("4.14.0 (states as of 4.14; recorded on {})", run.kernel),
        None => format!("4.14.0 ({KERNEL_UNKNOWN})"),
    }
}

/// Marks the start or the end of tracing: a trace that starts and does not end was cut.
pub(super) fn put_service_event(out: &mut Vec<u8>, what: u32) {
    put_packet(out, |out| put_message(out, packet::SERVICE_EVENT, |out| put_uint(out, what, 1)));
}

fn put_cpu_info(out: &mut Vec<u8>, run: &RunHeader) {
    put_packet(out, |out| {
        put_message(out, packet::CPU_INFO, |out| {
            for cpu in &run.cpus {
                put_message(out, cpu_info::CPUS, |out| {
                    put_bytes(out, cpu_info::PROCESSOR, run.domain_name(cpu.domain).as_bytes());
                    let domain = run.domains.get(cpu.domain as usize);
                    for &khz in domain.iter().flat_map(|domain| &domain.opps_khz) {
                        put_uint(out, cpu_info::FREQUENCIES, u64::from(khz));
                    }
                    put_uint(out, cpu_info::CAPACITY, u64::from(cpu.capacity));
                });
            }
        });
    });
}

/// One process, named after the workload, with one thread per task.
fn put_process_tree(out: &mut Vec<u8>, run: &RunHeader) {
    put_packet(out, |out| {
        put_uint(out, packet::TIMESTAMP, 0);
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_message(out, packet::PROCESS_TREE, |out| {
            put_message(out, process_tree::PROCESSES, |out| {
                put_int(out, process_tree::PROCESS_PID, i64::from(PROCESS_PID));
                put_int(out, process_tree::PROCESS_PPID, 0);
                put_bytes(out, process_tree::PROCESS_CMDLINE, run.workload.as_bytes());
            });
        });
    });
    put_threads(out, (0u32..).zip(run.tasks.iter().cloned()).skip(1));
}

/// Declares threads of the process of a run, if there are any.
pub(super) fn put_threads(out: &mut Vec<u8>, tasks: impl Iterator<Item = (u32, String)>) {
    let mut threads = Vec::new();
    for (tid, name) in tasks {
        put_message(&mut threads, process_tree::THREADS, |out| {
            put_int(out, process_tree::THREAD_TID, i64::from(TaskIds::Run.pid_of(tid)));
            put_bytes(out, process_tree::THREAD_NAME, name.as_bytes());
            put_int(out, process_tree::THREAD_TGID, i64::from(PROCESS_PID));
        });
    }
    if threads.is_empty() {
        return;
    }
    put_packet(out, |out| {
        put_uint(out, packet::TIMESTAMP, 0);
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_bytes(out, packet::PROCESS_TREE, &threads);
    });
}
