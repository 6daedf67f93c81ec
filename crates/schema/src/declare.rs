// SPDX-License-Identifier: GPL-2.0-or-later
//! Shape of a declared event, and the macro that turns one declaration into type, column table and encoding.

/// Unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Identifier without arithmetic meaning.
    Id,
    /// Plain count.
    Count,
    /// Capacity scale, 0..1024 = one CPU of the biggest kind at its highest frequency.
    Capacity,
    /// Weight of a task at nice 0 that is always on a queue = 1024; a queue's is the sum over its tasks.
    Load,
    /// Average number of tasks on a queue, times 1024.
    Runnable,
    /// Kilohertz.
    Khz,
    /// Nanoseconds.
    Ns,
    /// Microwatts.
    Uw,
    /// Milliwatts.
    Mw,
    /// Thousandths of a degree Celsius.
    MilliC,
    /// One of a few named codes; the sentence lists them.
    Code,
}

impl Unit {
    /// Name of the unit in reference pages and file headers.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Id => "id",
            Unit::Count => "count",
            Unit::Capacity => "0..1024",
            Unit::Load => "weight",
            Unit::Runnable => "1024 per task",
            Unit::Khz => "kHz",
            Unit::Ns => "ns",
            Unit::Uw => "uW",
            Unit::Mw => "mW",
            Unit::MilliC => "mC",
            Unit::Code => "code",
        }
    }
}

/// A column's type, and how it is stored: 64 bits, two's complement when signed.
pub(crate) trait Stored: Copy {
    const SIGNED: bool;
    /// More than 32 bits.
    const WIDE: bool = true;
    fn to_stored(self) -> u64;
    /// `None` when the stored value is outside the type.
    fn from_stored(stored: u64) -> Option<Self>;
}

impl Stored for u32 {
    const SIGNED: bool = false;
    const WIDE: bool = false;
    fn to_stored(self) -> u64 {
        u64::from(self)
    }
    fn from_stored(stored: u64) -> Option<Self> {
        u32::try_from(stored).ok()
    }
}

impl Stored for u64 {
    const SIGNED: bool = false;
    fn to_stored(self) -> u64 {
        self
    }
    fn from_stored(stored: u64) -> Option<Self> {
        Some(stored)
    }
}

impl Stored for i64 {
    const SIGNED: bool = true;
    fn to_stored(self) -> u64 {
        self.cast_unsigned()
    }
    fn from_stored(stored: u64) -> Option<Self> {
        Some(stored.cast_signed())
    }
}

/// One column of an event.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Kernel-style snake_case name, unit last.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// The stored 64 bits are a two's complement number.
    pub signed: bool,
    /// Values may need more than 32 bits.
    pub wide: bool,
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

impl EventInfo {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// Declares the event enum; every field is stored as `u64` in logs (see [`Stored`]).
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
                columns: &[ $( Column {
                    name: stringify!($field), unit: Unit::$unit, signed: <$ty as Stored>::SIGNED,
                    wide: <$ty as Stored>::WIDE, doc: concat!($($fdoc),+),
                }, )* ],
            }, )*
        ];

        impl EventInfo {
            /// The event declared with this code.
            pub fn of_code(code: u8) -> Option<&'static EventInfo> {
                EVENTS.iter().find(|info| info.code == code)
            }
        }

        impl Event {
            /// Stable code of this event in our own log.
            pub fn code(&self) -> u8 {
                match self { $( Event::$variant { .. } => $code, )* }
            }

            /// Calls `f` with every stored column value in declaration order.
            #[inline]
            pub fn each_value(&self, mut f: impl FnMut(u64)) {
                match *self { $( Event::$variant { $( $field, )* } => { $( f($field.to_stored()); )* } )* }
            }

            /// Appends the stored column values in declaration order.
            pub fn values(&self, out: &mut Vec<u64>) {
                self.each_value(|value| out.push(value));
            }

            /// Rebuilds an event from its code and column values; `None` when the code is unknown or a value does not
            /// fit.
            pub fn from_values(code: u8, values: &[u64]) -> Option<Event> {
                let mut it = values.iter().copied();
                let ev = match code {
                    $( $code => Event::$variant { $( $field: <$ty as Stored>::from_stored(it.next()?)?, )* }, )*
                    _ => return None,
                };
                it.next().is_none().then_some(ev)
            }
        }
    };
}
pub(crate) use declare_events;
