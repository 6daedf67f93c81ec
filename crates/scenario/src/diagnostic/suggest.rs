// SPDX-License-Identifier: GPL-2.0-or-later
//! Suggestions for misspelt words.

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
    let parts = by_part(word, &candidates);
    // A letter that is missing is a typo, half a name is not.
    let is_typo = |best: &&str| parts.is_empty() || best.chars().count() <= word.chars().count() + 1;
    if let Some(best) = did_you_mean(word, candidates.clone()).filter(is_typo) {
        return format!("did you mean `{best}`?");
    }
    if !parts.is_empty() {
        return format!("did you mean `{}`?", parts.join("` or `"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    match all.len() {
        0 => "nothing is allowed here".into(),
        n if n <= LISTED_MAX => format!("known: {}", all.join(", ")),
        n => format!("known: {}, and {} more", all[..LISTED_MAX].join(", "), n - LISTED_MAX),
    }
}

/// The few candidates that begin with the word, or else have it in them.
fn by_part<'a>(word: &str, candidates: &(impl IntoIterator<Item = &'a str> + Clone)) -> Vec<&'a str> {
    const FEW: usize = 5;
    let folded = fold(word);
    if folded.chars().count() < 3 || word.len() > WORD_CHARS_MAX {
        return Vec::new();
    }
    let with = |fits: fn(&str, &str) -> bool| {
        let found: Vec<&str> = candidates.clone().into_iter().filter(|c| fits(&fold(c), &folded)).collect();
        if found.len() <= FEW { found } else { Vec::new() }
    };
    let begin = with(|candidate, word| candidate.starts_with(word));
    if begin.is_empty() { with(|candidate, word| candidate.contains(word)) } else { begin }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_is_answered_with_the_name() {
        let known = ["hikey-6220", "hikey960", "pixel6-gs101", "pixel2-msm8998", "juno-r0"];
        assert_eq!(hint_for("pixel6", known), "did you mean `pixel6-gs101`?");
        assert_eq!(hint_for("msm8998", known), "did you mean `pixel2-msm8998`?");
        assert_eq!(hint_for("hikey", known), "did you mean `hikey-6220` or `hikey960`?");
        assert_eq!(hint_for("juno-r9", known), "did you mean `juno-r0`?");
        assert!(hint_for("x", known).starts_with("known: "));
    }
}
