// SPDX-License-Identifier: GPL-2.0-or-later
//! The core's own records in the form of the reference's, so that both compare: number by number in the order of the C
//! structure.

use pelton_core::{CfsRq, Number, Numbers, Rq, Se, TaskGroup};

use crate::conformance::layout::{Fields, Record};

macro_rules! of_the_core {
    ($($name:ty),*) => {
        $(impl Record for $name {
            fn fields(&self, to: &mut impl Fields) {
                self.numbers("", &mut |name, number| match number {
                    Number::Word(value) => to.word(name, value),
                    Number::Half(value) => to.half(name, value.into()),
                });
            }
        })*
    };
}

of_the_core!(Rq, CfsRq, Se, TaskGroup);
