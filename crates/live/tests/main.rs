// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of recording kernels, one program.
#![allow(missing_docs, reason = "tests")]

mod board;
#[path = "decide/main.rs"]
mod decide;
mod kernel;
mod observer;
#[path = "scheduler/main.rs"]
mod scheduler;
