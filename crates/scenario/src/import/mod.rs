// SPDX-License-Identifier: GPL-2.0-or-later
//! Platform files made from other sources: sysfs, Energy Model, device trees, LISA's plat_info, Wattson's curves.
//!
//! An importer states what its source states. What the source leaves open stays out of the file, and the file lists
//! every assumption that was made.

mod aliases;
mod cells;
mod devicetree;
mod draft;
mod driver;
mod drivers;
mod dtb;
mod dts;
mod energy_model;
mod expression;
mod files;
mod finish;
mod frequencies;
mod invariance;
mod leftover;
mod nesting;
mod plat_info;
mod shown;
mod sysfs;
mod thermal;
mod topology;
mod unused;
mod wattson;

pub use draft::Draft;

use crate::diagnostic::{Diagnostics, SourceFile};
use std::path::Path;

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `/sys` of a machine, or a copy of it.
    Sysfs,
    /// `/sys/kernel/debug/energy_model`, or a copy of it.
    EnergyModel,
    /// A flattened device tree.
    Dtb,
    /// Source of a device tree.
    Dts,
    /// LISA's platform information.
    PlatInfo,
    /// Power curves of Wattson.
    Wattson,
}

/// Every kind by its name.
pub const KINDS: [(&str, Kind); 6] = [
    ("sysfs", Kind::Sysfs),
    ("energy-model", Kind::EnergyModel),
    ("dtb", Kind::Dtb),
    ("dts", Kind::Dts),
    ("plat-info", Kind::PlatInfo),
    ("wattson", Kind::Wattson),
];

/// Facts that the user adds where a source lacks them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Kind of the sources; `None`: looked at.
    pub kind: Option<Kind>,
    /// Number of CPUs, for sources that do not say it.
    pub cpus: Option<u32>,
    /// Powers of an Energy Model are milliwatts (kernels before 6.0), not microwatts.
    pub milliwatts: bool,
}

/// Reads one source.
///
/// # Errors
/// What cannot be read, with file, line and place.
pub fn import(path: &Path, options: &Options) -> Result<Draft, Diagnostics> {
    let kind = kind(path, options)?;
    let mut draft = match kind {
        Kind::Sysfs => sysfs::read(path),
        Kind::EnergyModel => energy_model::read(path, options.milliwatts),
        Kind::Dtb => dtb::read(path).and_then(|tree| devicetree::draft(&tree)),
        Kind::Dts => dts::read(path).and_then(|tree| devicetree::draft(&tree)),
        Kind::PlatInfo => plat_info::read(&SourceFile::read(path)?),
        Kind::Wattson => wattson::read(&SourceFile::read(path)?, options.cpus),
    }?;
    draft.sources.push(path.display().to_string());
    if draft.domains.is_empty() {
        let about = SourceFile::new(path.display().to_string(), "").about("there are no CPUs in it");
        return Err(about.help("is it of another kind? see --from").into());
    }
    Ok(draft)
}

/// Kind of a source: as given, else by its content.
///
/// # Errors
/// A source that looks like none.
pub fn kind(path: &Path, options: &Options) -> Result<Kind, Diagnostics> {
    options.kind.map_or_else(|| kind_of(path), Ok)
}

/// Kind of a source by its path and content.
fn kind_of(path: &Path) -> Result<Kind, Diagnostics> {
    let has = |inner: &str| path.join(inner).exists();
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match ending {
        "dtb" => return Ok(Kind::Dtb),
        "dts" | "dtsi" => return Ok(Kind::Dts),
        "yml" | "yaml" | "json" => return Ok(Kind::PlatInfo),
        "csv" => return Ok(Kind::Wattson),
        _ => {}
    }
    if path.is_dir() && energy_model::is_one(path) {
        return Ok(Kind::EnergyModel);
    }
    let is_sysfs = ["devices/system/cpu", "sys/devices/system/cpu"].into_iter().any(has) || has_cpus(path);
    if path.is_dir() && is_sysfs {
        return Ok(Kind::Sysfs);
    }
    if path.is_file()
        && let Some(kind) = shown::kind(path)
    {
        return Ok(kind);
    }
    let kinds = KINDS.map(|(name, _)| name).join(", ");
    let about =
        SourceFile::new(path.display().to_string(), "").about(format!("cannot tell what `{}` is", path.display()));
    Err(about
        .allowed("/sys, a folder like it, .dtb, .dts, .yml, .json, .csv, `grep -r .` of a folder as text")
        .help(format!("--from says it: {kinds}"))
        .into())
}

/// True if a copy of `devices/system/cpu` itself, or of the folder above, has CPUs in it.
fn has_cpus(path: &Path) -> bool {
    let of = |inner: &str| files::Files::of_folders(vec![("cpu", path.join(inner))]);
    ["", "cpu"].into_iter().any(|inner| sysfs::has_cpus(&of(inner)))
}
