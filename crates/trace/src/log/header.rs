// SPDX-License-Identifier: GPL-2.0-or-later
//! The header frame: the run's fields, then the schema of the writer.

use pelton_schema::EVENTS;

use super::COLUMNS_MAX;
use super::layout::FileEvent;
use crate::header::{CpuLayout, DomainLayout, RunHeader};
use crate::varint;

/// The oldest version that can hold this header.
pub(super) fn version(header: &RunHeader) -> u16 {
    match (header.kernel.is_empty(), header.remarks.is_empty() && header.groups.is_empty()) {
        (true, true) => 1,
        (true, false) => 2,
        (false, _) => 3,
    }
}

/// The header frame's payload.
pub(super) fn encode(header: &RunHeader) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, &header.tool_version);
    for number in [header.scenario_hash, header.core_hash, header.seed, header.duration_ns] {
        varint::put(&mut out, number);
    }
    for text in [&header.platform, &header.workload, &header.profile, &header.policy] {
        put_text(&mut out, text);
    }
    put_list(&mut out, &header.tasks, |out, name| put_text(out, name));
    put_list(&mut out, &header.cpus, |out, cpu| {
        varint::put(out, u64::from(cpu.capacity));
        varint::put(out, u64::from(cpu.domain));
    });
    put_list(&mut out, &header.domains, |out, domain| {
        put_text(out, &domain.name);
        put_list(out, &domain.opps_khz, |out, &khz| varint::put(out, u64::from(khz)));
    });
    put_list(&mut out, EVENTS, |out, info| {
        out.push(info.code);
        put_text(out, info.name);
        put_list(out, info.columns, |out, column| put_text(out, column.name));
    });
    if version(header) >= 2 {
        put_list(&mut out, &header.remarks, |out, remark| put_text(out, remark));
        put_list(&mut out, &header.groups, |out, group| put_text(out, group));
    }
    if version(header) >= 3 {
        put_text(&mut out, &header.kernel);
    }
    out
}

/// Reads a header frame's payload; `None` when it is malformed.
pub(super) fn decode(mut payload: &[u8], version: u16) -> Option<(RunHeader, Vec<FileEvent>)> {
    let input = &mut payload;
    let tool_version = take_text(input)?;
    let [scenario_hash, core_hash, seed, duration_ns] = take_array(input, varint::take)?;
    let [platform, workload, profile, policy] = take_array(input, take_text)?;
    let tasks = take_list(input, take_text)?;
    let cpus = take_list(input, |input| Some(CpuLayout { capacity: take_u32(input)?, domain: take_u32(input)? }))?;
    let domains = take_list(input, |input| {
        Some(DomainLayout { name: take_text(input)?, opps_khz: take_list(input, take_u32)? })
    })?;
    let schema = take_list(input, take_event)?;
    let [remarks, groups] =
        if version >= 2 { take_array(input, |input| take_list(input, take_text))? } else { [Vec::new(), Vec::new()] };
    let kernel = if version >= 3 { take_text(input)? } else { kernel_of_remarks(&remarks) };
    let header = RunHeader {
        tool_version,
        scenario_hash,
        core_hash,
        seed,
        duration_ns,
        platform,
        workload,
        profile,
        policy,
        tasks,
        cpus,
        domains,
        kernel,
        remarks,
        groups,
    };
    input.is_empty().then_some((header, schema))
}

/// The recorded kernel where it was a remark, as up to version 2.
fn kernel_of_remarks(remarks: &[String]) -> String {
    let named = remarks.iter().find_map(|remark| remark.strip_prefix("kernel: ")?.split_whitespace().next());
    named.unwrap_or_default().to_owned()
}

fn take_event(input: &mut &[u8]) -> Option<FileEvent> {
    let (&code, rest) = input.split_first()?;
    *input = rest;
    let event = FileEvent { code, name: take_text(input)?, columns: take_list(input, take_text)? };
    (event.columns.len() <= COLUMNS_MAX).then_some(event)
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_list<T>(out: &mut Vec<u8>, items: &[T], put_item: impl Fn(&mut Vec<u8>, &T)) {
    varint::put(out, items.len() as u64);
    items.iter().for_each(|item| put_item(out, item));
}

fn take_u32(input: &mut &[u8]) -> Option<u32> {
    u32::try_from(varint::take(input)?).ok()
}

fn take_text(input: &mut &[u8]) -> Option<String> {
    let bytes = usize::try_from(varint::take(input)?).ok()?;
    let (text, rest) = input.split_at_checked(bytes)?;
    *input = rest;
    String::from_utf8(text.to_vec()).ok()
}

/// A list whose announced length is not trusted: memory grows only with items that are there.
fn take_list<T>(input: &mut &[u8], take_item: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = varint::take(input)?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(take_item(input)?);
    }
    Some(items)
}

fn take_array<T: Default, const N: usize>(
    input: &mut &[u8],
    take_item: impl Fn(&mut &[u8]) -> Option<T>,
) -> Option<[T; N]> {
    let mut items: [T; N] = std::array::from_fn(|_| T::default());
    for item in &mut items {
        *item = take_item(input)?;
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_version_2_name_their_kernel_in_a_remark() {
        let run = RunHeader { remarks: vec!["kernel: 6.12.118-amd64 #1 SMP".to_owned()], ..RunHeader::default() };
        let (read, _) = decode(&encode(&run), 2).expect("a header");
        assert_eq!(read, RunHeader { kernel: "6.12.118-amd64".to_owned(), ..run });
        assert!(!read.is_simulated());
    }
}
