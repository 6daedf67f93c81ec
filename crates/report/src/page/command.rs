// SPDX-License-Identifier: GPL-2.0-or-later
//! The command that makes a page again.

use crate::request::{DECISIONS_DEFAULT, ReportRequest};
use pelton_lab::verbs::compare::CompareRequest;
use std::fmt::Display;

/// The call, as a shell takes it; all that is not as the command line has it by itself.
pub fn of(request: &ReportRequest) -> String {
    let ReportRequest { compare, decisions } = request;
    let mut call = Call(vec!["pelton".to_owned(), "report".to_owned()]);
    call.option("--platform", &compare.input.platform);
    std::iter::once(&compare.input.workload).chain(&compare.workloads).for_each(|one| call.option("--workload", one));
    machine(compare, &mut call);
    compare.policies.iter().for_each(|policy| call.option("--policy", policy));
    compare.sets.iter().for_each(|set| call.option("--set", set));
    call.option("--seeds", compare.seeds);
    if compare.first_seed != 1 {
        call.option("--first-seed", compare.first_seed);
    }
    if *decisions != DECISIONS_DEFAULT {
        call.option("--decisions", decisions);
    }
    call.option("-o", "report.html");
    call.0.join(" ")
}

fn machine(compare: &CompareRequest, call: &mut Call) {
    let input = &compare.input;
    input.duration_ns.into_iter().for_each(|ns| call.option("--duration", duration(ns)));
    input.hz.into_iter().for_each(|hz| call.option("--hz", hz));
    input.rate_limit_us.into_iter().for_each(|us| call.option("--rate-limit-us", us));
    input.group.iter().for_each(|group| call.option("--group", group));
    input.defines.iter().for_each(|(name, value)| call.option("--define", format!("{name}={value}")));
}

/// A length in the largest unit that has it whole.
fn duration(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.into_iter().find(|(unit, _)| ns.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{ns}ns"), |(unit, name)| format!("{}{name}", ns / unit))
}

struct Call(Vec<String>);

impl Call {
    fn option(&mut self, name: &str, value: impl Display) {
        self.0.extend([name.to_owned(), quoted(&value.to_string())]);
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=,./:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_lab::verbs::inputs::InputRequest;

    #[test]
    fn the_call_says_what_differs_and_shells_take_it() {
        let input = InputRequest {
            platform: "hikey-6220".into(),
            workload: "it's mine.json".into(),
            duration_ns: Some(1_500_000_000),
            ..InputRequest::default()
        };
        let compare =
            CompareRequest { input, policies: vec!["7.2".into()], seeds: 2, first_seed: 9, ..Default::default() };
        let call = of(&ReportRequest { compare, decisions: 5 });
        let wanted = "pelton report --platform hikey-6220 --workload 'it'\\''s mine.json' --duration 1500ms --policy 7.2 \
                      --seeds 2 --first-seed 9 --decisions 5 -o report.html";
        assert_eq!(call, wanted);
        assert_eq!([1_000, 2_000_000_000, 7].map(duration), ["1us", "2s", "7ns"]);
    }
}
