// SPDX-License-Identifier: GPL-2.0-or-later
//! Words that must not occur in some places, each with what to write instead.

use super::tokens::{self, Source, Token};
use super::{Rule, c};
use crate::repo::File;

/// A piece of code that is not allowed, and its replacement.
type Ban = (&'static str, &'static str);

/// Decisions are made here: nothing may differ between two runs or two machines.
const DECIDING: &[&str] = &["crates/core/src/", "crates/model/src/", "crates/schema/src/", "crates/sim/src/"];
/// User input passes through here: it must never panic.
const USER_FACING: &[&str] = &["crates/scenario/src/", "crates/trace/src/", "crates/cli/src/"];
const CORE_C: &[&str] = &["core/include/"];

const DETERMINISM: &[Ban] = &[
    ("HashMap", "its order differs between runs; use BTreeMap or a Vec indexed by a dense id"),
    ("HashSet", "its order differs between runs; use BTreeSet or a sorted Vec"),
    ("Instant", "the engine reads no clock; `now` is an argument"),
    ("SystemTime", "the engine reads no clock; `now` is an argument"),
    ("std::fs", "no I/O here; files are read in scenario, trace and cli"),
    ("fs::", "no I/O here; files are read in scenario, trace and cli"),
    ("std::env", "a run is a value; pass it in the plan"),
    ("env::", "a run is a value; pass it in the plan"),
    ("thread::", "a run has one thread; runs are parallel in lab"),
];

const FLOATS: &[Ban] = &[
    ("f32", "integers only where decisions are made; floats belong to lab and cli"),
    ("f64", "integers only where decisions are made; floats belong to lab and cli"),
];

const UNFINISHED: &[Ban] = &[
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or return an error that says what is missing"),
    ("dbg!", "remove it"),
];

const PANICS: &[Ban] = &[
    (".unwrap()", "return an error, or use expect(\"why it cannot fail\")"),
    (".expect(\"\")", "say why it cannot fail"),
];

/// Files of users are opened here.
const OPENING: &[&str] =
    &["crates/scenario/src/", "crates/trace/src/", "crates/replay/src/", "crates/lab/src/", "crates/cli/src/"];

const OPENS: &[Ban] = &[
    ("File::open", "pelton_scenario::reading reads: regular files only, and never more than fits"),
    ("File::options", "pelton_scenario::reading reads, output.rs writes"),
    ("File::create", "output.rs writes: beside the place, through no link"),
    ("fs::read", "pelton_scenario::reading reads: regular files only, and never more than fits"),
    ("fs::read_to_string", "pelton_scenario::reading reads: regular files only, and never more than fits"),
    ("fs::write", "output.rs writes: beside the place, through no link"),
];

/// Limits of time in tests hold on busy machines, and what property tests find is kept.
const OF_TESTS: &[Ban] = &[
    ("Instant", "a clock on the wall says nothing on a busy machine; use tests/shared/processor_time.rs"),
    ("failure_persistence: None", "`kept()` of tests/shared/kept.rs keeps what failed"),
];

const C_WORDS: &[Ban] = &[
    ("bool", "explicit widths only: u32"),
    ("_Bool", "explicit widths only: u32"),
    ("enum", "explicit widths only: u32 (an `enum {` without a name may list constants)"),
    ("float", "integers only"),
    ("double", "integers only"),
    ("long", "explicit widths only: u64 or s64"),
    ("__int128", "BPF has no 128-bit arithmetic"),
    ("goto", "structure it"),
    ("malloc", "state is passed in"),
    ("while", "loops have a constant bound: for"),
];

pub const RULES: &[Rule] = &[
    Rule {
        name: "determinism",
        check: |file| rust(file, DECIDING, DETERMINISM),
        bad: || File::example("crates/sim/src/a.rs", "use std::{fs, io};\nfn f() { fs::read(\"x\"); }\n"),
        good: || File::example("crates/sim/src/a.rs", "// HashMap\n#[cfg(test)]\nmod tests { use std::fs; }\n"),
    },
    Rule {
        name: "no-floats",
        check: floats,
        bad: || File::example("crates/core/src/a.rs", "const A: u32 = (3 as u32) + 1.5 as u32;\n"),
        good: || File::example("crates/sim/src/a.rs", "fn f(t: ((u8, u8), u8)) -> u8 { t.0.1 + 0x1e + 1 }\n"),
    },
    Rule {
        name: "unfinished",
        check: |file| rust(file, &[""], UNFINISHED),
        bad: || File::example("tests/tests/a.rs", concat!("#[test]\nfn t() { to", "do!() }\n")),
        good: || File::example("crates/lab/src/a.rs", "fn f() { println!(\"dbg!\") }\n"),
    },
    Rule {
        name: "unfinished-words",
        check: words,
        bad: || File::example("scripts/a.sh", concat!("# FIX", "ME: later\n")),
        good: || File::example("docs/a.md", concat!("the words FIX", "ME and others are not allowed\n")),
    },
    Rule {
        name: "no-unwrap",
        check: |file| rust(file, USER_FACING, PANICS),
        bad: || File::example("crates/cli/src/a.rs", "fn f() { g().unwrap() }\n"),
        good: || {
            File::example("crates/cli/src/a.rs", "fn f() { g().unwrap_or(1) }\n#[test]\nfn t() { g().unwrap(); }\n")
        },
    },
    Rule {
        name: "open-files",
        check: |file| rust(file, OPENING, OPENS),
        bad: || File::example("crates/lab/src/a.rs", "fn f() { std::fs::read_to_string(\"x\"); }\n"),
        good: || File::example("crates/lab/src/a.rs", "fn f() { reading::text(x, 9); fs::read_dir(x); }\n"),
    },
    Rule {
        name: "steady-tests",
        check: of_tests,
        bad: || File::example("crates/lab/tests/a.rs", "fn f() { let since = std::time::Instant::now(); }\n"),
        good: || {
            File::example("crates/lab/tests/a.rs", "proptest! { #![config(failure_persistence: kept())] fn f() {} }\n")
        },
    },
    Rule {
        name: "core-c-words",
        check: core_words,
        bad: || File::example("core/include/pelton/a.h", "struct s {\n\tenum e kind;\n};\n"),
        good: || {
            File::example(
                "core/include/pelton/types.h",
                "/* no bool */\ntypedef unsigned long long u64;\nenum { A, B };\n",
            )
        },
    },
    Rule {
        name: "core-c-include",
        check: core_includes,
        bad: || File::example("core/include/pelton/a.h", "#include <string.h>\n"),
        good: || File::example("core/include/pelton/a.h", "#include \"types.h\"\n"),
    },
    Rule {
        name: "core-c-globals",
        check: core_globals,
        bad: || File::example("core/include/pelton/a.h", "static u32 calls;\n"),
        good: || {
            File::example(
                "core/include/pelton/a.h",
                "static const u32 table[] = { 1 };\nPELTON_INLINE u32 f(void) { return 0; }\n",
            )
        },
    },
];

/// Places where code outside tests (unfinished code: anywhere) matches a ban.
fn rust(file: &File, scope: &[&str], bans: &[Ban]) -> Vec<(usize, String)> {
    if file.extension() != "rs" || !file.is_under(scope) {
        return Vec::new();
    }
    let everywhere = scope.contains(&"");
    let Ok(source) = Source::parse(&file.path, &file.text) else { return Vec::new() };
    let tokens: Vec<&Token> = source.tokens.iter().filter(|token| everywhere || !token.is_test).collect();
    let mut found: Vec<_> = bans.iter().flat_map(|ban| matches(&tokens, *ban)).collect();
    found.sort();
    found
}

fn matches(tokens: &[&Token], (ban, instead): Ban) -> Vec<(usize, String)> {
    let pattern = tokens::pattern(ban);
    let hit = |window: &&[&Token]| window.iter().zip(&pattern).all(|(token, text)| token.text == *text);
    let places = tokens.windows(pattern.len()).filter(hit);
    places.map(|window| (window[0].line, format!("`{ban}`: {instead}"))).collect()
}

/// Tests of their own programs. Those in source files find a `lib.rs`, beside which proptest keeps its seeds.
fn of_tests(file: &File) -> Vec<(usize, String)> {
    if !file.path.contains("/tests/") {
        return Vec::new();
    }
    let mut found = rust(file, &[""], OF_TESTS);
    let is_property = file.extension() == "rs" && file.text.contains(concat!("proptest", "! {"));
    if is_property && !file.text.contains("failure_persistence: kept()") {
        found.push((0, OF_TESTS[1].1.to_owned()));
    }
    found
}

fn floats(file: &File) -> Vec<(usize, String)> {
    let mut found = rust(file, DECIDING, FLOATS);
    if file.extension() == "rs" && file.is_under(DECIDING) {
        let source = Source::parse(&file.path, &file.text).unwrap_or_default();
        let literal = |pair: &&[Token]| !pair[1].is_test && pair[0].text != "." && is_float(&pair[1].text);
        let places = source.tokens.windows(2).filter(literal);
        found.extend(places.map(|pair| (pair[1].line, format!("`{}`: {}", pair[1].text, FLOATS[0].1))));
    }
    found
}

/// True for `1.5`, `1e9`, `1f32`; false for integers in any base, and for everything that is not a number.
fn is_float(literal: &str) -> bool {
    let is_number = literal.starts_with(|c: char| c.is_ascii_digit());
    let other_base = ["0x", "0o", "0b"].iter().any(|prefix| literal.starts_with(prefix));
    is_number
        && !other_base
        && (literal.contains(['.', 'e', 'E']) || literal.ends_with("f32") || literal.ends_with("f64"))
}

fn words(file: &File) -> Vec<(usize, String)> {
    if !matches!(file.extension(), "rs" | "c" | "h" | "py" | "sh" | "Makefile") {
        return Vec::new();
    }
    let banned = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("#[ign", "ore]")];
    let has = |line: &str| banned.into_iter().find(|word| line.contains(word));
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(at, line)| Some((at + 1, format!("`{}`: finish it, or leave it out", has(line)?)))).collect()
}

/// Words and opening braces of the C code of a core header, with their lines.
fn core_code(file: &File) -> Vec<(usize, String)> {
    if !file.is_under(CORE_C) {
        return Vec::new();
    }
    let code = c::blank_comments(&file.text);
    let split = |line: &str| -> Vec<String> {
        let spaced = line.replace('{', " { ");
        spaced
            .split(|c: char| !c.is_alphanumeric() && !"_{".contains(c))
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    };
    code.lines().enumerate().flat_map(|(at, line)| split(line).into_iter().map(move |word| (at + 1, word))).collect()
}

fn core_words(file: &File) -> Vec<(usize, String)> {
    let is_types = file.path.ends_with("/types.h");
    let allowed = |word: &str, next: &str| match word {
        "long" => is_types,
        "enum" => next == "{",
        _ => false,
    };
    let mut words = core_code(file);
    words.push((0, String::new()));
    let hits = words.windows(2).filter(|pair| !allowed(&pair[0].1, &pair[1].1));
    let bans = hits.filter_map(|pair| Some((pair[0].0, C_WORDS.iter().find(|(word, _)| *word == pair[0].1)?)));
    bans.map(|(line, (word, instead))| (line, format!("`{word}`: {instead}"))).collect()
}

fn core_includes(file: &File) -> Vec<(usize, String)> {
    let foreign = |line: &str| line.trim_start().starts_with("#include") && (line.contains('<') || line.contains(".."));
    let lines = file.text.lines().enumerate().filter(|(_, line)| file.is_under(CORE_C) && foreign(line));
    lines.map(|(at, _)| (at + 1, "core includes nothing but its own headers".to_owned())).collect()
}

fn core_globals(file: &File) -> Vec<(usize, String)> {
    let words = core_code(file);
    let mutable =
        |pair: &&[(usize, String)]| pair[0].1 == "static" && !matches!(pair[1].1.as_str(), "const" | "inline");
    let places = words.windows(2).filter(mutable);
    places.map(|pair| (pair[0].0, "no state in the core: pass it in, or make it `static const`".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: &str, path: &str, text: &str) -> Vec<usize> {
        let rule = RULES.iter().find(|r| r.name == rule).expect("a rule of this file");
        (rule.check)(&File::example(path, text)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn every_ban_is_noticed() {
        for (ban, _) in DETERMINISM {
            let text = format!("fn f() {{ a({ban} b) }}");
            assert!(!lines("determinism", "crates/sim/src/a.rs", &text).is_empty(), "{ban}");
        }
        for (ban, _) in C_WORDS {
            assert_eq!(lines("core-c-words", "core/include/pelton/a.h", &format!("\n{ban} x;\n")), [2], "{ban}");
        }
        for (ban, _) in PANICS {
            assert_eq!(lines("no-unwrap", "crates/trace/src/a.rs", &format!("fn f() {{\na(){ban}\n}}")), [2], "{ban}");
        }
        for (ban, _) in OPENS {
            assert_eq!(
                lines("open-files", "crates/cli/src/a.rs", &format!("fn f() {{ std::{ban}(x) }}")),
                [1],
                "{ban}"
            );
        }
        for (ban, _) in OF_TESTS {
            assert_eq!(lines("steady-tests", "tests/tests/a.rs", &format!("fn f() {{ {ban} }}")), [1], "{ban}");
        }
        assert_eq!(lines("steady-tests", "tests/tests/a.rs", concat!("proptest", "! {}")), [0]);
        for (ban, _) in UNFINISHED {
            assert_eq!(lines("unfinished", "xtask/src/a.rs", &format!("fn f() {{ {ban}() }}")), [1], "{ban}");
        }
    }

    #[test]
    fn bans_hold_only_where_they_are_meant() {
        assert!(lines("determinism", "crates/lab/src/a.rs", "use std::fs;").is_empty());
        assert!(lines("no-floats", "crates/lab/src/a.rs", "const A: f64 = 1.0;").is_empty());
        assert!(lines("no-unwrap", "crates/cli/tests/a.rs", "fn f() { g().unwrap() }").is_empty());
    }

    #[test]
    fn float_literals_are_told_from_other_literals() {
        assert!(["1.5", "1e9", "2f32", "1_0.0"].into_iter().all(is_float));
        assert!(!["1", "0x1e", "1_000u64", "\"1.5\"", "0b1"].into_iter().any(is_float));
    }
}
