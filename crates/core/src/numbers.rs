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

    /// Passes `to` the path of every number below `path`, in the same order: fields and places with dots between them.
    fn paths(path: &str, to: &mut dyn FnMut(String));

    /// Takes every number from `from`, which is given its bytes, in the same order; of more bits than a number has the
    /// lowest ones.
    fn take(&mut self, from: &mut dyn FnMut(usize) -> u64);
}

/// The path of a field of what is at `path`.
#[doc(hidden)]
#[must_use]
pub fn below(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// Makes a record of its fields, whose order is that of the C structure, one of [`Numbers`].
#[macro_export]
macro_rules! numbers {
    ($record:ident { $($field:ident),* }) => {
        impl $crate::Numbers for $record {
            fn numbers(&self, _name: &'static str, to: &mut dyn FnMut(&'static str, $crate::Number)) {
                $($crate::Numbers::numbers(&self.$field, stringify!($field), to);)*
            }

            fn paths(path: &str, to: &mut dyn FnMut(String)) {
                /// The paths below a field, whose type is that of what it gives.
                fn of<R, F: $crate::Numbers>(_: fn(&R) -> &F, path: &str, to: &mut dyn FnMut(String)) {
                    F::paths(path, to);
                }
                $(of(|record: &Self| &record.$field, &$crate::below(path, stringify!($field)), to);)*
            }

            fn take(&mut self, from: &mut dyn FnMut(usize) -> u64) {
                $($crate::Numbers::take(&mut self.$field, from);)*
            }
        }
    };
}
pub(crate) use numbers;

macro_rules! number {
    ($($ty:ty => $of:expr, $back:expr;)*) => {
        $(impl Numbers for $ty {
            fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
                to(name, $of(*self));
            }

            fn paths(path: &str, to: &mut dyn FnMut(String)) {
                to(path.to_owned());
            }

            fn take(&mut self, from: &mut dyn FnMut(usize) -> u64) {
                *self = $back(from(size_of::<$ty>()));
            }
        })*
    };
}

number! {
    u64 => Number::Word, |bits: u64| bits;
    u32 => Number::Half, |bits: u64| bits as u32;
    i64 => |number: i64| Number::Word(number.cast_unsigned()), u64::cast_signed;
    i32 => |number: i32| Number::Half(number.cast_unsigned()), |bits: u64| (bits as u32).cast_signed();
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
        self.iter().for_each(|part| part.numbers(name, to));
    }

    fn paths(path: &str, to: &mut dyn FnMut(String)) {
        (0..N).for_each(|at| T::paths(&below(path, &at.to_string()), to));
    }

    fn take(&mut self, from: &mut dyn FnMut(usize) -> u64) {
        self.iter_mut().for_each(|part| part.take(from));
    }
}

impl Number {
    /// Its bits.
    #[must_use]
    pub fn bits(self) -> u64 {
        match self {
            Number::Word(bits) => bits,
            Number::Half(bits) => bits.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoostCpu, Policy, SugovPolicy};

    #[test]
    fn a_record_is_what_its_numbers_say() {
        let (mut gate, mut count) = (SugovPolicy::default(), 0u64);
        gate.take(&mut |_| {
            count += 1;
            count << 33 | count
        });
        let (mut bits, mut paths, mut copy) = (Vec::new(), Vec::new(), SugovPolicy::default());
        gate.numbers("", &mut |_, number| bits.push(number.bits()));
        SugovPolicy::paths("sp", &mut |path| paths.push(path));
        let mut from = bits.iter();
        copy.take(&mut |_| *from.next().expect("as many"));
        assert_eq!((copy, bits.len(), from.next()), (gate, count as usize, None));
        assert_eq!((gate.last_ns, gate.next_freq_khz), (1 << 33 | 1, 3));
        assert_eq!((paths.len(), paths[0].as_str()), (bits.len(), "sp.last_ns"));
        assert!(paths.contains(&"sp.gate.window_ns".to_owned()), "{paths:?}");
    }

    #[test]
    fn signed_numbers_and_arrays_keep_their_place() {
        let mut boost = BoostCpu::default();
        boost.write(&Policy::profile("4.12").expect("a profile"), 1, -7, 0);
        let (mut bits, mut paths, mut copy) = (Vec::new(), Vec::new(), BoostCpu::default());
        boost.numbers("", &mut |_, number| bits.push(number.bits()));
        BoostCpu::paths("", &mut |path| paths.push(path));
        let mut from = bits.into_iter();
        copy.take(&mut |_| from.next().expect("as many"));
        assert_eq!(copy, boost);
        assert!(paths[0].starts_with("group.0.") && paths.last().is_some_and(|path| path == "reserved"), "{paths:?}");
    }
}
