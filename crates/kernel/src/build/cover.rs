// SPDX-License-Identifier: GPL-2.0-or-later
//! The change of a tree held against the image that was made of it.

use super::change::conditions::Config;
use super::change::diff::{Hunk, hunk};
use super::change::reach::{Reached, Sources, Unit};
use super::change::source::Source;
use super::change::{Code, NotCovered, Touched};
use super::process::{self, check, program};
use crate::store::Operation;
use crate::{Error, build::copy::is_part};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Folders of a work folder.
pub struct Folders<'a> {
    /// The work folder itself.
    pub work: &'a Path,
    /// Files of this project.
    pub root: &'a Path,
    /// Copy of the tree, patched.
    pub tree: &'a Path,
    /// Its configured headers.
    pub obj: &'a Path,
    /// The image and what was compiled on the way.
    pub out: &'a Path,
}

/// Texts of files before they were changed, by name; none: the file was not there.
pub type Before = BTreeMap<String, Option<Vec<u8>>>;

/// Parts of the tree whose files may have code of an image; beside them the files that are touched.
const SOURCES: &[&str] = &["kernel/sched", "include/linux", "drivers/cpuidle/governors"];
/// Single files of that kind: those that drivers include.
const SOURCE_FILES: &[&str] = &[
    "drivers/cpufreq/cpufreq.c",
    "drivers/cpufreq/cpufreq_governor.c",
    "drivers/cpufreq/freq_table.c",
    "kernel/power/energy_model.c",
    "lib/cpumask.c",
    "lib/rbtree.c",
    "lib/find_bit.c",
    "lib/bitmap.c",
    "lib/sort.c",
    "lib/plist.c",
    "lib/list_sort.c",
];
/// Folders of the drivers.
const DRIVERS: &[&str] = &["tests/oracle/kernel", "crates/kernel/image"];
/// File with the table of operations.
const TABLE: &str = "crates/kernel/image/plug.c";

/// Parts of a change that no operation of the image reaches; `left_out` are files that were not copied.
///
/// # Errors
/// When what was compiled cannot be read, or the flag was set.
pub fn not_covered(
    folders: &Folders<'_>,
    before: &Before,
    left_out: &[String],
    operations: &[Operation],
    stop: &AtomicBool,
) -> Result<Vec<NotCovered>, Error> {
    let mut touched = Vec::new();
    for (file, text) in before {
        touched.extend(touched_file(folders, file, text.as_deref(), stop)?);
    }
    touched.extend(left_out.iter().map(|file| Touched { path: file.clone(), ..Touched::default() }));
    if touched.is_empty() {
        return Ok(Vec::new());
    }
    let config = fs::read_to_string(folders.obj.join("include/generated/autoconf.h")).unwrap_or_default();
    let config = Config::read(&config);
    let sources = sources(folders, &touched, &config, stop)?;
    let units = units(folders, stop)?;
    let table = fs::read_to_string(folders.root.join(TABLE)).unwrap_or_default();
    let reached = Reached::from(&roots(&table, operations), &sources, &units);
    let code = Code { sources: &sources, units: &units, reached: &reached, config: &config };
    let mut found = code.not_covered(&touched);
    found.sort();
    found.dedup();
    Ok(found)
}

/// Folders of the kernel's own objects, below that of its headers, and one that a driver has in its place.
const OBJECTS: &[&str] = &["lib", "kernel/sched"];
const IN_DRIVER: &str = "fair.o";

/// Objects that the image is linked of: those of drivers, and the kernel's own.
fn units(folders: &Folders<'_>, stop: &AtomicBool) -> Result<Vec<Unit>, Error> {
    let places = OBJECTS.iter().map(|folder| folders.obj.join(folder));
    let mut files: Vec<PathBuf> = Vec::new();
    for (folder, prefix) in places.map(|folder| (folder, "")).chain([(folders.out.to_owned(), "k_")]) {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_object = |name: &String| name.starts_with(prefix) && name.ends_with(".o") && name != IN_DRIVER;
        files.extend(names.filter(is_object).map(|name| folder.join(name)));
    }
    files.sort();
    let mut units = Vec::new();
    for file in files {
        check(stop)?;
        let bytes = fs::read(&file).map_err(Error::file("read", &file))?;
        let inlined = fs::read(file.with_extension("inlined")).unwrap_or_default();
        let unit = Unit::read(&bytes, &String::from_utf8_lossy(&inlined));
        units.push(unit.map_err(|error| Error::input(format!("{}: {error}", file.display()), ""))?);
    }
    Ok(units)
}

/// Functions in which the operations that are there begin: those that the table of the image has for them.
fn roots(table: &str, operations: &[Operation]) -> Vec<String> {
    let mut found = Vec::new();
    for operation in operations.iter().filter(|operation| operation.present) {
        let name = &operation.name;
        let values = table.lines().filter_map(|line| {
            let line = line.trim();
            let line = line.strip_prefix("ops").unwrap_or(line).strip_prefix('.')?;
            line.strip_prefix(name.as_str())?.trim_start().strip_prefix('=')
        });
        let words = values.flat_map(|value| value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    found
}

/// Lines of a file that differ; none: no text of it does.
fn touched_file(
    folders: &Folders<'_>,
    file: &str,
    before: Option<&[u8]>,
    stop: &AtomicBool,
) -> Result<Option<Touched>, Error> {
    let now = folders.tree.join(file);
    let after = if is_part(file) || now.is_file() { Some(fs::read(&now).unwrap_or_default()) } else { None };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (Some(after), before) = (&after, before.unwrap_or_default()) else {
        return Ok(Some(Touched { path: file.to_owned(), ..Touched::default() }));
    };
    if after.as_slice() == before {
        return Ok(None);
    }
    let hunks = hunks(folders.work, before, after, stop)?;
    Ok(Some(Touched { path: file.to_owned(), before: text(before), after: Some(text(after)), hunks }))
}

/// Lines in which two texts differ.
fn hunks(work: &Path, before: &[u8], after: &[u8], stop: &AtomicBool) -> Result<Vec<Hunk>, Error> {
    let (old, new) = (work.join("before"), work.join("after"));
    fs::write(&old, before).map_err(Error::file("write", &old))?;
    fs::write(&new, after).map_err(Error::file("write", &new))?;
    let mut command = program("diff", work);
    let ended = process::run(command.args(["--text", "-U0", "before", "after"]), stop, &mut |_| ())?;
    Ok(ended.lines.iter().filter_map(|line| hunk(line)).collect())
}

/// Sources that an image may have code of, and those that are touched.
fn sources(folders: &Folders<'_>, touched: &[Touched], config: &Config, stop: &AtomicBool) -> Result<Sources, Error> {
    let mut names: Vec<(&Path, String)> = Vec::new();
    SOURCES.iter().for_each(|folder| list(folders.tree, folder, &mut names));
    DRIVERS.iter().for_each(|folder| list(folders.root, folder, &mut names));
    let single = SOURCE_FILES.iter().map(|file| (*file).to_owned());
    let headers = touched.iter().filter(|file| file.path.ends_with(".h")).map(|file| file.path.clone());
    names.extend(single.chain(headers).map(|file| (folders.tree, file)));
    // Its functions have names of the kernel's.
    names.retain(|(_, name)| name != TABLE);
    let mut found = Sources::new();
    for (folder, name) in names {
        check(stop)?;
        if let Ok(bytes) = fs::read(folder.join(&name)) {
            found.insert(name, Source::read(&String::from_utf8_lossy(&bytes), config));
        }
    }
    Ok(found)
}

/// Files of C below a folder.
fn list<'a>(root: &'a Path, folder: &str, found: &mut Vec<(&'a Path, String)>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let file = format!("{folder}/{name}");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(root, &file, found);
        } else if name.ends_with(".c") || name.ends_with(".h") {
            found.push((root, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_begin_in_what_the_table_has_for_them() {
        let table =
            "\t.sugov_hook = k_image_hook,\n\tops.menu_select = k_menu ? menu_select : 0;\n\t.sugov_hooks = no,\n";
        let operation = |name: &str, present| Operation { name: name.to_owned(), present, reason: None };
        let found = roots(table, &[operation("sugov_hook", true), operation("menu_select", true)]);
        assert_eq!(found, ["k_image_hook", "k_menu", "menu_select", "0"]);
        assert!(roots(table, &[operation("sugov_hook", false)]).is_empty());
    }
}
