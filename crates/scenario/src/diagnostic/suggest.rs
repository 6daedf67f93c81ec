// SPDX-License-Identifier: GPL-2.0-only
//! Did you mean ...?

/// Words longer than this are no typo of a key; also bounds the time one comparison takes.
const WORD_CHARS_MAX: usize = 64;
/// Candidates listed when none is close.
const LISTED_MAX: usize = 24;

/// The candidate that `word` is most likely a misspelling of.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.len() > WORD_CHARS_MAX {
        return None;
    }
    let folded = fold(word);
    let near = |c: &'a str| (strsim::damerau_levenshtein(&folded, &fold(c)), c);
    let (distance, best) = candidates.into_iter().map(near).min_by_key(|&(d, _)| d)?;
    let longest = folded.chars().count().max(best.chars().count());
    (distance <= (longest / 3).max(1)).then_some(best)
}

/// Help for an unknown word: the likely candidate, else the list of all.
pub fn hint_for<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(best) = did_you_mean(word, candidates.clone()) {
        return format!("did you mean `{best}`?");
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    match all.len() {
        0 => "nothing is allowed here".into(),
        n if n <= LISTED_MAX => format!("known: {}", all.join(", ")),
        n => format!("known: {}, and {} more", all[..LISTED_MAX].join(", "), n - LISTED_MAX),
    }
}

/// A word from an input, short enough for a message.
pub fn short(word: &str) -> String {
    const CHARS_MAX: usize = 40;
    let cut: String = word.chars().take(CHARS_MAX).collect();
    if cut.len() == word.len() { cut } else { cut + "…" }
}

/// Case and the choice of separator are not what people mean to distinguish.
fn fold(word: &str) -> String {
    word.chars().map(|c| if c == '-' || c == '.' { '_' } else { c.to_ascii_lowercase() }).collect()
}
