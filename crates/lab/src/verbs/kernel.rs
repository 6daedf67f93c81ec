// SPDX-License-Identifier: GPL-2.0-or-later
//! Images of kernels' own code: made, listed, described and removed. A policy `kernel:NAME` runs one.

use crate::results::kernel::{
    KernelBuilt, KernelImage, KernelOperation, KernelPart, KernelPatch, KernelRemoved, KernelRow, KernelSource, Kernels,
};
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Watch};
use pelton_kernel::build::change::NotCovered;
use pelton_kernel::build::change::source::Kind;
use pelton_kernel::build::{self, BuildRequest, Origin};
use pelton_kernel::store::{About, Store};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Request for an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelBuildRequest {
    /// Name; an image of that name is replaced.
    pub name: String,
    /// Folder of a kernel's source, which is only read.
    pub tree: Option<PathBuf>,
    /// Series of the distribution's package linux-source, as 6.12, in place of a folder.
    pub source: Option<String>,
    /// Patches, applied to a copy in this order.
    pub patches: Vec<PathBuf>,
    /// Commit that changes of the tree are counted from; none: the one that is checked out.
    pub since: Option<String>,
    /// Keep the folder that it is made in.
    pub keep_work: bool,
    /// Leave out the program that `kernel diff` asks.
    pub no_diff: bool,
}

/// Makes an image.
///
/// # Errors
/// When the request, this machine, the tree or a patch does not allow it; an image of that name is then as before.
pub fn build(request: &KernelBuildRequest, watch: &dyn Watch) -> Result<KernelBuilt, LabError> {
    let origin = match (&request.tree, &request.source) {
        (Some(tree), None) => Origin::Tree(tree.clone()),
        (None, Some(series)) => Origin::Archive(series.clone()),
        _ => {
            let hint = "name the folder of a kernel's source, or --source and a series, as 6.12";
            return Err(LabError::refused(Fault::Request, "a kernel is made of one source", hint));
        }
    };
    let request = BuildRequest {
        name: request.name.clone(),
        origin,
        patches: request.patches.clone(),
        since: request.since.clone(),
        keep_work: request.keep_work,
        compares: !request.no_diff,
        profiles: pelton_core::profiles().iter().map(|name| (*name).to_owned()).collect(),
    };
    let store = Store::open()?;
    watch.begins("building", Amount::Time(0));
    let built = build::build(&store, &request, &mut |line| watch.at(line), watch.stop());
    watch.ends();
    let built = built?;
    Ok(KernelBuilt { kernel: built.about.into(), work: built.work.map(|path| path.display().to_string()) })
}

/// Images that are kept.
///
/// # Errors
/// When their folder cannot be read.
pub fn list() -> Result<Kernels, LabError> {
    let rows = Store::open()?.list()?.into_iter().map(|(name, about)| match about {
        Ok(about) => KernelRow { name, kernel: Some(about.into()), damage: None },
        Err(error) => KernelRow { name, kernel: None, damage: Some(reason(error)) },
    });
    Ok(Kernels { kernels: rows.collect() })
}

fn reason(error: pelton_kernel::Error) -> String {
    match error {
        pelton_kernel::Error::Refused { reason, .. } => reason,
        stopped @ pelton_kernel::Error::Stopped => stopped.to_string(),
    }
}

/// Description of an image, which is read and compared with its hash.
///
/// # Errors
/// When there is none of that name, or it is damaged.
pub fn show(name: &str) -> Result<KernelImage, LabError> {
    Ok(Store::open()?.load(name)?.about.into())
}

/// Removes an image.
///
/// # Errors
/// When there is none of that name, or it cannot be removed.
pub fn remove(name: &str) -> Result<KernelRemoved, LabError> {
    Store::open()?.remove(name)?;
    Ok(KernelRemoved { removed: name.to_owned() })
}

impl From<About> for KernelImage {
    fn from(about: About) -> Self {
        let patch = |patch: pelton_kernel::store::Patch| KernelPatch { name: patch.name, hash: patch.hash };
        let operation = |operation: pelton_kernel::store::Operation| KernelOperation {
            operation: operation.name,
            present: operation.present,
            reason: operation.reason,
        };
        let source = about.source;
        let no_diff = about.comparison.hash.is_none().then(|| {
            let older = || "it was made by a version that made none".to_owned();
            about.comparison.reason.unwrap_or_else(older)
        });
        KernelImage {
            name: about.name,
            release: about.release,
            profile: about.profile,
            hash: about.hash,
            source: KernelSource {
                place: source.place,
                commit: source.commit,
                since: source.since,
                changed: source.changed,
            },
            patches: about.patches.into_iter().map(patch).collect(),
            operations: about.operations.into_iter().map(operation).collect(),
            not_covered: about.not_covered.into_iter().map(KernelPart::from).collect(),
            built_s: about.built,
            no_diff,
        }
    }
}

impl From<NotCovered> for KernelPart {
    fn from(part: NotCovered) -> Self {
        let kind = match part.kind {
            Kind::Function => "function",
            Kind::Macro => "macro",
            Kind::Type => "type",
            Kind::Initialiser => "initialiser",
            Kind::Declaration => "declaration",
            Kind::Condition => "condition",
            Kind::File => "file",
        };
        KernelPart { file: part.file, kind, name: Some(part.name).filter(|name| !name.is_empty()), reason: part.reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    #[test]
    fn a_kernel_is_made_of_one_source() {
        let both = KernelBuildRequest { tree: Some("a".into()), source: Some("6.12".into()), ..Default::default() };
        for request in [KernelBuildRequest::default(), both] {
            let error = build(&request, &Unwatched).expect_err("not one source");
            assert!(matches!(error, LabError::Refused(refusal) if refusal.fault == Fault::Request));
        }
    }
}
