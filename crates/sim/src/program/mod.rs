// SPDX-License-Identifier: GPL-2.0-or-later
//! What tasks do: operations, calls, locks, pipes, and how tasks start to exist.

pub(crate) mod birth;
pub(crate) mod calls;
pub(crate) mod channel;
pub(crate) mod io;
pub(crate) mod ops;
pub(crate) mod place;
pub(crate) mod sync;
