// SPDX-License-Identifier: GPL-2.0-or-later
//! Puts faults into the core's headers and says which of them nothing notices.
//!
//! Every fault is in one build, `(pelton_mutant == N ? other : original)`; the variable PELTON_MUTANT chooses it when
//! a program begins. Judges are programs of `make test`; the first that fails has noticed the fault. What none notices
//! has to be in `survivors.toml`, and what one notices must not be there. A sample in CI does without the judges that
//! take long to build; what only those notice is in that file too.

mod change;
mod expr;
mod judge;
mod listed;
mod sites;
mod tokens;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::repo;
use sites::Mutant;

/// Of all faults that the rules of `change.rs` make, one of so many is put in.
const ONE_OF: u64 = 20;
/// Folder of headers with faults.
const FOLDER: &str = "target/mutants";

/// Request of a caller.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    /// Every fault of this header or function instead of the usual selection.
    within: Option<String>,
    /// Judges a sample in this order ...
    seed: Option<u64>,
    /// ... until so much time is over.
    seconds: Option<u64>,
    /// Only by judges that are built and asked in seconds.
    quick: bool,
}

const USAGE: &str = "usage: cargo xtask mutants [--in HEADER|FUNCTION] [--quick] [--seed N] [--seconds N]";

impl Asked {
    fn parse(args: &[&str]) -> Result<Asked, String> {
        let mut asked = Asked::default();
        let number = |text: &str| text.parse().map(Some).map_err(|_| format!("`{text}` is no number"));
        let mut words = args.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| USAGE.to_owned());
            match word {
                "--quick" => asked.quick = true,
                "--in" => asked.within = Some(value()?.to_owned()),
                "--seed" => asked.seed = number(value()?)?,
                "--seconds" => asked.seconds = number(value()?)?,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(asked)
    }

    fn has(&self, mutant: &Mutant) -> bool {
        match &self.within {
            Some(name) => *name == mutant.header || *name == mutant.function,
            None => fnv(mutant).is_multiple_of(ONE_OF),
        }
    }
}

/// 64-bit FNV-1a over what names a mutant: a selection that does not depend on other lines.
fn fnv(mutant: &Mutant) -> u64 {
    let words = [&mutant.header, &mutant.function, &mutant.was, &mutant.becomes, &mutant.nth.to_string()];
    words
        .iter()
        .flat_map(|word| word.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        >> 8
}

/// `cargo xtask mutants`.
pub fn run(args: &[&str]) -> Result<(), String> {
    let asked = Asked::parse(args)?;
    if !judge::has_clang() {
        println!("not measured: faults in the core: clang is missing");
        return Ok(());
    }
    let folder = repo::root().join(FOLDER);
    let mutants = write_headers(&asked, &folder.join("include"))?;
    let names: String = mutants.iter().enumerate().map(|(i, m)| format!("{}: {}\n", i + 1, listed::shown(m))).collect();
    write_changed(&folder.join("list.txt"), &names)?;
    println!("{} faults in one build", mutants.len());
    let judges = judge::build(&folder, asked.quick)?;
    let order = order(mutants.len(), asked.seed);
    let found = judge::judge_all(&judges, &mutants, &order, asked.seconds.map(Duration::from_secs))?;
    println!("{}", judge::counted(&judges, &found));
    let listed = listed::read()?;
    listed::compare(&mutants, &found, &listed, listed::Look { part: asked.within.is_some(), quick: asked.quick })
}

/// Numbers of all mutants, 1 the first, mixed where a seed is given.
fn order(count: usize, seed: Option<u64>) -> Vec<usize> {
    let mut all: Vec<usize> = (1..=count).collect();
    if let Some(seed) = seed {
        // Steele and Vigna's splitmix64 as a key of each number.
        all.sort_by_key(|number| {
            let mut z = seed.wrapping_add((*number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
    }
    all
}

/// Reads the number of the chosen fault before the program begins.
const CHOSEN: &str = "#include <stdlib.h>\n\nint pelton_mutant;\n\n\
    static __attribute__((constructor)) void choose(void)\n{\n\tconst char *text = getenv(\"PELTON_MUTANT\");\n\n\
    \tpelton_mutant = text ? atoi(text) : 0;\n}\n";

/// Writes every header with the faults that are asked for.
fn write_headers(asked: &Asked, include: &Path) -> Result<Vec<Mutant>, String> {
    let mut mutants = Vec::new();
    for path in headers()? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = sites::mutate(&name, &code, &mut |mutant| {
            asked.has(mutant).then(|| {
                mutants.push(mutant.clone());
                mutants.len()
            })
        });
        let text = text.replacen("#ifndef PELTON_", "extern int pelton_mutant;\n\n#ifndef PELTON_", 1);
        write_changed(&include.join("pelton").join(name), &text)?;
    }
    write_changed(&include.join("chosen.c"), CHOSEN)?;
    Ok(mutants)
}

fn headers() -> Result<Vec<PathBuf>, String> {
    let folder = repo::root().join("core/include/pelton");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|ext| ext == "h"));
    found.sort();
    Ok(found)
}

/// Leaves a file alone that is as it is to be: cargo compiles what is newer than before.
fn write_changed(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "#define TWO 2\nstatic const u32 table[2] = { 1, 2 };\nu32 f(u32 a, u32 b)\n{\n\tu32 c[3];\n\n\
        \tif (a < b)\n\t\treturn pelton_min_u32(a, 7u);\n\tc[a & 1u] = b;\n\treturn c[0] - a;\n}\n";

    fn all(code: &str) -> (Vec<String>, String) {
        let mut found = Vec::new();
        let text = sites::mutate("x.h", code, &mut |mutant| {
            found.push(format!("{} -> {}", mutant.was, mutant.becomes));
            Some(found.len())
        });
        (found, text)
    }

    #[test]
    fn operators_constants_terms_conditions_and_bounds_are_changed() {
        let (found, text) = all(CODE);
        for one in [
            "a < b -> a <= b",
            "a < b -> !(a < b)",
            "pelton_min_u32(a, 7u) -> pelton_max_u32(a, 7u)",
            "7u -> 8u",
            "c[a & 1u] = b -> ",
            "c[0] - a -> c[0] + a",
            "c[0] - a -> c[0]",
        ] {
            assert!(found.iter().any(|name| name == one), "{one} in {found:?}");
        }
        assert!(text.contains("(void)(c[a & 1u] = b))"), "{text}");
    }

    #[test]
    fn what_the_compiler_needs_as_a_constant_stays() {
        let (_, text) = all(CODE);
        assert!(text.contains("#define TWO 2\nstatic const u32 table[2] = { 1, 2 };") && text.contains("u32 c[3];"));
    }

    #[test]
    fn without_faults_the_text_stays() {
        assert_eq!(sites::mutate("x.h", CODE, &mut |_| None), CODE);
    }

    #[test]
    fn two_changes_of_one_expression_have_names_of_their_own() {
        let mut counts = Vec::new();
        sites::mutate("x.h", "u32 f(u32 a)\n{\n\ta = a + 4;\n\treturn a + 4;\n}\n", &mut |mutant| {
            counts.extend((mutant.becomes == "a - 4").then_some(mutant.nth));
            None
        });
        assert_eq!(counts, [1, 2]);
    }

    #[test]
    fn arguments_are_read() {
        let asked = Asked::parse(&["--seed", "3", "--seconds", "60"]);
        assert_eq!(asked, Ok(Asked { seed: Some(3), seconds: Some(60), ..Asked::default() }));
        assert!(Asked::parse(&["--quick", "--in", "pelt.h"]).is_ok_and(|asked| asked.quick && asked.within.is_some()));
        assert!(Asked::parse(&["--seed"]).is_err() && Asked::parse(&["--seed", "x"]).is_err());
    }

    #[test]
    fn a_seed_mixes_all_and_loses_none() {
        let mut mixed = order(100, Some(1));
        assert_ne!(mixed, order(100, None));
        mixed.sort_unstable();
        assert_eq!(mixed, order(100, None));
    }
}
