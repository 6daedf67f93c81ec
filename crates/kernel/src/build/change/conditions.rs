// SPDX-License-Identifier: GPL-2.0-or-later
//! Conditions of the preprocessor, as far as a configuration decides them.

use std::collections::BTreeSet;

/// Names that a kernel's configuration defines, with their `CONFIG_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    set: BTreeSet<String>,
}

impl Config {
    /// Reads `autoconf.h`.
    pub fn read(text: &str) -> Config {
        let defined = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split_whitespace().next());
        Config { set: defined.map(str::to_owned).collect() }
    }

    /// Is the name set? None: it is no name of a configuration.
    fn is_set(&self, name: &str) -> Option<bool> {
        name.starts_with("CONFIG_").then(|| self.set.contains(name) || self.set.contains(&format!("{name}_MODULE")))
    }

    /// Value of a condition's directive, `words` behind `name`; none: it is not known here.
    pub fn value(&self, name: &str, words: &str) -> Option<bool> {
        let word = words.split_whitespace().next().unwrap_or_default();
        match name {
            "ifdef" => self.is_set(word),
            "ifndef" => self.is_set(word).map(|set| !set),
            _ => Reader { tokens: tokens(words), at: 0, config: self }.any().and_then(|value| value),
        }
    }
}

/// Words and signs of an expression.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.ends_with(is_word) => last.push(c),
            Some(last) if (c == '&' || c == '|') && *last == c.to_string() => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens.retain(|token| !token.trim().is_empty());
    tokens
}

/// Reads an expression: the outer option is whether it can be read, the inner one its value.
struct Reader<'a> {
    tokens: Vec<String>,
    at: usize,
    config: &'a Config,
}

impl Reader<'_> {
    fn next_is(&mut self, token: &str) -> bool {
        let is = self.tokens.get(self.at).is_some_and(|next| next == token);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Option<Option<bool>> {
        let mut value = self.all()?;
        while self.next_is("||") {
            value = match (value, self.all()?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        Some(value)
    }

    fn all(&mut self) -> Option<Option<bool>> {
        let mut value = self.one()?;
        while self.next_is("&&") {
            value = match (value, self.one()?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        Some(value)
    }

    fn one(&mut self) -> Option<Option<bool>> {
        if self.next_is("!") {
            return Some(self.one()?.map(|value| !value));
        }
        if self.next_is("(") {
            let value = self.any()?;
            return self.next_is(")").then_some(value);
        }
        let word = self.tokens.get(self.at)?.clone();
        self.at += 1;
        match word.as_str() {
            "defined" | "IS_ENABLED" | "IS_BUILTIN" | "IS_REACHABLE" => {
                let has_bracket = self.next_is("(");
                let name = self.tokens.get(self.at)?.clone();
                self.at += 1;
                (!has_bracket || self.next_is(")")).then(|| self.config.is_set(&name))
            }
            "0" | "1" if self.is_alone() => Some(Some(word == "1")),
            _ => Some(self.skip()),
        }
    }

    /// Does nothing follow that the last word is compared with?
    fn is_alone(&self) -> bool {
        let next = self.tokens.get(self.at).map(String::as_str);
        matches!(next, None | Some("&&" | "||" | ")"))
    }

    /// Passes a part that is not known here.
    fn skip(&mut self) -> Option<bool> {
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.as_str() {
                "(" => depth += 1,
                ")" | "&&" | "||" if depth == 0 => break,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_decided_by_the_configuration_or_left_open() {
        let config = Config::read("#define CONFIG_SMP 1\n#define CONFIG_HZ 250\n");
        let expected = [
            ("ifdef", "CONFIG_SMP", Some(true)),
            ("ifndef", "CONFIG_SMP", Some(false)),
            ("ifdef", "CONFIG_NUMA", Some(false)),
            ("ifdef", "arch_scale_freq_tick", None),
            ("if", "defined(CONFIG_SMP) && !defined(CONFIG_NUMA)", Some(true)),
            ("if", "defined CONFIG_NUMA || IS_ENABLED(CONFIG_SMP)", Some(true)),
            ("if", "defined(CONFIG_NUMA) && BITS_PER_LONG == 64", Some(false)),
            ("if", "BITS_PER_LONG == 64", None),
            ("if", "(defined(CONFIG_NUMA) || defined(OTHER))", None),
            ("if", "0", Some(false)),
            ("if", "1 + 1", None),
            ("if", "", None),
            ("if", "((", None),
        ];
        for (name, words, value) in expected {
            assert_eq!(config.value(name, words), value, "#{name} {words}");
        }
    }
}
