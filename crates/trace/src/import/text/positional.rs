// SPDX-License-Identifier: GPL-2.0-or-later
//! Switches and wake-ups without keys: `comm:pid [prio] S ==> comm:pid [prio]`, `comm:pid [prio] success=1 CPU:000`.

use memchr::memmem::find;
use memchr::memrchr;
use pelton_schema::{Event, EventInfo};

use super::head::Head;
use super::number::{cpu_number, decimal, integer};
use super::source::Output;
use crate::import::state;

/// A task written so.
struct Task<'a> {
    name: &'a [u8],
    tid: u32,
    prio: u32,
    rest: &'a [u8],
}

/// Cuts `comm:pid [prio] rest`.
fn task(text: &[u8]) -> Option<Task<'_>> {
    let text = text.trim_ascii();
    let open = find(text, b" [")?;
    let close = open + text[open..].iter().position(|&byte| byte == b']')?;
    let colon = memrchr(b':', &text[..open])?;
    let tid = u32::try_from(decimal(&text[colon + 1..open])?).ok()?;
    let prio = i32::try_from(integer(&text[open + 2..close])?).ok()?.cast_unsigned();
    Some(Task { name: &text[..colon], tid, prio, rest: text[close + 1..].trim_ascii() })
}

/// The event of a line without keys; `None` when it has keys.
pub(super) fn event(head: &Head<'_>, name: &[u8], out: &mut Output) -> Option<Event> {
    let cpu = head.cpu;
    if name == b"sched_switch" {
        if head.fields.starts_with(b"prev_") {
            return None;
        }
        let arrow = find(head.fields, b" ==> ")?;
        let (prev, next) = (task(&head.fields[..arrow])?, task(&head.fields[arrow + 5..])?);
        let prev_state = state::of_text(prev.rest)?;
        [&prev, &next].into_iter().filter(|task| task.tid != 0).for_each(|task| out.notes.name(task.tid, task.name));
        let (prev_tid, prev_prio, next_tid, next_prio) = (prev.tid, prev.prio, next.tid, next.prio);
        let event = Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio };
        return Some(complete(event, out));
    }
    if !name.starts_with(b"sched_wak") || head.fields.starts_with(b"comm=") {
        return None;
    }
    let Task { name: comm, tid, prio, rest } = task(head.fields)?;
    let target = rest.split(|&byte| byte == b' ').find_map(|word| word.strip_prefix(b"CPU:"))?;
    let target_cpu = decimal(target).and_then(cpu_number)?;
    out.notes.name(tid, comm);
    let event = match name {
        b"sched_waking" => Event::SchedWaking { cpu, tid, prio, target_cpu },
        b"sched_wakeup" => Event::SchedWakeup { cpu, tid, prio, target_cpu },
        _ => Event::SchedWakeupNew { cpu, tid, prio, target_cpu },
    };
    Some(complete(event, out))
}

/// Marks every column of the event as known, since such a line has all of them.
fn complete(event: Event, out: &mut Output) -> Event {
    if let Some(declared) = EventInfo::of_code(event.code()) {
        out.notes.info.has_all_columns(declared);
    }
    event
}
