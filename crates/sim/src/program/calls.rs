// SPDX-License-Identifier: GPL-2.0-or-later
//! `read()`, `write()` and `poll()` of a running task: wait, pay, move, wake.
//!
//! A call that has to wait sleeps before it costs anything and pays when it can go on: what a blocked call does on its
//! way to sleep is part of the switch, what it does after its wake-up is most of its time. A write pays once, a read
//! pays for every call it needs until it has all of its bytes.

use crate::program::channel::Woken;
use crate::program::ops::Flow;
use crate::shape::Run;
use crate::state::Engine;

/// Action of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    Write,
    Poll,
}

/// A system call in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub verb: Verb,
    pub channel: u32,
    /// Bytes to go.
    pub left: u32,
    /// Work of the call, ns at capacity 1024.
    pub work_ns: u64,
    /// The call's work is done.
    pub paid: bool,
    /// The call moved some bytes.
    pub begun: bool,
    /// The call slept.
    pub waited: bool,
}

impl Call {
    pub(crate) fn new(verb: Verb, channel: u32, bytes: u32, work_ns: u64) -> Call {
        Call { verb, channel, left: bytes, work_ns, paid: false, begun: false, waited: false }
    }
}

impl<S: Run> Engine<'_, S> {
    /// Goes on with the task's call.
    pub(crate) fn continue_call(&mut self, t: u32, mut call: Call) -> Flow {
        if self.must_wait(t, &call) {
            call.waited = true;
            self.tasks[t as usize].program.call = Some(call);
            return Flow::Block;
        }
        if !call.paid && call.work_ns > 0 {
            call.paid = true;
            self.tasks[t as usize].program.call = Some(call);
            return self.work(t, call.work_ns);
        }
        let woken = self.transfer(&mut call);
        self.tasks[t as usize].program.call = (call.left > 0).then_some(call);
        let cpu = self.tasks[t as usize].cpu;
        woken.into_iter().for_each(|other| self.wake_sync(other, cpu));
        Flow::Next
    }

    /// Sleeps in the right queue when the call cannot go on now.
    fn must_wait(&mut self, t: u32, call: &Call) -> bool {
        let channel = &mut self.programs.objects.channels[call.channel as usize];
        match call.verb {
            Verb::Write if !channel.accepts(call.left, call.begun) => channel.wait_to_write(t),
            Verb::Read if channel.is_empty() => channel.wait_to_read(t),
            Verb::Poll if channel.is_empty() => channel.wait_to_poll(t),
            _ => return false,
        }
        true
    }

    /// Moves what can be moved.
    fn transfer(&mut self, call: &mut Call) -> Woken {
        let channel = &mut self.programs.objects.channels[call.channel as usize];
        let (done, mut woken) = match call.verb {
            Verb::Write => channel.put(call.left, call.begun),
            Verb::Read => channel.take(call.left),
            Verb::Poll => (call.left, Woken::new()),
        };
        call.left -= done;
        call.begun = true;
        match call.verb {
            Verb::Write if call.left == 0 && call.waited => woken.extend(channel.pass_on_write()),
            Verb::Read => {
                if call.waited {
                    woken.extend(channel.pass_on_read());
                }
                // The next bytes are the business of another call.
                (call.paid, call.waited) = (false, false);
            }
            _ => {}
        }
        woken
    }
}
