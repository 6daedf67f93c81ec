// SPDX-License-Identifier: GPL-2.0-or-later
//! The answer of `pelton --version`: the commit, which rules are in the program, and how it was built.

use std::sync::LazyLock;

/// Version, and the commit it was built from.
pub const VERSION: &str = env!("PELTON_VERSION");

/// All of it. The rules of the core have a number of their own, the hash of its headers: two programs with the same one
/// compute the same, whatever their versions.
pub fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let profiles = pelton_core::profiles();
        let [oldest, newest] = [profiles.first(), profiles.last()].map(|name| name.copied().unwrap_or_default());
        let count = profiles.len();
        format!(
            "{VERSION}\ncore {}, {count} profiles from {oldest} to {newest}\nbuilt for {}-{}, {}, {} the recorder",
            pelton_core::CORE_HASH,
            std::env::consts::ARCH,
            std::env::consts::OS,
            if cfg!(target_feature = "crt-static") { "static" } else { "with shared libraries" },
            if cfg!(feature = "record") { "with" } else { "without" },
        )
    });
    &TEXT
}
