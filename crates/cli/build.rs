// SPDX-License-Identifier: GPL-2.0-or-later
//! The version that `pelton --version` prints: with the commit, where the source is a checkout of git or its archive.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit that are printed: enough to find it in any clone.
const COMMIT_DIGITS: usize = 12;

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").expect("set by cargo");
    println!("cargo:rerun-if-changed=build.rs");
    // Asked when it runs: another checkout may have built this script into the same target folder.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = here.join("../..");
    let commit = checked_out(&root).or_else(|| archived(&root)).unwrap_or_else(|| "commit unknown".to_owned());
    println!("cargo:rustc-env=PELTON_VERSION={version} ({commit})");
}

/// The commit of an archive: `git archive` writes it into `.commit` in place of the words that stand there.
fn archived(root: &Path) -> Option<String> {
    let path = root.join(".commit");
    println!("cargo:rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(path).ok()?;
    let short = text.trim().get(..COMMIT_DIGITS)?;
    short.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| short.to_owned())
}

/// The commit; none without git, outside a checkout, or inside one of something else.
fn checked_out(root: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let top = git(&root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = root.join(PathBuf::from(git(&root, &["rev-parse", "--git-path", name])?));
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(&root, &["rev-parse", "HEAD"])?.get(..COMMIT_DIGITS).map(str::to_owned)
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
