// SPDX-License-Identifier: GPL-2.0-or-later
//! State, counts and decisions of a running scheduler as tables.

use super::super::common::section;
use crate::sheet::{self, Sheet};
use pelton_lab::number::{human_ns, number};
use pelton_lab::results::live::{
    LiveCompared, LiveCount, LiveEnergy, LiveExplained, LiveGroup, LiveObserved, LiveObservedCpu, LiveStatus,
};

/// A frequency of kHz in MHz; a dash where there is none.
fn mhz(khz: Option<u32>) -> String {
    khz.map_or_else(|| "-".to_owned(), |khz| number(f64::from(khz) / 1e3))
}

/// Every CPU.
pub(super) fn cpus(status: &LiveStatus) -> Sheet {
    let headings = ["cpu", "queued", "util", "runnable", "clamped", "boost %", "target", "wanted MHz", "MHz"];
    let mut sheet = Sheet::new(&headings);
    for cpu in &status.cpus {
        sheet.row(vec![
            cpu.cpu.to_string(),
            if cpu.idle { "idle".to_owned() } else { cpu.queued.to_string() },
            cpu.util.to_string(),
            cpu.runnable.to_string(),
            cpu.clamped.to_string(),
            cpu.boost_percent.to_string(),
            cpu.target.to_string(),
            mhz(cpu.wanted_khz),
            mhz(cpu.khz),
        ]);
    }
    sheet
}

/// Groups with boosts or clamps.
pub(super) fn groups(groups: &[LiveGroup]) -> Sheet {
    let mut sheet = Sheet::new(&["<cgroup", "boost %", "min", "max"]);
    for group in groups {
        let [boost, min, max] = [i64::from(group.boost_percent), group.min.into(), group.max.into()];
        sheet.row(vec![group.cgroup.clone(), boost.to_string(), min.to_string(), max.to_string()]);
    }
    sheet
}

/// Counts of events.
pub(super) fn counts(status: &LiveStatus) -> Sheet {
    let mut sheet = Sheet::new(&["<event", "count"]);
    status.counts.iter().for_each(|count| sheet.row(vec![count.event.clone(), count.count.to_string()]));
    sheet
}

/// Counts of events in a line.
pub(super) fn events(counts: &[LiveCount]) -> String {
    let counts: Vec<String> = counts.iter().map(|count| format!("{} {}", count.event, count.count)).collect();
    counts.join(", ") + "\n"
}

/// The whole state.
pub(super) fn state(status: &LiveStatus) -> String {
    let mut out = format!("{} s\n{}", number(status.seconds), section("", &cpus(status)));
    out += &section("groups", &groups(&status.groups));
    if let Some(ended) = &status.ended {
        out += &format!("the kernel ended it: {} {}\n", ended.reason, ended.message);
    }
    out + "\n" + &events(&status.counts)
}

/// A table as it is printed.
pub(super) fn text(sheet: &Sheet) -> String {
    sheet.text(sheet::terminal_width())
}

/// Terms of a decision.
pub(super) fn terms(explained: &LiveExplained) -> Sheet {
    let mut sheet = Sheet::new(&["<term", "value"]);
    let terms = explained.decision.iter().flat_map(|decision| &decision.terms);
    terms.for_each(|term| sheet.row(vec![term.name.clone(), term.value.to_string()]));
    sheet
}

/// The last decision of a CPU.
pub(super) fn explained(explained: &LiveExplained) -> String {
    match &explained.decision {
        None => format!("CPU {}: no decision so far\n", explained.cpu),
        Some(decision) => {
            let head = format!("CPU {}, decided {} ago\n", explained.cpu, human_ns(decision.ago_ns));
            head + &section("", &terms(explained))
        }
    }
}

/// Decisions of the core beside those of the kernel, by CPU.
pub(super) fn observed_cpus(cpus: &[LiveObservedCpu]) -> Sheet {
    let headings = ["cpu", "would be MHz", "was MHz", "changes that would be", "changes", "wake-ups", "placed alike %"];
    let mut sheet = Sheet::new(&headings);
    let mhz = |known: Option<f64>| known.map_or_else(|| "-".to_owned(), number);
    for cpu in cpus {
        let alike = 100.0 * cpu.agreed as f64 / cpu.wakeups as f64;
        sheet.row(vec![
            cpu.cpu.to_string(),
            mhz(cpu.would_mhz),
            mhz(cpu.was_mhz),
            cpu.would_changes.to_string(),
            cpu.was_changes.to_string(),
            cpu.wakeups.to_string(),
            if cpu.wakeups > 0 { number(alike) } else { "-".to_owned() },
        ]);
    }
    sheet
}

/// The kernel's load tracking beside the core's, by signal.
fn compared(signals: &[LiveCompared]) -> Sheet {
    let mut sheet = Sheet::new(&["<signal", "published", "equal", "first", "different", "unseen"]);
    for of in signals {
        let cells = of.counts.as_ref().map_or_else(
            || ["not published", "-", "-", "-", "-"].map(str::to_owned),
            |of| [of.events, of.equal, of.first, of.different, of.unseen].map(|count| count.to_string()),
        );
        sheet.row([vec![of.signal.clone()], cells.to_vec()].concat());
    }
    sheet
}

/// Energy on both sides, in a line.
fn energy(energy: Option<&LiveEnergy>) -> String {
    let Some(of) = energy else { return "energy: not known\n".to_owned() };
    let LiveEnergy { unit, kernel, core, difference_percent, left_percent, .. } = of;
    let mut line = format!(
        "energy: kernel {} {unit}, core {} {unit} ({}{} %)",
        number(*kernel),
        number(*core),
        if *difference_percent > 0.0 { "+" } else { "" },
        number(*difference_percent)
    );
    if *left_percent > 0.0 {
        line += &format!(", work left {} %", number(*left_percent));
    }
    if of.unknown_s > 0.0 {
        line += &format!(", {} s of {} s busy not known", number(of.unknown_s), number(of.busy_s + of.unknown_s));
    }
    line + "\n"
}

/// Everything that was observed.
pub(super) fn observed(observed: &LiveObserved) -> String {
    let head = format!("observed {} s\n", number(observed.seconds));
    let cpus = section("", &observed_cpus(&observed.cpus)) + &energy(observed.energy.as_ref());
    let compared = section("load tracking, the kernel's beside the core's", &compared(&observed.load_tracking));
    head + &cpus + &compared + "\n" + &events(&observed.counts)
}
