// SPDX-License-Identifier: GPL-2.0-or-later
//! Actions of tasks: operations, calls, locks, pipes, and the creation of tasks.

pub(crate) mod birth;
pub(crate) mod calls;
pub(crate) mod channel;
pub(crate) mod io;
pub(crate) mod ops;
pub(crate) mod place;
pub(crate) mod sync;
