// SPDX-License-Identifier: GPL-2.0-or-later
//! No input makes the readers panic: arbitrary bytes, arbitrary text, and real platform files with pieces changed.

use crate::kept::kept;
use pelton_scenario::platform::{self, fuzz_platform};
use pelton_scenario::policy::fuzz_policy;
use proptest::prelude::*;

/// Values and fragments that files contain or that break readers.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "1e999",
    "nan",
    "99999999999999999999",
    "[]",
    "[[]]",
    "{}",
    "\"\"",
    "\"é\u{202e}\"",
    "true",
    "=",
    "\n",
    "[",
    "]]",
    "#",
    "cpus = [0, 1023]",
    "khz_min = 1000",
    "[[perf_domain]]",
    "[topology]\nsmt = [[9]]",
    "opps = [{khz = 1}]",
    "capacity = 1024",
    "'''",
    "\\u0000",
];

fn platform_text() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = platform::names().collect();
    (0..names.len()).prop_map(move |i| platform::load(names[i]).unwrap().source.text().to_owned())
}

/// Replaces a stretch of the text with a piece; positions count in characters so that any is valid.
fn mutated(text: &str, cuts: &[(usize, usize, usize)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for &(at, length, piece) in cuts {
        let start = at % (chars.len() + 1);
        let end = (start + length).min(chars.len());
        chars.splice(start..end, PIECES[piece % PIECES.len()].chars());
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        fuzz_platform(&bytes);
        fuzz_policy(&bytes);
    }

    #[test]
    fn changed_platform_files_never_panic(
        text in platform_text(),
        cuts in prop::collection::vec((any::<usize>(), 0usize..40, any::<usize>()), 1..6),
    ) {
        fuzz_platform(mutated(&text, &cuts).as_bytes());
    }

    #[test]
    fn words_of_the_format_in_any_order_never_panic(words in prop::collection::vec(0usize..PIECES.len(), 0..30)) {
        let text: String = words.iter().map(|&w| format!("{}\n", PIECES[w])).collect();
        fuzz_platform(text.as_bytes());
        fuzz_policy(text.as_bytes());
    }
}
