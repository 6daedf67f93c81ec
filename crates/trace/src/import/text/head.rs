// SPDX-License-Identifier: GPL-2.0-or-later
//! The part of a line before the event's own fields: task, CPU, time, name of the event.

use memchr::{memchr, memchr_iter, memrchr};

use super::number::{CPU_RANGE, cpu_number, decimal, seconds};
use super::source::{Bad, bad};

/// One event line, cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// Name of the current task; empty when the recorder did not know it.
    pub comm: &'a [u8],
    /// Current task.
    pub tid: u32,
    /// CPU.
    pub cpu: u32,
    /// Time of the event, ns.
    pub time_ns: u64,
    /// Value of the last decimal of the time.
    pub step_ns: u64,
    /// Name of the event, without the name of its group.
    pub event: &'a [u8],
    /// Its fields.
    pub fields: &'a [u8],
    /// Written by `perf script`.
    pub perf: bool,
}

impl<'a> Head<'a> {
    /// Cuts a line of `trace`, `trace-cmd report` or `perf script`.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Head<'a>, Bad> {
        let mut closest = None;
        for open in memchr_iter(b'[', line) {
            let Some(length) = memchr(b']', &line[open..]) else { break };
            let digits = &line[open + 1..open + length];
            let Some(cpu) = decimal(digits) else { continue };
            match Self::behind_cpu(line, &line[..open], cpu, open + 1, open + length + 1) {
                Ok(head) => return Ok(head),
                Err(bad) => closest = closest.or(Some(bad)),
            }
        }
        if let Some(head) = Self::latency_format(line) {
            return Ok(head);
        }
        closest.map_or_else(|| without_cpu(line), Err)
    }

    fn behind_cpu(line: &'a [u8], left: &'a [u8], cpu: u64, at: usize, from: usize) -> Result<Head<'a>, Bad> {
        let Some(cpu) = cpu_number(cpu) else { return bad(at, CPU_RANGE) };
        let (first, after_first) = word(line, from);
        let flags = !first.ends_with(b":");
        let (stamp, after) = if flags { word(line, after_first) } else { (first, after_first) };
        let Some((time_ns, step_ns)) = stamp.strip_suffix(b":").filter(|s| s.contains(&b'.')).and_then(seconds) else {
            return bad(after.saturating_sub(stamp.len()), "no time in seconds");
        };
        let Some((comm, tid, perf)) = task(left) else { return bad(0, "no task before the CPU") };
        let (event, fields) = event(line, after)?;
        Ok(Head { comm, tid, cpu, time_ns, step_ns, event, fields, perf })
    }

    /// `comm-pid 3d..1 12.345678: event: fields`, as the latency format writes it.
    fn latency_format(line: &'a [u8]) -> Option<Head<'a>> {
        let colon = memchr::memmem::find_iter(line, b": ").find(|&colon| {
            let start = memrchr(b' ', &line[..colon]).map_or(0, |at| at + 1);
            line[start..colon].contains(&b'.') && seconds(&line[start..colon]).is_some()
        })?;
        let start = memrchr(b' ', &line[..colon])? + 1;
        let (time_ns, step_ns) = seconds(&line[start..colon])?;
        let left = line[..start].trim_ascii_end();
        let flags = memrchr(b' ', left)? + 1;
        let digits = left[flags..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if flags + digits == left.len() {
            return None;
        }
        let cpu = decimal(&left[flags..flags + digits]).and_then(cpu_number)?;
        let (comm, tid, perf) = task(&left[..flags])?;
        let (event, fields) = event(line, colon + 1).ok()?;
        Some(Head { comm, tid, cpu, time_ns, step_ns, event, fields, perf })
    }
}

/// Complaint about a line that has no CPU.
pub(crate) const NO_CPU: &str = "no CPU before the time; `perf script` writes one with `-F +cpu`";

fn without_cpu<T>(line: &[u8]) -> Result<T, Bad> {
    let stamp =
        memchr::memmem::find(line, b": ").map(|colon| (memrchr(b' ', &line[..colon]).map_or(0, |at| at + 1), colon));
    let timed = |(start, colon): &(usize, usize)| {
        line[*start..*colon].contains(&b'.')
            && seconds(&line[*start..*colon]).is_some()
            && event(line, *colon + 1).is_ok()
    };
    match stamp.filter(timed).filter(|(start, _)| task(&line[..*start]).is_some()) {
        Some((start, _)) => bad(start, NO_CPU),
        None => bad(0, "is no event line"),
    }
}

/// The word that begins at or behind a place, and where it ends.
fn word(line: &[u8], from: usize) -> (&[u8], usize) {
    let start = from + line[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = memchr(b' ', &line[start..]).map_or(line.len(), |length| start + length);
    (&line[start..end], end)
}

/// Name of the event and its fields.
fn event(line: &[u8], from: usize) -> Result<(&[u8], &[u8]), Bad> {
    let (mut name, mut after) = word(line, from);
    if decimal(name).is_some() {
        (name, after) = word(line, after);
    }
    if let Some(name) = call(name, &line[after..]) {
        return Ok((name, line[after..].trim_ascii()));
    }
    let Some(name) = name.strip_suffix(b":").filter(|name| !name.is_empty()) else {
        return bad(after.saturating_sub(name.len()), "no name of an event");
    };
    let name = memrchr(b':', name).map_or(name, |group| &name[group + 1..]);
    Ok((name, line[after..].trim_ascii()))
}

/// Name of a call that the kernel prints without a colon behind its name: system calls (`sys_read(fd: 3)`,
/// `sys_getpid()`, `sys_read -> 0x3`), and calls of the function tracer (`schedule <-worker_thread`).
fn call<'a>(name: &'a [u8], rest: &[u8]) -> Option<&'a [u8]> {
    let rest = rest.trim_ascii_start();
    if rest.starts_with(b"<-") {
        return Some(b"function");
    }
    let open = memchr(b'(', name);
    let called = name.starts_with(b"sys_") && (open.is_some() || rest.starts_with(b"->"));
    called.then(|| &name[..open.unwrap_or(name.len())])
}

/// Name and number of the task on the left of a line, and whether `perf script` wrote them.
fn task(left: &[u8]) -> Option<(&[u8], u32, bool)> {
    let mut left = left.trim_ascii();
    if left.ends_with(b")") {
        left = left[..memrchr(b'(', left)?].trim_ascii_end();
    }
    let (comm, tid, perf) = match memrchr(b' ', left).map(|at| (&left[..at], &left[at + 1..])) {
        Some((comm, last)) if last.iter().all(|byte| byte.is_ascii_digit() || *byte == b'/') => {
            (comm, &last[memrchr(b'/', last).map_or(0, |at| at + 1)..], true)
        }
        _ => {
            let dash = memrchr(b'-', left)?;
            (&left[..dash], &left[dash + 1..], false)
        }
    };
    let tid = u32::try_from(decimal(tid)?).ok()?;
    let unknown = comm.starts_with(b"<") && comm.ends_with(b">");
    Some((if unknown || tid == 0 { b"" } else { comm.trim_ascii() }, tid, perf))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str) -> (String, u32, u32, u64, u64, String) {
        let head = Head::parse(line.as_bytes()).expect("a good line");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(head.comm), head.tid, head.cpu, head.time_ns, head.step_ns, text(head.event) + "|" + &text(head.fields))
    }

    #[test]
    fn all_layouts_of_a_line() {
        let same = ("sh".to_owned(), 12, 3, 5_000_001_000, 1000, "cpu_idle|state=1 cpu_id=3".to_owned());
        for line in [
            "  sh-12    [003]     5.000001: cpu_idle:             state=1 cpu_id=3",
            "sh-12   (   12) [003] d..2     5.000001: cpu_idle: state=1 cpu_id=3",
            "sh-12   (-----) [003] dNh2.     5.000001: cpu_idle: state=1 cpu_id=3",
            "  sh-12   3d..1     5.000001: cpu_idle: state=1 cpu_id=3",
            "sh    12 [003]     5.000001: power:cpu_idle: state=1 cpu_id=3",
            "sh    10/12 [003]     5.000001:   1 power:cpu_idle: state=1 cpu_id=3",
        ] {
            assert_eq!(cut(line), same, "{line}");
        }
    }

    #[test]
    fn calls_have_no_colon_behind_their_names() {
        let event = |rest: &str| cut(&format!("sh-12 [003] d..1 5.000001: {rest}")).5;
        assert_eq!(event("sys_write(fd: 1, buf: 7f, count: 3)"), "sys_write|1, buf: 7f, count: 3)");
        assert_eq!(event("sys_getpid()"), "sys_getpid|");
        assert_eq!(event("sys_write -> 0x3"), "sys_write|-> 0x3");
        assert_eq!(event("schedule <-worker_thread"), "function|<-worker_thread");
        assert_eq!(event("sys_enter: NR 1 (1, 7f)"), "sys_enter|NR 1 (1, 7f)");
    }

    #[test]
    fn names_hold_blanks_dashes_and_brackets() {
        assert_eq!(cut("a-b [7] c-12 [003] 5.000000001: e: f").0, "a-b [7] c");
        assert_eq!(cut("->transport-5850  ( 5833) [004] d..3   538.067489: e: f").0, "->transport");
        assert_eq!(cut(" shell svc 19978-19979  [001] ....   1986.340750282: e: f").1, 19979);
        assert_eq!(cut("<7952>-7952  (-----) [000] d..3   538.0: e: f").0, "");
    }

    #[test]
    fn what_is_no_event_line_says_where() {
        for (line, at) in
            [("sh-1 [4294967295] 1.5: e: f", 6), ("sh-1 [001] x: e: f", 11), ("hello", 0), ("sh 1 5.000001: e: f", 5)]
        {
            assert_eq!(Head::parse(line.as_bytes()).map_err(|bad| bad.at), Err(at), "{line}");
        }
    }
}
