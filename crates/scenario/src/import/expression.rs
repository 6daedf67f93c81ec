// SPDX-License-Identifier: GPL-2.0-or-later
//! Integer expressions of a device tree's source, `(800 * 1000)`, with C's operators and precedence in 64 unsigned
//! bits, as dtc computes them (Devicetree Specification 0.4, section 6.3).

/// Deepest nesting of parentheses, conditions and signs.
const DEPTH_MAX: usize = 64;

/// Binary operators, loosest first; those of a row bind alike. Longer ones stand before those that they begin with.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Reasons for which an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// Something else than numbers and operators, a macro for instance.
    NotNumbers,
    /// A division by 0, also where C would not compute it.
    DividedByZero,
    /// Nested more deeply than is read.
    TooDeep,
}

/// Value of an expression.
pub fn value(text: &str) -> Result<u64, NoValue> {
    let mut reader = Reader { rest: text };
    let value = reader.condition(DEPTH_MAX)?;
    if reader.rest.trim_start().is_empty() { Ok(value) } else { Err(NoValue::NotNumbers) }
}

/// Number in C's notation: decimal, `0x` hexadecimal, or octal after a `0`, with suffixes.
pub fn number(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(['U', 'L', 'u', 'l']);
    let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    match (hex, word.strip_prefix('0')) {
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        _ => word.parse().ok(),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eats(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(word);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    /// `a`, or `a ? b : c`.
    fn condition(&mut self, depth: usize) -> Result<u64, NoValue> {
        let depth = depth.checked_sub(1).ok_or(NoValue::TooDeep)?;
        let first = self.binary(0, depth)?;
        if !self.eats("?") {
            return Ok(first);
        }
        let yes = self.condition(depth)?;
        if !self.eats(":") {
            return Err(NoValue::NotNumbers);
        }
        let no = self.condition(depth)?;
        Ok(if first != 0 { yes } else { no })
    }

    /// Operators of `row` and of those that bind more tightly, from the left.
    fn binary(&mut self, row: usize, depth: usize) -> Result<u64, NoValue> {
        let Some(operators) = OPERATORS.get(row) else { return self.unary(depth) };
        let mut left = self.binary(row + 1, depth)?;
        while let Some(operator) = self.operator(operators) {
            left = apply(operator, left, self.binary(row + 1, depth)?)?;
        }
        Ok(left)
    }

    /// Next operator, if it is one of these. `<` is none where `<<` stands, nor `|` where `||` does.
    fn operator<'o>(&mut self, operators: &[&'o str]) -> Option<&'o str> {
        self.rest = self.rest.trim_start();
        let next = OPERATORS.iter().flat_map(|row| row.iter()).filter(|one| self.rest.starts_with(**one));
        let longest = next.max_by_key(|one| one.len())?;
        let found = operators.iter().find(|one| *one == longest)?;
        self.eats(found).then_some(*found)
    }

    fn unary(&mut self, depth: usize) -> Result<u64, NoValue> {
        let depth = depth.checked_sub(1).ok_or(NoValue::TooDeep)?;
        if self.eats("-") {
            return Ok(self.unary(depth)?.wrapping_neg());
        }
        if self.eats("~") {
            return Ok(!self.unary(depth)?);
        }
        if self.eats("!") {
            return Ok(u64::from(self.unary(depth)? == 0));
        }
        if self.eats("(") {
            let value = self.condition(depth)?;
            return if self.eats(")") { Ok(value) } else { Err(NoValue::NotNumbers) };
        }
        self.literal()
    }

    fn literal(&mut self) -> Result<u64, NoValue> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        number(word).ok_or(NoValue::NotNumbers)
    }
}

fn apply(operator: &str, a: u64, b: u64) -> Result<u64, NoValue> {
    let shifted = |by: u64, shift: fn(u64, u32) -> Option<u64>| u32::try_from(by).ok().and_then(|by| shift(a, by));
    Ok(match operator {
        "||" => u64::from(a != 0 || b != 0),
        "&&" => u64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => u64::from(a == b),
        "!=" => u64::from(a != b),
        "<" => u64::from(a < b),
        ">" => u64::from(a > b),
        "<=" => u64::from(a <= b),
        ">=" => u64::from(a >= b),
        "<<" => shifted(b, u64::checked_shl).unwrap_or(0),
        ">>" => shifted(b, u64::checked_shr).unwrap_or(0),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).ok_or(NoValue::DividedByZero)?,
        _ => a.checked_rem(b).ok_or(NoValue::DividedByZero)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_c_s_precedence() {
        let cases = [
            ("(800 * 1000)", 800_000),
            ("2 + 3 * 4", 14),
            ("(2 + 3) * 4", 20),
            ("100 - 10 - 1", 89),
            ("1 << 4 | 1", 17),
            ("1 | 2 == 2", 1),
            ("6 & 3 ^ 1", 3),
            ("7 / 2 * 2", 6),
            ("7 % 4", 3),
            ("-1 & 0xff", 255),
            ("~0 >> 60", 15),
            ("!0 + !5", 1),
            ("1 < 2 && 2 <= 2 || 0", 1),
            ("0 ? 1 : 2 ? 3 : 4", 3),
            ("1 << 64", 0),
            ("010 + 0x10UL", 24),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let cases = [
            ("(GIC_SPI + 1)", NoValue::NotNumbers),
            ("1 +", NoValue::NotNumbers),
            ("(1", NoValue::NotNumbers),
            ("1 ? 2", NoValue::NotNumbers),
            ("1 2", NoValue::NotNumbers),
            ("", NoValue::NotNumbers),
            ("4 / (2 - 2)", NoValue::DividedByZero),
            ("4 % 0", NoValue::DividedByZero),
            (&deep, NoValue::TooDeep),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Err(expected), "{}", &text[..text.len().min(20)]);
        }
    }
}
