// SPDX-License-Identifier: GPL-2.0-or-later
//! Pipes and stream sockets: how many bytes lie where, which tasks wait, and which a call has to wake. Waking is the
//! caller's job.
//!
//! A pipe is a ring of pages. A small write goes behind the last bytes of the newest page if all of it fits there, so
//! 40 messages of 100 bytes share a page and 640 fill a pipe. Readers and writers wait in turn and are woken one at a
//! time, and only by the call that ends the emptiness or the fullness they wait for (rules since 5.5).
//!
//! A stream socket is a queue of buffers. Each is charged to its sender with its true size, headers included: 768 bytes
//! for 100, so 278 such messages fill the default 212 992 bytes. A sender may go on while the charge is below the
//! limit, and sleeping senders are woken when it has fallen to a quarter. Every task that waits is woken, the latest
//! first.

use std::collections::VecDeque;

use pelton_model::workload::ChannelSpec;

/// A page, and what a small allocation of a socket may take of one.
const PAGE_BYTES: u32 = 4096;
/// The part of a socket buffer that lies in its head: a page without the shared trailer.
const HEAD_BYTES_MAX: u32 = PAGE_BYTES - TRAILER_BYTES;
/// `struct skb_shared_info` behind the data, cache-aligned.
const TRAILER_BYTES: u32 = 320;
/// `struct sk_buff`, cache-aligned.
const BUFFER_BYTES: u32 = 256;
/// Data of one socket buffer that may lie in pages of their own.
const FRAGMENTS_BYTES_MAX: u32 = 1 << 16;
/// Smallest slab that holds a head with its trailer.
const SLAB_BYTES_MIN: u32 = 512;

/// A page of a pipe, or a socket buffer.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Bytes left to read.
    len: u32,
    /// Offset of the next byte in a pipe's page.
    end: u32,
    /// Charge to the sender.
    true_size: u32,
}

/// Tasks to wake, in this order.
pub(crate) type Woken = Vec<u32>;

/// A channel at run time.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    spec: ChannelSpec,
    parts: VecDeque<Part>,
    /// Sum of the parts' charges.
    charged: u32,
    /// Tasks that wait for bytes.
    readers: VecDeque<u32>,
    /// Tasks that wait for room.
    writers: VecDeque<u32>,
    /// Tasks that wait until there is something to read and leave it there.
    pollers: Vec<u32>,
}

impl Channel {
    /// An empty channel.
    pub(crate) fn new(spec: ChannelSpec) -> Channel {
        Channel {
            spec,
            parts: VecDeque::new(),
            charged: 0,
            readers: VecDeque::new(),
            writers: VecDeque::new(),
            pollers: Vec::new(),
        }
    }

    /// Nothing to read.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn is_full(&self) -> bool {
        match self.spec {
            ChannelSpec::Pipe { pages } => self.parts.len() as u64 >= u64::from(pages),
            ChannelSpec::Stream { send_buffer_bytes } => self.charged >= send_buffer_bytes,
        }
    }

    /// Some of `bytes` can be written now; `begun`: earlier ones of the same call are.
    pub(crate) fn accepts(&self, bytes: u32, begun: bool) -> bool {
        !self.is_full() || (!begun && self.merges(bytes))
    }

    /// True if the remainder of a new write, less than a page, goes into the newest page.
    fn merges(&self, bytes: u32) -> bool {
        let rest = bytes % PAGE_BYTES;
        let pipe = matches!(self.spec, ChannelSpec::Pipe { .. });
        pipe && rest > 0 && self.parts.back().is_some_and(|p| p.end + rest <= PAGE_BYTES)
    }

    /// Writes as many of `bytes` as go now; returns how many and which tasks that wakes.
    pub(crate) fn put(&mut self, bytes: u32, begun: bool) -> (u32, Woken) {
        let was_empty = self.is_empty();
        let mut left = bytes;
        if !begun && self.merges(bytes) {
            let rest = bytes % PAGE_BYTES;
            if let Some(page) = self.parts.back_mut() {
                (page.len, page.end) = (page.len + rest, page.end + rest);
            }
            left -= rest;
        }
        while left > 0 && !self.is_full() {
            let part = self.part(left);
            self.parts.push_back(part);
            self.charged += part.true_size;
            left -= part.len;
        }
        let stream = matches!(self.spec, ChannelSpec::Stream { .. });
        let wakes = left < bytes && (was_empty || stream);
        (bytes - left, if wakes { self.wake_readers() } else { Woken::new() })
    }

    /// The first page or buffer of a write of `bytes`.
    fn part(&self, bytes: u32) -> Part {
        match self.spec {
            ChannelSpec::Pipe { .. } => {
                let len = bytes.min(PAGE_BYTES);
                Part { len, end: len, true_size: 0 }
            }
            ChannelSpec::Stream { send_buffer_bytes } => {
                // Two buffers fit at least, so that both sides have something to do.
                let len = bytes.min(send_buffer_bytes / 2 - 64).min(HEAD_BYTES_MAX + FRAGMENTS_BYTES_MAX);
                Part { len, end: len, true_size: true_size(len) }
            }
        }
    }

    /// Reads at most `bytes`; returns how many and which tasks that wakes.
    pub(crate) fn take(&mut self, bytes: u32) -> (u32, Woken) {
        let was_full = self.is_full();
        let (mut left, mut freed) = (bytes, false);
        while let Some(part) = self.parts.front_mut().filter(|_| left > 0) {
            let now = part.len.min(left);
            (part.len, left) = (part.len - now, left - now);
            if part.len == 0 {
                self.charged -= part.true_size;
                freed = true;
                self.parts.pop_front();
            }
        }
        let wakes = freed
            && match self.spec {
                ChannelSpec::Pipe { .. } => was_full,
                ChannelSpec::Stream { send_buffer_bytes } => {
                    u64::from(self.charged) * 4 <= u64::from(send_buffer_bytes)
                }
            };
        (bytes - left, if wakes { self.wake_writers() } else { Woken::new() })
    }

    /// A reader that had to wait is done: the next one may go on if something is left (pipes wake one at a time).
    pub(crate) fn pass_on_read(&mut self) -> Woken {
        if self.is_empty() { Woken::new() } else { self.readers.pop_front().into_iter().collect() }
    }

    /// A writer that had to wait is done: the next one may go on if there is room.
    pub(crate) fn pass_on_write(&mut self) -> Woken {
        if self.is_full() { Woken::new() } else { self.writers.pop_front().into_iter().collect() }
    }

    fn wake_readers(&mut self) -> Woken {
        let mut woken: Woken = self.pollers.drain(..).rev().collect();
        match self.spec {
            ChannelSpec::Pipe { .. } => woken.extend(self.readers.pop_front()),
            ChannelSpec::Stream { .. } => woken.extend(self.readers.drain(..).rev()),
        }
        woken
    }

    fn wake_writers(&mut self) -> Woken {
        match self.spec {
            ChannelSpec::Pipe { .. } => self.writers.pop_front().into_iter().collect(),
            ChannelSpec::Stream { .. } => self.writers.drain(..).rev().collect(),
        }
    }

    /// The task sleeps until there may be something to read.
    pub(crate) fn wait_to_read(&mut self, task: u32) {
        self.readers.push_back(task);
    }

    /// The task sleeps until there may be room.
    pub(crate) fn wait_to_write(&mut self, task: u32) {
        self.writers.push_back(task);
    }

    /// The task sleeps until there is something to read, and then leaves it.
    pub(crate) fn wait_to_poll(&mut self, task: u32) {
        self.pollers.push(task);
    }
}

/// Charge for a socket buffer with this much data.
fn true_size(bytes: u32) -> u32 {
    let pages = |n: u32| n.div_ceil(PAGE_BYTES) * PAGE_BYTES;
    let fragments = bytes.min(pages(bytes.saturating_sub(HEAD_BYTES_MAX)));
    let head = (bytes - fragments).next_multiple_of(64) + TRAILER_BYTES;
    BUFFER_BYTES + head.next_power_of_two().max(SLAB_BYTES_MIN) + pages(fragments)
}

#[cfg(test)]
#[path = "channel_test.rs"]
mod tests;
