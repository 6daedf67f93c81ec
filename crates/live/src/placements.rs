// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording placements: what `select_task_rq_fair()` could read, what it chose, and what had changed by then.
//!
//! A table has a line for each decision; its columns are the words of `bpf/place.h`. Beside it lies what does not
//! change: scheduling domains, performance domains, static keys. `pelton validate` decides them again.

use std::fmt::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Enum;
use libbpf_rs::{AsRawLibbpf, Link, MapCore, MapFlags, Object, ObjectBuilder, RingBuffer, RingBufferBuilder};
use serde_json::{Value, json};

use crate::machine::{Capabilities, cpus_possible};
use crate::session::{self, LiveError, refused};
use crate::tables::{TableSession, TableSummary};

/// The compiled program.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/place.bpf.o"));
/// The lists of columns.
const LISTS: &str = include_str!("bpf/place.h");
/// Most CPUs, domains of one, and energies of a decision; performance domains and their states: those of `bpf/place.h`.
pub(crate) const CPUS_MAX: usize = 64;
const LEVELS_MAX: usize = 6;
const ENERGIES_MAX: usize = 48;
const PERF_DOMAINS_MAX: usize = 16;
pub(crate) const PERF_STATES_MAX: usize = 32;
/// Words of a name of a task.
const NAME_WORDS: usize = 2;
/// Kind of an inner value that is an energy.
const INNER_ENERGY: u32 = 4;
/// Interval at which the buffer is emptied.
const DRAIN_EVERY: Duration = Duration::from_millis(10);
/// Records taken from the buffer before they are written.
const RECORDS_AT_ONCE: usize = 1024;
/// Tick rates that kernels are built with.
const HZ: [u64; 4] = [100, 250, 300, 1000];

/// Names of one of the lists of a header.
pub(crate) fn names(lists: &'static str, list: &str) -> Vec<&'static str> {
    let from = lists.find(&format!("#define {list}(X)")).map_or("", |at| &lists[at..]);
    let body = from.split_once(')').map_or("", |(_, rest)| rest);
    let end = body.split("\n\n").next().unwrap_or_default();
    end.split("X(").skip(1).filter_map(|word| word.split_once(')').map(|(name, _)| name)).collect()
}

/// Names of the words of a record, in their order.
#[derive(Debug)]
pub(crate) struct Columns {
    pub head: Vec<&'static str>,
    cpu: Vec<&'static str>,
    domain: Vec<&'static str>,
    /// Words between the head and the looks at CPUs.
    between: usize,
}

impl Columns {
    fn new() -> Columns {
        Columns::of(names(LISTS, "PLACE_HEAD"), 2 * NAME_WORDS + ENERGIES_MAX * 4)
    }

    /// Those of a record with another head, and so many words between that and its looks at CPUs.
    pub fn of(head: Vec<&'static str>, between: usize) -> Columns {
        Columns { head, cpu: names(LISTS, "PLACE_CPU"), domain: names(LISTS, "PLACE_DOMAIN"), between }
    }

    /// Words of one look at a CPU.
    fn cpu_words(&self) -> usize {
        self.cpu.len() + self.domain.len() * LEVELS_MAX
    }

    pub fn place(&self, name: &str) -> usize {
        self.head.iter().position(|known| *known == name).unwrap_or(usize::MAX)
    }

    /// Word at which the looks at CPUs begin.
    fn cpus_at(&self) -> usize {
        self.head.len() + self.between
    }

    /// Names of the columns of all CPUs.
    pub fn of_cpus(&self, cpus: usize) -> impl Iterator<Item = String> {
        let of_cpu = || self.cpu.iter().chain(&self.domain);
        (0..cpus).flat_map(move |cpu| of_cpu().map(move |name| format!("{name}{cpu}")))
    }

    /// The first line of a table.
    fn line(&self, cpus: usize) -> String {
        let mut all: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        all.extend(["comm".to_owned(), "c_comm".to_owned()]);
        all.extend(self.of_cpus(cpus));
        all.extend(["changed", "later", "inner"].map(str::to_owned));
        all.join(",") + "\n"
    }
}

/// A look at a CPU: before or after the decision.
struct Look<'a> {
    words: &'a [u64],
    domains: &'a [u64],
}

impl<'a> Look<'a> {
    /// Each column: one number, or one for each domain.
    fn values(&self) -> impl Iterator<Item = &'a [u64]> + use<'a> {
        self.words.chunks_exact(1).chain(self.domains.chunks_exact(LEVELS_MAX))
    }
}

/// Numbers with colons between them.
fn joined(numbers: &[u64]) -> String {
    let all: Vec<String> = numbers.iter().map(u64::to_string).collect();
    all.join(":")
}

/// One decision as the kernel wrote it.
pub(crate) struct Record<'a> {
    columns: &'a Columns,
    pub words: &'a [u64],
    cpus: usize,
}

impl<'a> Record<'a> {
    /// `None` when it is shorter than a decision on so many CPUs.
    pub fn new(columns: &'a Columns, words: &'a [u64], cpus: usize) -> Option<Record<'a>> {
        let whole = columns.cpus_at() + cpus * 2 * columns.cpu_words();
        (words.len() >= whole).then_some(Record { columns, words, cpus })
    }

    pub fn head(&self, name: &str) -> u64 {
        self.words[self.columns.place(name)]
    }

    fn look(&self, cpu: usize, after: usize) -> Look<'a> {
        let each = self.columns.cpu_words();
        let from = self.columns.cpus_at() + (2 * cpu + after) * each;
        let (words, domains) = self.words[from..from + each].split_at(self.columns.cpu.len());
        Look { words, domains }
    }

    /// A task's name, without what would break the table.
    fn name(&self, which: usize) -> String {
        let from = self.columns.head.len() + which * NAME_WORDS;
        let bytes: Vec<u8> = self.words[from..from + NAME_WORDS].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let text = String::from_utf8_lossy(&bytes[..end]);
        text.chars().map(|c| if c == ',' || c == '"' || c.is_control() { '_' } else { c }).collect()
    }

    fn energies(&self) -> impl Iterator<Item = &'a [u64]> {
        let from = self.columns.head.len() + 2 * NAME_WORDS;
        let n = (self.head("energies") as usize).min(ENERGIES_MAX);
        self.words[from..from + n * 4].chunks_exact(4)
    }

    /// Columns of CPUs that were others after the decision, and what they were then.
    pub fn changed(&self) -> [String; 2] {
        let (mut names, mut later) = (Vec::new(), Vec::new());
        for cpu in 0..self.cpus {
            let (before, after) = (self.look(cpu, 0), self.look(cpu, 1));
            let pairs = before.values().zip(after.values());
            let named = self.columns.cpu.iter().chain(&self.columns.domain).zip(pairs);
            for (name, (_, after)) in named.filter(|(_, (before, after))| before != after) {
                names.push(format!("{name}{cpu}"));
                later.push(joined(after));
            }
        }
        [names, later].map(|all| all.join(" "))
    }

    /// The columns of all CPUs as they were before, or after, the decision; each after a comma.
    pub fn put_cpus(&self, out: &mut String, after: usize) {
        for cpu in 0..self.cpus {
            let look = self.look(cpu, after);
            for word in look.words {
                let _ = write!(out, ",{word}");
            }
            for domains in look.domains.chunks_exact(LEVELS_MAX) {
                let _ = write!(out, ",{}", joined(domains));
            }
        }
    }

    /// A line of the table.
    fn line(&self) -> String {
        let mut out = String::with_capacity(4096);
        for word in &self.words[..self.columns.head.len()] {
            let _ = write!(out, "{word},");
        }
        let _ = write!(out, "{},{}", self.name(0), self.name(1));
        self.put_cpus(&mut out, 0);
        let [changed, later] = self.changed();
        let _ = write!(out, ",{changed},{later},");
        for (at, e) in self.energies().enumerate() {
            let gap = if at == 0 { "" } else { " " };
            let _ = write!(out, "{gap}{INNER_ENERGY}:0:{}:0:{}:{}:{}", e[0] as u32 as i32, e[1], e[2], e[3]);
        }
        out.push('\n');
        out
    }
}

/// A running recording of placements.
pub struct PlacementSession {
    // Fields are dropped in this order: first nothing is written any more, then the buffer goes.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    object: Object,
    incoming: Receiver<Vec<u64>>,
    columns: Columns,
    cpus: usize,
    decisions: u64,
    /// Records that were too short to be one.
    cut_off: u64,
    first: Option<(u64, u64)>,
    last: (u64, u64),
}

impl PlacementSession {
    /// Loads and attaches everything.
    ///
    /// # Errors
    /// When this machine lacks something, has more than 64 CPUs, or the kernel refuses.
    pub fn start() -> Result<PlacementSession, LiveError> {
        let cpus = possible("placements")?;
        let energy = session::has_tracepoint("sched_compute_energy_tp")?;
        let object = load(cpus as u32, &|name| name.starts_with("place_") && (energy || name != "place_energy"))?;
        let (sender, incoming) = channel();
        let ring = ring(&object, &sender).map_err(|e| refused("share a buffer", e))?;
        let links = attach(&object)?;
        let columns = Columns::new();
        let (decisions, cut_off, first, last) = (0, 0, None, (0, 0));
        Ok(PlacementSession { links, ring, object, incoming, columns, cpus, decisions, cut_off, first, last })
    }

    /// Hands out all lines there are: between two loads, when no load is slowed down.
    pub fn flush(&mut self, put: &mut dyn FnMut(&str)) {
        let mut before = u64::MAX;
        while before != self.decisions {
            before = self.decisions;
            self.drain(put);
        }
    }

    fn drain(&mut self, put: &mut dyn FnMut(&str)) {
        // No more at once than is written at once: a busy machine makes them faster.
        let _ = self.ring.consume_raw_n(RECORDS_AT_ONCE);
        while let Ok(words) = self.incoming.try_recv() {
            let Some(record) = Record::new(&self.columns, &words, self.cpus) else {
                self.cut_off += 1;
                continue;
            };
            let at = (record.head("ts0"), record.head("j"));
            self.first.get_or_insert(at);
            self.last = at;
            self.decisions += 1;
            put(&record.line());
        }
    }
}

impl TableSession for PlacementSession {
    type Summary = TableSummary;

    fn header(&self) -> String {
        self.columns.line(self.cpus)
    }

    /// Waits a moment; hands lines to `put` when the buffer is half full. Decisions so far handed out.
    ///
    /// Writing them is work for a whole CPU where many are made: a machine that is asked to choose by energy would be
    /// over-utilized by the recorder. So most of it waits until the recording is over.
    fn poll(&mut self, put: &mut dyn FnMut(&str)) -> u64 {
        let before = self.decisions;
        if is_half_full(&self.ring) {
            self.drain(put);
        }
        if self.decisions < before + RECORDS_AT_ONCE as u64 {
            std::thread::park_timeout(DRAIN_EVERY);
        }
        self.decisions
    }

    fn finish(mut self, put: &mut dyn FnMut(&str)) -> Result<TableSummary, LiveError> {
        self.links.clear();
        self.flush(put);
        let (lost, told) = globals(&self.object)?;
        let (first, last) = (self.first.unwrap_or_default(), self.last);
        let ns = last.0.saturating_sub(first.0);
        Ok(TableSummary {
            cpus: self.cpus as u32,
            records: self.decisions,
            lost: lost + self.cut_off,
            seconds: ns as f64 / 1e9,
            machine: Some(machine(&told, hz(ns, last.1.saturating_sub(first.1)), &domain_bits()?)?),
        })
    }
}

/// Is half of the buffer in use?
pub(crate) fn is_half_full(ring: &RingBuffer<'_>) -> bool {
    // SAFETY: the buffer lives as long as the borrow, and its first ring as long as the buffer.
    let (waiting, room) = unsafe {
        let ring = libbpf_sys::ring_buffer__ring(ring.as_libbpf_object().as_ptr(), 0);
        (libbpf_sys::ring__avail_data_size(ring), libbpf_sys::ring__size(ring))
    };
    waiting >= room / 2
}

/// Is there a symbol of this name in a list of them?
pub(crate) fn has_symbol(symbols: &str, name: &str) -> bool {
    symbols.lines().any(|line| line.split_ascii_whitespace().nth(2) == Some(name))
}

/// CPUs of this machine, which has everything that `what` needs.
pub(crate) fn possible(what: &str) -> Result<usize, LiveError> {
    let mut missing = Capabilities::here(None).missing();
    let cpus = cpus_possible() as usize;
    if cpus > CPUS_MAX {
        missing.push(format!("a machine of at most {CPUS_MAX} CPUs for {what}: this one can have {cpus}"));
    }
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    if !has_symbol(&symbols, "runqueues") {
        missing.push(format!("a kernel that tells where its variables are (CONFIG_KALLSYMS_ALL=y) for {what}"));
    } else if are_hidden(&symbols) {
        missing.push(
            "the addresses of kernel symbols: static keys and limits of clamps would be taken for off; write 1 into \
             /proc/sys/kernel/kptr_restrict while recording"
                .to_owned(),
        );
    }
    if missing.is_empty() { Ok(cpus) } else { Err(LiveError::Missing(missing)) }
}

/// Attaches every program that was loaded.
pub(crate) fn attach(object: &Object) -> Result<Vec<Link>, LiveError> {
    let attach = |p: libbpf_rs::ProgramMut<'_>| p.attach().map_err(|e| refused("trace a function", e));
    object.progs_mut().filter(|p| p.autoload()).map(attach).collect()
}

/// Does the kernel show its symbols without their addresses?
pub(crate) fn are_hidden(symbols: &str) -> bool {
    !symbols.lines().any(|line| line.bytes().take_while(|byte| *byte != b' ').any(|digit| digit != b'0'))
}

/// Loads the programs that are wanted.
pub(crate) fn load(cpus: u32, is_wanted: &dyn Fn(&str) -> bool) -> Result<Object, LiveError> {
    session::keep_messages();
    let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused("read the program", e))?;
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata") {
            map.set_initial_value(&cpus.to_ne_bytes()).map_err(|e| refused("set the program up", e))?;
        }
    }
    for mut program in open.progs_mut() {
        let is_wanted = is_wanted(&program.name().to_string_lossy());
        program.set_autoload(is_wanted);
    }
    open.load().map_err(|e| refused("load the program", e))
}

pub(crate) fn ring(object: &Object, sender: &Sender<Vec<u64>>) -> libbpf_rs::Result<RingBuffer<'static>> {
    let maps: Vec<_> = object.maps().filter(|map| map.name() == "ring").collect();
    let mut builder = RingBufferBuilder::new();
    for map in &maps {
        let sender = sender.clone();
        let take = move |bytes: &[u8]| {
            // The receiver lives as long as the buffer.
            let _ = sender.send(words(bytes));
            0
        };
        builder.add(map, take)?;
    }
    builder.build()
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// Memory of the program beside its buffer (`struct place_globals`): decisions that had no room, and the machine.
pub(crate) fn globals(object: &Object) -> Result<(u64, Vec<u64>), LiveError> {
    let map = object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss"));
    let bytes = map.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
    let mut all = words(&bytes.ok_or_else(|| refused("show what it kept", "there is no such map"))?);
    let machine = all.split_off(all.len().min(2));
    Ok((all.get(1).copied().unwrap_or(0), machine))
}

/// Names of the flags of scheduling domains, in the order of the newest kernels: the place is the bit.
const DOMAIN_FLAGS: [&str; 14] = [
    "BALANCE_NEWIDLE",
    "BALANCE_EXEC",
    "BALANCE_FORK",
    "BALANCE_WAKE",
    "WAKE_AFFINE",
    "ASYM_CPUCAPACITY",
    "ASYM_CPUCAPACITY_FULL",
    "SHARE_CPUCAPACITY",
    "CLUSTER",
    "SHARE_LLC",
    "SERIALIZE",
    "ASYM_PACKING",
    "PREFER_SIBLING",
    "NUMA",
];

/// Bit in the newest kernels for each bit of this kernel's flags of domains: 6.1 has no `CLUSTER`, so all behind it are
/// one lower there.
pub(crate) fn domain_bits() -> Result<Vec<Option<u32>>, LiveError> {
    let kernel = Btf::from_vmlinux().map_err(|e| refused("show its type information", e))?;
    let named = |list: &Enum<'_>| list.iter().any(|one| one.name.is_some_and(|name| name == "__SD_BALANCE_NEWIDLE"));
    let list = kernel.type_by_kind::<Enum<'_>>().find(named);
    let mut bits: Vec<Option<u32>> = Vec::new();
    for one in list.iter().flat_map(|list| list.iter()) {
        let name = one.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        bits.push(domain_bit(name.trim_start_matches("__SD_")));
    }
    Ok(bits)
}

/// The bit of a flag in the newest kernels.
fn domain_bit(name: &str) -> Option<u32> {
    // Its name to 6.8.
    let name = if name == "SHARE_PKG_RESOURCES" { "SHARE_LLC" } else { name };
    DOMAIN_FLAGS.iter().position(|known| *known == name).map(|bit| bit as u32)
}

/// Flags with every bit where the newest kernels have it; as they are where the kernel does not name them.
pub(crate) fn domain_flags(flags: u64, bits: &[Option<u32>]) -> u64 {
    if bits.is_empty() {
        return flags;
    }
    let set = bits.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1);
    set.filter_map(|(_, to)| *to).fold(0, |all, bit| all | 1 << bit)
}

/// Ticks per second: the rate that fits how far the tick counter went.
pub(crate) fn hz(ns: u64, ticks: u64) -> u64 {
    let seen = if ns == 0 { 0.0 } else { ticks as f64 * 1e9 / ns as f64 };
    let far = |hz: u64| (hz as f64 - seen).abs() / hz as f64;
    HZ.into_iter().min_by(|a, b| far(*a).total_cmp(&far(*b))).unwrap_or(HZ[1])
}

/// The machine as `struct place_machine` has it: words of each CPU, and of each domain of the energy model.
pub(crate) struct MachineWords {
    head: Vec<u64>,
    pub cpus: Vec<Vec<u64>>,
    pub energy: Vec<Vec<u64>>,
    pub clusters: bool,
    pub smt: bool,
    pub energy_aware: bool,
}

impl MachineWords {
    const HEAD: usize = 6;
    const OF_CPU: usize = 6 + 5 * LEVELS_MAX;
    const OF_ENERGY: usize = 5 + 3 * PERF_STATES_MAX;
    pub const LENGTH: usize = Self::HEAD + CPUS_MAX * Self::OF_CPU + PERF_DOMAINS_MAX * Self::OF_ENERGY;

    pub fn of(all: &[u64]) -> Result<MachineWords, LiveError> {
        let all = all.get(..Self::LENGTH).ok_or_else(|| refused("show the machine", "it is cut off"))?;
        let (head, rest) = all.split_at(Self::HEAD);
        let (cpus, energy) = rest.split_at(CPUS_MAX * Self::OF_CPU);
        let taken = |words: &[u64], each: usize, n: u64| {
            words.chunks_exact(each).take(n as usize).map(<[u64]>::to_vec).collect()
        };
        Ok(MachineWords {
            cpus: taken(cpus, Self::OF_CPU, head[0]),
            energy: taken(energy, Self::OF_ENERGY, head[5]),
            clusters: head[2] != 0,
            smt: head[3] != 0,
            energy_aware: head[4] != 0,
            head: head.to_vec(),
        })
    }
}

/// The machine as JSON.
pub(crate) fn machine(all: &[u64], hz: u64, bits: &[Option<u32>]) -> Result<String, LiveError> {
    let told = MachineWords::of(all)?;
    let column = |at: usize| told.cpus.iter().map(|cpu| cpu[at]).collect::<Vec<u64>>();
    let dom: Vec<Vec<Value>> = told.cpus.iter().map(|cpu| domains_of(cpu, bits)).collect();
    let pd: Vec<Value> = told.energy.iter().map(|words| perf_domain(words)).collect();
    let machine = json!({
        "release": crate::machine::release(), "ncpu": told.head[0], "npd": pd.len(), "hz": hz,
        "key_asym": told.head[1], "key_cluster": told.head[2], "key_smt": told.head[3], "key_energy": told.head[4],
        "llc_id": column(0), "llc_size": column(1), "share_id": column(2),
        "asym_level": column(3), "llc_level": column(4), "ndom": column(5),
        "dom": dom, "pd": pd,
    });
    Ok(machine.to_string() + "\n")
}

fn domains_of(cpu: &[u64], bits: &[Option<u32>]) -> Vec<Value> {
    cpu[6..].chunks_exact(5).take(cpu[5] as usize).map(|words| domain(words, bits)).collect()
}

fn domain(words: &[u64], bits: &[Option<u32>]) -> Value {
    json!({ "span": words[0], "flags": domain_flags(words[1], bits), "pct": words[2], "imb_numa": words[3], "nr_shared": words[4] })
}

fn perf_domain(words: &[u64]) -> Value {
    let n = (words[1] as usize).min(PERF_STATES_MAX);
    let list = |at: usize| &words[5 + at * PERF_STATES_MAX..][..n];
    json!({
        "cpus": words[0], "n": n, "min": words[2], "max": words[3], "flags": words[4],
        "perf": list(0), "cost": list(1), "sflags": list(2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_lists() {
        let columns = Columns::new();
        assert_eq!((columns.head[0], columns.head[columns.head.len() - 1]), ("ts0", "energies"));
        assert_eq!((columns.cpu[0], columns.cpu[columns.cpu.len() - 1]), ("cap", "lut"));
        assert_eq!(columns.domain, ["g_cap", "g_max", "g_imb", "g_min"]);
        let line = columns.line(2);
        assert!(line.starts_with("ts0,") && line.ends_with("g_min1,changed,later,inner\n"), "{line}");
        assert_eq!(line.matches("lut1").count(), 1);
    }

    #[test]
    fn limits_are_those_of_the_program() {
        let said = |name: &str| {
            let text = LISTS.split(&format!("#define PLACE_{name} ")).nth(1).and_then(|rest| rest.split('u').next());
            text.and_then(|number| number.parse().ok())
        };
        for (name, number) in [
            ("CPUS_MAX", CPUS_MAX),
            ("LEVELS_MAX", LEVELS_MAX),
            ("ENERGIES_MAX", ENERGIES_MAX),
            ("PERF_DOMAINS_MAX", PERF_DOMAINS_MAX),
            ("PERF_STATES_MAX", PERF_STATES_MAX),
        ] {
            assert_eq!(said(name), Some(number), "{name}");
        }
    }

    /// 6.1: no `CLUSTER`, and `OVERLAP` before `NUMA`; the flags are those of a domain of a package in a guest.
    #[test]
    fn flags_of_domains_are_numbered_as_in_the_newest_kernels() {
        let before = DOMAIN_FLAGS.iter().filter(|name| **name != "CLUSTER" && **name != "NUMA");
        let names = before.map(|name| if *name == "SHARE_LLC" { "SHARE_PKG_RESOURCES" } else { *name });
        let bits: Vec<_> = names.chain(["OVERLAP", "NUMA"]).map(domain_bit).collect();
        assert_eq!(domain_flags(0b1001_0001_0111, &bits), 0b1_0010_0001_0111);
        assert_eq!(domain_flags(0b11_0010_0001_0111, &bits), 0b10_0100_0001_0111);
        assert_eq!(domain_flags(0x1234, &[]), 0x1234);
        use pelton_core::sd;
        for (name, flag) in [
            ("SHARE_CPUCAPACITY", sd::SHARE_CPUCAPACITY),
            ("CLUSTER", sd::CLUSTER),
            ("SHARE_LLC", sd::SHARE_LLC),
            ("PREFER_SIBLING", sd::PREFER_SIBLING),
            ("NUMA", sd::NUMA),
        ] {
            assert_eq!(domain_bit(name).map(|bit| 1 << bit), Some(flag), "{name}");
        }
    }

    #[test]
    fn symbols_without_addresses_are_noticed() {
        assert!(are_hidden("0000000000000000 T _stext\n0000000000000000 d sched_smt_present\n") && are_hidden(""));
        assert!(!are_hidden("0000000000000000 A fixed\nffffffff81000000 T _stext\n"));
    }

    /// A decision on two CPUs, and what of it the line says.
    #[test]
    fn a_line_has_what_was_before_and_names_what_changed() {
        let columns = Columns::new();
        let mut words = vec![0u64; columns.cpus_at() + 4 * columns.cpu_words()];
        words[columns.place("ret")] = 1;
        words[columns.place("energies")] = 1;
        words[columns.head.len()] = u64::from_ne_bytes(*b"a,b\0\0\0\0\0");
        let energy = columns.head.len() + 2 * NAME_WORDS;
        words[energy..energy + 4].copy_from_slice(&[0xffff_ffff, 70, 80, 90]);
        let after = columns.cpus_at() + 3 * columns.cpu_words();
        (words[after], words[after + columns.cpu.len() + LEVELS_MAX]) = (1024, 5);
        let line = Record::new(&columns, &words, 2).expect("long enough").line();
        assert!(line.contains(",a_b,,"), "{line}");
        assert!(line.contains(",cap1 g_max1,1024 5:0") && line.ends_with(",4:0:-1:0:70:80:90\n"), "{line}");
        let names = columns.line(2).matches(',').count();
        assert_eq!(line.matches(',').count(), names);
        assert!(Record::new(&columns, &words[1..], 2).is_none(), "cut off");
    }

    #[test]
    fn the_tick_rate_is_that_of_the_counter() {
        assert_eq!([hz(1_000_000_000, 249), hz(2_000_000_000, 2001), hz(0, 0)], [250, 1000, 100]);
    }

    #[test]
    fn a_machine_is_told_as_json() {
        let mut words = vec![0u64; 6 + CPUS_MAX * 36 + PERF_DOMAINS_MAX * 101];
        words[..6].copy_from_slice(&[2, 0, 0, 1, 0, 1]);
        words[6 + 5] = 1;
        words[6 + 6..6 + 11].copy_from_slice(&[3, 0x1200, 117, 0, 1]);
        let told = machine(&words, 250, &[]).expect("whole");
        assert!(told.contains(r#""dom":[[{"flags":4608,"#), "{told}");
        assert!(told.contains(r#""ncpu":2"#) && told.contains(r#""npd":1"#), "{told}");
        assert!(machine(&words[..100], 250, &[]).is_err());
    }
}
