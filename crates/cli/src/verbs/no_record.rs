// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton record` in a build without the recorder.

use crate::args::{Global, RecordArgs};
use crate::exit::{Exit, Failure};

/// Says how to get it.
pub fn record(_: &RecordArgs, _: &Global) -> Result<Exit, Failure> {
    Err(Failure::cannot(
        "this program was built without the recorder",
        "install clang, libelf-dev and zlib1g-dev (scripts/setup.sh test) and build with the feature `record`, a default",
    ))
}
