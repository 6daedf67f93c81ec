// SPDX-License-Identifier: GPL-2.0-or-later
//! The numbers that a record consists of, in the order of the C structure.

/// A number of a record, as wide as C has it. Signed ones as their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 64 bits.
    Word(u64),
    /// 32 bits.
    Half(u32),
}

/// A value that consists of numbers: a record, a part of it, or one number.
pub trait Numbers {
    /// Passes `to` every number in the order of the C structure, each with the name of its field; `name` is that of the
    /// field that this is.
    fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number));
}

/// The numbers of a record: its fields.
macro_rules! numbers {
    ($record:ident { $($field:ident),* }) => {
        impl $crate::numbers::Numbers for $record {
            fn numbers(&self, _name: &'static str, to: &mut dyn FnMut(&'static str, $crate::numbers::Number)) {
                $($crate::numbers::Numbers::numbers(&self.$field, stringify!($field), to);)*
            }
        }
    };
}
pub(crate) use numbers;

macro_rules! number {
    ($($ty:ty => $of:expr;)*) => {
        $(impl Numbers for $ty {
            fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
                to(name, $of(*self));
            }
        })*
    };
}

number! {
    u64 => Number::Word;
    u32 => Number::Half;
    i64 => |number: i64| Number::Word(number.cast_unsigned());
    i32 => |number: i32| Number::Half(number.cast_unsigned());
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
        self.iter().for_each(|part| part.numbers(name, to));
    }
}
