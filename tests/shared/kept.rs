// SPDX-License-Identifier: GPL-2.0-or-later
//! Failures of property tests are tried again everywhere: they are kept beside the test (`NAME.regressions`), in a file
//! that belongs to the commit.

use proptest::test_runner::{FailurePersistence, FileFailurePersistence};

/// For `failure_persistence` of a configuration. What proptest does without looks for a `lib.rs` above the file, which
/// tests do not have.
pub fn kept() -> Option<Box<dyn FailurePersistence>> {
    Some(Box::new(FileFailurePersistence::WithSource("regressions")))
}
