// SPDX-License-Identifier: GPL-2.0-or-later
//! Policy switches: reading, changing and checking them by name.

use std::ffi::{CStr, c_char};
use std::fmt;

use crate::stable::stable_release;
use crate::sys;
pub use crate::sys::FROM_PLATFORM;

macro_rules! policy_fields {
    ($($(#[$doc:meta])* $field:ident = $newest:expr,)*) => {
        /// All switches and then all parameters of a policy, in the order of the tables in `policy.h`.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Policy { $($(#[$doc])* pub $field: u32,)* }

        impl Policy {
            /// Values of the newest profile as constants; functions of the core take [`Policy::newest`].
            pub const NEWEST: Policy = Policy { $($field: $newest,)* };

            pub(super) fn slot(&mut self, index: usize) -> Option<&mut u32> {
                [$(&mut self.$field,)*].into_iter().nth(index)
            }

            /// All values in table order.
            #[must_use]
            pub fn values(&self) -> Vec<u32> {
                vec![$(self.$field,)*]
            }

            /// This policy with the values of another at the places of the table that `takes` names.
            #[must_use]
            pub fn taking(&self, other: &Policy, takes: impl Fn(usize) -> bool) -> Policy {
                let mut place = 0..;
                let mut pick = |own: u32, others: u32| if place.next().is_some_and(&takes) { others } else { own };
                Policy { $($field: pick(self.$field, other.$field),)* }
            }
        }

        /// Field names in table order, for comparison with the C table.
        #[doc(hidden)]
        pub const FIELD_NAMES: &[&str] = &[$(stringify!($field),)*];
    };
}

#[path = "policy_fields.rs"]
mod fields;

pub use fields::{FIELD_NAMES, Policy};

/// The policy that `sys.c` compares addresses with.
// SAFETY: no other symbol has this name, and C declares the same record.
#[unsafe(export_name = "pelton_newest")]
static NEWEST: Policy = Policy::NEWEST;

/// A switch: its name, its values, its default per profile, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Name, as written after `--set`.
    pub name: &'static str,
    /// Value names; the position is the value.
    pub values: Vec<&'static str>,
    /// Default per profile, in the order of [`profiles`].
    pub defaults: Vec<u32>,
    /// One paragraph.
    pub why: &'static str,
}

/// A number of a policy: its name, range, default, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as written after `--set`.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Smallest value.
    pub min: u32,
    /// Largest value.
    pub max: u32,
    /// Default of every profile; [`FROM_PLATFORM`] = the platform knows.
    pub preset: u32,
    /// One paragraph.
    pub why: &'static str,
}

impl Parameter {
    /// Can it be left to the platform?
    #[must_use]
    pub fn has_platform_value(&self) -> bool {
        self.preset == FROM_PLATFORM
    }

    /// A value as it is written.
    #[must_use]
    pub fn text(&self, value: u32) -> String {
        if value == FROM_PLATFORM { "platform".to_owned() } else { value.to_string() }
    }

    /// Values that may be written.
    #[must_use]
    pub fn allowed(&self) -> String {
        let platform = if self.has_platform_value() { ", or platform" } else { "" };
        format!("{} .. {} ({}){platform}", self.min, self.max, self.unit)
    }

    fn parse(&self, text: &str) -> Option<u32> {
        if self.has_platform_value() && text == "platform" {
            return Some(FROM_PLATFORM);
        }
        text.parse().ok().filter(|value| (self.min..=self.max).contains(value))
    }
}

/// An error in a switch, a value, a profile or a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// No such profile.
    UnknownProfile {
        /// The text that was written.
        name: String,
        /// Names that exist.
        candidates: Vec<&'static str>,
    },
    /// No such switch.
    UnknownSwitch {
        /// The text that was written.
        name: String,
        /// Names that exist.
        candidates: Vec<&'static str>,
    },
    /// The switch has no such value.
    UnknownValue {
        /// The switch.
        switch: &'static str,
        /// The text that was written.
        value: String,
        /// Names that exist.
        candidates: Vec<&'static str>,
    },
    /// The parameter cannot have this value.
    OutOfRange {
        /// The parameter.
        parameter: &'static str,
        /// The text that was written.
        value: String,
        /// Values that may be written.
        allowed: String,
    },
    /// Two switches contradict each other.
    Conflict {
        /// One of them.
        switch_a: &'static str,
        /// Its value.
        value_a: String,
        /// The other.
        switch_b: &'static str,
        /// Its value.
        value_b: String,
        /// Reason of the contradiction.
        reason: &'static str,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProfile { name, candidates } => {
                write!(f, "unknown profile \"{name}\"; there are {}", candidates.join(", "))
            }
            Self::UnknownSwitch { name, candidates } => {
                write!(f, "unknown switch \"{name}\"; there are {}", candidates.join(", "))
            }
            Self::UnknownValue { switch, value, candidates } => {
                write!(f, "{switch} cannot be \"{value}\"; it can be {}", candidates.join(", "))
            }
            Self::OutOfRange { parameter, value, allowed } => {
                write!(f, "{parameter} cannot be \"{value}\"; it can be {allowed}")
            }
            Self::Conflict { switch_a, value_a, switch_b, value_b, reason } => {
                write!(f, "{switch_a}={value_a} and {switch_b}={value_b} contradict each other: {reason}")
            }
        }
    }
}

impl std::error::Error for PolicyError {}

/// A C string of the core's tables.
pub(crate) fn text(p: *const c_char) -> &'static str {
    if p.is_null() {
        return "";
    }
    // SAFETY: tables hold null or string literals with static lifetime.
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("")
}

/// Names of the kernel profiles, oldest first.
#[must_use]
pub fn profiles() -> Vec<&'static str> {
    (0..).map(|i| text(sys::profile_name(i))).take_while(|name| !name.is_empty()).collect()
}

/// Name of a switch and the names of its values, with bars between.
fn switch_names(index: u32) -> Option<(&'static str, &'static str)> {
    let row = sys::switch_at(index)?;
    Some((text(row.name), text(row.values)))
}

fn switch_at(index: u32) -> Option<Switch> {
    let row = sys::switch_at(index)?;
    Some(Switch {
        name: text(row.name),
        values: text(row.values).split('|').collect(),
        defaults: row.defaults.to_vec(),
        why: text(row.why),
    })
}

/// All switches in table order.
#[must_use]
pub fn switches() -> Vec<Switch> {
    (0..).map_while(switch_at).collect()
}

fn parameter_at(index: u32) -> Option<Parameter> {
    let row = sys::parameter_at(index)?;
    let (name, unit, why) = (text(row.name), text(row.unit), text(row.why));
    Some(Parameter { name, unit, min: row.min, max: row.max, preset: row.preset, why })
}

/// All parameters in table order; in a policy they follow the switches.
#[must_use]
pub fn parameters() -> Vec<Parameter> {
    (0..).map_while(parameter_at).collect()
}

fn find_parameter(name: &str) -> Option<(usize, Parameter)> {
    let found = parameters().into_iter().enumerate().find(|(_, p)| p.name == name);
    found.map(|(index, parameter)| (switches().len() + index, parameter))
}

fn name_at(index: u32) -> &'static str {
    let parameter = || parameter_at(index.checked_sub(sys::switch_count())?).map(|p| p.name);
    switch_at(index).map(|s| s.name).or_else(parameter).unwrap_or("?")
}

fn find_switch(name: &str) -> Result<(usize, Switch), PolicyError> {
    let all = switches();
    let candidates = all.iter().map(|s| s.name).chain(parameters().iter().map(|p| p.name)).collect();
    all.into_iter()
        .enumerate()
        .find(|(_, s)| s.name == name)
        .ok_or_else(|| PolicyError::UnknownSwitch { name: name.to_owned(), candidates })
}

fn parse_value(switch: &Switch, value: &str) -> Result<u32, PolicyError> {
    let by_name = switch.values.iter().position(|v| *v == value);
    let by_number = value.parse::<usize>().ok().filter(|n| *n < switch.values.len());
    match by_name.or(by_number).map(u32::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => Err(PolicyError::UnknownValue {
            switch: switch.name,
            value: value.to_owned(),
            candidates: switch.values.clone(),
        }),
    }
}

impl Policy {
    /// The rule set of a kernel, for example `"7.2"`, or of a stable release that was read, for example `"6.18.15"`.
    ///
    /// ```
    /// let policy = pelton_core::Policy::profile("4.16").unwrap();
    /// assert_eq!(policy.get("invariance"), Ok("contribution"));
    /// let dice = |name| pelton_core::Policy::profile(name).unwrap().get("newidle_dice");
    /// assert_eq!((dice("6.18"), dice("6.18.15")), (Ok("off"), Ok("success")));
    /// ```
    pub fn profile(name: &str) -> Result<Self, PolicyError> {
        let candidates = profiles();
        let mut policy = Self::default();
        let index = candidates.iter().position(|p| *p == name).and_then(|i| u32::try_from(i).ok());
        match index.map(|i| sys::policy_for_profile(i, &mut policy)) {
            Some(0) => Ok(policy),
            _ => stable_release(name).ok_or_else(|| PolicyError::UnknownProfile { name: name.to_owned(), candidates }),
        }
    }

    /// The newest profile where the core runs fastest: at this address it is known to be compiled in.
    #[inline]
    #[must_use]
    pub fn newest() -> &'static Policy {
        &NEWEST
    }

    /// True where the core knows this policy by its address.
    pub fn is_compiled_in(&self) -> bool {
        std::ptr::eq(self, &NEWEST)
    }

    /// This policy where the core runs fastest: the newest kernel's is compiled in, any other one is read.
    #[must_use]
    pub fn prepared(&self) -> &Policy {
        if *self == NEWEST { &NEWEST } else { self }
    }

    /// Change one switch or parameter by name; the value is a value name or its number.
    ///
    /// ```
    /// let mut policy = pelton_core::Policy::profile("4.16").unwrap();
    /// policy.set("rt_signal", "on").unwrap();
    /// policy.set("rt_in_sum", "1").unwrap();
    /// policy.check().unwrap();
    /// ```
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), PolicyError> {
        if let Some((index, parameter)) = find_parameter(name) {
            return self.set_number(index, &parameter, value);
        }
        let (index, switch) = find_switch(name)?;
        let number = parse_value(&switch, value)?;
        if let Some(slot) = self.slot(index) {
            *slot = number;
        }
        Ok(())
    }

    fn set_number(&mut self, index: usize, parameter: &Parameter, text: &str) -> Result<(), PolicyError> {
        let (value, allowed) = (text.to_owned(), parameter.allowed());
        let refused = PolicyError::OutOfRange { parameter: parameter.name, value, allowed };
        let number = parameter.parse(text).ok_or(refused)?;
        if let Some(slot) = self.slot(index) {
            *slot = number;
        }
        Ok(())
    }

    /// Every switch and parameter with its value as it is written, in table order.
    #[must_use]
    pub fn written(&self) -> Vec<(&'static str, String)> {
        let values = self.values();
        let (switches, rest) = values.split_at(values.len().min(sys::switch_count() as usize));
        let of_switch = |(index, &value): (u32, &u32)| {
            let (name, names) = switch_names(index)?;
            Some((name, names.split('|').nth(value as usize).unwrap_or("?").to_owned()))
        };
        let of_parameter = |(index, &value): (u32, &u32)| parameter_at(index).map(|p| (p.name, p.text(value)));
        (0..).zip(switches).filter_map(of_switch).chain((0..).zip(rest).filter_map(of_parameter)).collect()
    }

    /// The value of a switch or parameter as it is written.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some((index, parameter)) = find_parameter(name) {
            return self.values().get(index).map(|value| parameter.text(*value));
        }
        self.get(name).ok().map(str::to_owned)
    }

    /// The value name of a switch.
    pub fn get(&self, name: &str) -> Result<&'static str, PolicyError> {
        let (index, switch) = find_switch(name)?;
        let value = self.values().get(index).copied().unwrap_or(0);
        Ok(switch.values.get(value as usize).copied().unwrap_or("?"))
    }

    /// Reason why a switch or number is not read under the other settings of this policy; `None` when it is read, or
    /// not known.
    pub fn without_effect(&self, name: &str) -> Option<&'static str> {
        let switches = switches();
        let at_switch = switches.iter().position(|s| s.name == name);
        let index = at_switch.or_else(|| Some(switches.len() + parameters().iter().position(|p| p.name == name)?))?;
        let row = sys::policy_without_effect(self, u32::try_from(index).ok()?);
        (row != 0).then(|| text(sys::condition_reason(row)))
    }

    /// Does any window of this policy come from schedutil's `rate_limit_us`?
    pub fn reads_rate_limit(&self) -> bool {
        sys::policy_reads_rate_limit(self) != 0
    }

    /// Refuse combinations that have no meaning.
    pub fn check(&self) -> Result<(), PolicyError> {
        let (mut a, mut b) = (0, 0);
        let code = sys::policy_check(self, &mut a, &mut b);
        if code == 0 {
            return Ok(());
        }
        let (switch_a, switch_b) = (name_at(a), name_at(b));
        Err(PolicyError::Conflict {
            switch_a,
            value_a: self.text(switch_a).unwrap_or_default(),
            switch_b,
            value_b: self.text(switch_b).unwrap_or_default(),
            reason: text(sys::conflict_reason(code)),
        })
    }
}
