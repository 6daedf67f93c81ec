// SPDX-License-Identifier: GPL-2.0-only
//! What a declared event looks like, and the macro that turns one declaration into type, column table and encoding.

/// Unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Identifier without arithmetic meaning.
    Id,
    /// Plain count.
    Count,
    /// Capacity scale, 0..1024 = one CPU of the biggest kind at its highest frequency.
    Capacity,
    /// Kilohertz.
    Khz,
    /// Nanoseconds.
    Ns,
    /// Microwatts.
    Uw,
    /// One of a few named codes; the sentence lists them.
    Code,
}

/// One column of an event.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Kernel-style snake_case name, unit last.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// One sentence for people.
    pub doc: &'static str,
}

/// One declared event.
#[derive(Clone, Copy, Debug)]
pub struct EventInfo {
    /// Tracepoint-style name.
    pub name: &'static str,
    /// Stable code in our own log.
    pub code: u8,
    /// One sentence for people.
    pub doc: &'static str,
    /// Columns in encoding order.
    pub columns: &'static [Column],
}

/// Declares the event enum; every field is stored as `u64` in logs (two's complement for signed).
macro_rules! declare_events {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $code:literal, $name:literal {
        $( $(#[doc = $fdoc:literal])+ $field:ident : $ty:ty [$unit:ident], )*
    } )*) => {
        /// Something that happened at one instant of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event {
            $( $(#[doc = $doc])+ $variant { $( $(#[doc = $fdoc])+ $field: $ty, )* }, )*
        }

        /// Every declared event, in code order.
        pub static EVENTS: &[EventInfo] = &[
            $( EventInfo {
                name: $name, code: $code, doc: concat!($($doc),+),
                columns: &[ $( Column { name: stringify!($field), unit: Unit::$unit, doc: concat!($($fdoc),+) }, )* ],
            }, )*
        ];

        impl Event {
            /// Stable code of this event in our own log.
            pub fn code(&self) -> u8 {
                match self { $( Event::$variant { .. } => $code, )* }
            }

            /// Column values in declaration order.
            pub fn values(&self, out: &mut Vec<u64>) {
                match *self { $( Event::$variant { $( $field, )* } => { $( out.push($field as u64); )* } )* }
            }

            /// Rebuilds an event from its code and column values; `None` when the code is unknown or a value does not fit.
            pub fn from_values(code: u8, values: &[u64]) -> Option<Event> {
                let mut it = values.iter().copied();
                let ev = match code {
                    $( $code => Event::$variant { $( $field: <$ty>::try_from(it.next()?).ok()?, )* }, )*
                    _ => return None,
                };
                it.next().is_none().then_some(ev)
            }
        }
    };
}
pub(crate) use declare_events;
