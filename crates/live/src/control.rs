// SPDX-License-Identifier: GPL-2.0-or-later
//! Control of a running scheduler over a Unix socket: one line of JSON each way.
//!
//! ```text
//! {"ask":"status"}
//! {"ask":"boost","cgroup":"/app.slice","percent":30}
//! {"ask":"clamp","cgroup":"/app.slice","min":0,"max":300}
//! {"ask":"set","name":"headroom_pct","value":"10"}
//! {"ask":"explain","cpu":3}
//! {"ask":"stop"}
//! ```
//!
//! Answers are `{"ok": ...}` and `{"error": "a sentence"}`. A cgroup is a path below `/sys/fs/cgroup`, with that in
//! front or without; `/` stands for all tasks. Nothing here waits for a client: the loop that owns the scheduler asks
//! [`Server::serve_once`] in turn with its other work.

mod client;
mod request;
mod server;

pub use client::{ask, reply};
pub use request::Request;
pub use server::{Served, Server};

/// Longest request, bytes, its end included.
const LINE_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests;
