// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton live` in a build without programs for the kernel.

use crate::args::{Global, LiveArgs};
use crate::exit::{Exit, Failure};

/// Says how to get it.
pub fn live(_: &LiveArgs, _: &Global) -> Result<Exit, Failure> {
    Err(Failure::cannot(
        "this program was built without what it loads into the kernel",
        "install clang, libelf-dev and zlib1g-dev (scripts/setup.sh test) and build with the feature `record`, a default",
    ))
}
