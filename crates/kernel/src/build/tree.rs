// SPDX-License-Identifier: GPL-2.0-or-later
//! Source trees of a kernel: what makes a folder one, its release, and whether images can be made of it.

use crate::Error;
use std::fs;
use std::path::Path;

/// Files without which a folder is no kernel's source, or has no scheduler.
const NEEDED: &[&str] = &[
    "Makefile",
    "Kconfig",
    "arch/x86/Makefile",
    "include/linux/sched.h",
    "kernel/sched/fair.c",
    "scripts/Makefile.build",
];
/// Oldest release that the drivers are written for: 5.10.
const OLDEST: u32 = 510;

/// Release of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// 612 for 6.12.
    pub version: u32,
    /// As 6.12.118.
    pub text: String,
}

/// Release of the kernel whose source this folder is.
///
/// # Errors
/// When it is none, or of a release that no image can be made of.
pub fn recognise(tree: &Path) -> Result<Release, Error> {
    let shown = tree.display();
    let no_tree = |why: String| {
        let hint =
            "allowed: the folder of a kernel's source, as of git or a package, or --source and a series, as 6.12";
        Error::input(format!("{shown} is no source tree of a kernel: {why}"), hint)
    };
    if !tree.is_dir() {
        return Err(no_tree(if tree.exists() { "it is no folder" } else { "there is no such folder" }.to_owned()));
    }
    let missing: Vec<&str> = NEEDED.iter().copied().filter(|file| !tree.join(file).is_file()).collect();
    if !missing.is_empty() {
        return Err(no_tree(format!("it has no {}", missing.join(", "))));
    }
    let makefile = fs::read_to_string(tree.join("Makefile")).map_err(|error| no_tree(error.to_string()))?;
    let release = release(&makefile).ok_or_else(|| no_tree("its Makefile has no VERSION and PATCHLEVEL".to_owned()))?;
    check(&release)?;
    Ok(release)
}

fn check(release: &Release) -> Result<(), Error> {
    if release.version >= OLDEST {
        return Ok(());
    }
    let reason =
        format!("Linux {}: images are made of 5.10 and later; before, the scheduler is in another form", release.text);
    Err(Error::input(reason, "simulate an older release by its profile (`pelton policy list`)"))
}

/// Release that a Makefile has.
fn release(makefile: &str) -> Option<Release> {
    let value = |name: &str| {
        let mut lines = makefile.lines().take(20);
        lines.find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('=').map(str::trim))
    };
    let number = |name: &str| value(name)?.parse::<u32>().ok().filter(|&number| number < 100);
    let (version, level) = (number("VERSION")?, number("PATCHLEVEL")?);
    let sub =
        value("SUBLEVEL").filter(|sub| !matches!(*sub, "" | "0")).map(|sub| format!(".{sub}")).unwrap_or_default();
    let extra = value("EXTRAVERSION").unwrap_or_default();
    Some(Release { version: version * 100 + level, text: format!("{version}.{level}{sub}{extra}") })
}

/// Number of a profile or series: 612 for 6.12.
pub fn number(series: &str) -> Option<u32> {
    let (version, level) = series.split_once('.')?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number < 100);
    Some(number(version)? * 100 + number(level)?)
}

/// Newest of the profiles that is not newer than the release.
///
/// # Errors
/// When all are newer.
pub fn nearest(profiles: &[String], release: &Release) -> Result<String, Error> {
    let known = profiles.iter().filter_map(|name| Some((number(name)?, name)));
    let nearest = known.filter(|(number, _)| *number <= release.version).max();
    nearest.map(|(_, name)| name.clone()).ok_or_else(|| {
        let reason = format!("Linux {} is older than every profile: {}", release.text, profiles.join(", "));
        Error::input(reason, "what an image lacks is taken from a profile that is not newer")
    })
}

/// A series of the distribution, as 6.12.
///
/// # Errors
/// When the text is none, or images cannot be made of it.
pub fn check_series(series: &str) -> Result<(), Error> {
    let Some(version) = number(series) else {
        let hint = "allowed: a series of the distribution's package linux-source, as 6.12";
        return Err(Error::request(format!("--source {series}: not a series of kernels"), hint));
    };
    check(&Release { version, text: series.to_owned() })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder that looks like a kernel's source.
    pub(crate) fn fake(tree: &Path, version: &str) {
        for file in NEEDED {
            let path = tree.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{file}\n")).expect("written");
        }
        fs::write(tree.join("Makefile"), format!("# SPDX\n{version}\nEXTRAVERSION =\n")).expect("written");
    }

    #[test]
    fn a_tree_has_its_release() {
        let tree = tempfile::tempdir().expect("a folder");
        fake(tree.path(), "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 118");
        assert_eq!(recognise(tree.path()), Ok(Release { version: 612, text: "6.12.118".to_owned() }));
        fake(tree.path(), "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\nEXTRAVERSION = -rc2");
        assert_eq!(recognise(tree.path()), Ok(Release { version: 703, text: "7.3-rc2".to_owned() }));
    }

    #[test]
    fn what_is_no_tree_is_refused_with_what_is_missing() {
        let tree = tempfile::tempdir().expect("a folder");
        let words = |path: &Path| recognise(path).expect_err("no tree").to_string();
        assert!(words(&tree.path().join("none")).contains("there is no such folder"));
        assert!(words(tree.path()).contains("it has no Makefile, Kconfig"));
        fake(tree.path(), "VERSION = 6\nPATCHLEVEL = 12");
        fs::remove_file(tree.path().join("kernel/sched/fair.c")).expect("removed");
        assert!(words(tree.path()).contains("it has no kernel/sched/fair.c\n"), "{}", words(tree.path()));
        fake(tree.path(), "NAME = no kernel");
        assert!(words(tree.path()).contains("no VERSION and PATCHLEVEL"));
        fake(tree.path(), "VERSION = 5\nPATCHLEVEL = 4");
        assert!(words(tree.path()).contains("Linux 5.4: images are made of 5.10 and later"));
    }

    #[test]
    fn the_nearest_profile_is_the_newest_that_is_not_newer() {
        let profiles = ["4.16", "5.10", "6.1", "6.12", "7.2"].map(str::to_owned);
        let of = |version| nearest(&profiles, &Release { version, text: "x".to_owned() });
        assert_eq!(of(612), Ok("6.12".to_owned()));
        assert_eq!(of(618), Ok("6.12".to_owned()));
        assert_eq!(of(511), Ok("5.10".to_owned()));
        assert_eq!(of(800), Ok("7.2".to_owned()));
        assert!(of(300).is_err_and(|error| error.to_string().contains("older than every profile")));
    }

    #[test]
    fn a_series_is_two_numbers() {
        assert_eq!(check_series("6.12"), Ok(()));
        for bad in ["6", "six", "6.12.118", "../6.12", "5.4", "-6.1", "6.100"] {
            assert!(check_series(bad).is_err(), "{bad}");
        }
    }
}
