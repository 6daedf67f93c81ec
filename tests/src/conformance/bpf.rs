// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as BPF bytecode in a user-space interpreter. It needs no kernel and no root; the kernel's verifier has the
//! last word elsewhere.
//!
//! Jumps in the interpreter are 16 bits wide, so each list of operations is a program of its own. All programs work on
//! the same state.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex};

use super::builds::{Core, common_flags, compile, source_dir};
use super::episode::{Answer, state_hash};
use super::ops::{self, CALL_WORDS, Call, Op};

/// Jump offsets in the interpreter are 16 bits wide.
const INSTRUCTIONS_MAX: usize = 32_767;
const INSTRUCTION_BYTES: usize = 8;

/// Stack of each function by the number of its first instruction.
type Stacks = BTreeMap<usize, u16>;

/// A program and the memory it works on.
#[derive(Debug)]
pub struct Program {
    text: Vec<u8>,
    stacks: Stacks,
    /// Constant tables and variables. Kept alive: the program holds their addresses.
    data: Vec<(SectionIndex, Box<[Cell<u64>]>)>,
}

/// Compiles the entry function, one program for each list of operations; the error says what is missing.
pub fn build(dir: &Path, flags: &[&str]) -> Result<Vec<Program>, String> {
    let one = |list: &&str| {
        let has = format!("-DPELTON_TEST_HAS={list}");
        let object = dir.join(format!("{}{}.bpf.o", list.to_lowercase(), flags.concat()));
        program(&source_dir().join("entry.c"), &object, &[flags, &[&has]].concat())
    };
    ops::lists().iter().map(one).collect()
}

/// Compiles a source file whose first function is the entry.
fn program(source: &Path, object: &Path, flags: &[&str]) -> Result<Program, String> {
    let mut command = Command::new(std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang".into()));
    command.args(["-target", "bpf", "-O2", "-fno-jump-tables", "-fstack-size-section", "-c"]);
    command.args(common_flags()).args(flags).arg(source).arg("-o").arg(object);
    compile(command)?;
    link(&std::fs::read(object).map_err(|error| error.to_string())?)
}

/// Does this error of [`build`] mean that the machine has no compiler for BPF?
pub fn is_missing(error: &str) -> bool {
    error.contains("No such file") || error.contains("unable to create target")
}

/// Resolves loads of tables and variables to addresses in this process.
fn link(bytes: &[u8]) -> Result<Program, String> {
    let file: ElfFile64 = ElfFile64::parse(bytes).map_err(|error| error.to_string())?;
    let text_section = file.section_by_name(".text").ok_or("no .text")?;
    let mut text = text_section.data().map_err(|error| error.to_string())?.to_vec();
    if text.len() / INSTRUCTION_BYTES > INSTRUCTIONS_MAX {
        let count = text.len() / INSTRUCTION_BYTES;
        return Err(format!("{count} instructions are more than the interpreter can jump over"));
    }
    check(&text)?;
    let mut data: Vec<(SectionIndex, Box<[Cell<u64>]>)> = Vec::new();
    for (offset, relocation) in text_section.relocations() {
        let (index, address) = target(&file, relocation.target())?;
        if !data.iter().any(|(known, _)| *known == index) {
            data.push((index, contents(&file, index)?));
        }
        let words = &data.iter().find(|(known, _)| *known == index).ok_or("no data")?.1;
        patch(&mut text, offset as usize, words.as_ptr() as u64 + address)?;
    }
    Ok(Program { text, stacks: stacks(&file)?, data })
}

/// Refuses what the interpreter executes differently from a kernel: calls backward overflow in it, and the numbers that
/// 64-bit values are compared with lose their sign.
fn check(text: &[u8]) -> Result<(), String> {
    const CALL: u8 = 0x85;
    const UNSIGNED: [u8; 6] = [0x15, 0x25, 0x35, 0x55, 0xa5, 0xb5];
    for (i, instruction) in text.chunks_exact(INSTRUCTION_BYTES).enumerate() {
        let negative = instruction[7] & 0x80 != 0;
        if negative && (instruction[0] == CALL || UNSIGNED.contains(&instruction[0])) {
            return Err(format!("the interpreter cannot execute instruction {i}: {instruction:x?}"));
        }
    }
    Ok(())
}

/// Section and address in it that a relocation means.
fn target(file: &ElfFile64, target: RelocationTarget) -> Result<(SectionIndex, u64), String> {
    let RelocationTarget::Symbol(symbol) = target else { return Err("odd relocation".into()) };
    let symbol = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
    let index = symbol.section_index().ok_or("a symbol without section")?;
    Ok((index, symbol.address()))
}

/// A section in memory; what the object has no bytes for is zero.
fn contents(file: &ElfFile64, index: SectionIndex) -> Result<Box<[Cell<u64>]>, String> {
    let section = file.section_by_index(index).map_err(|error| error.to_string())?;
    let mut bytes = section.data().map_err(|error| error.to_string())?.to_vec();
    bytes.resize((section.size() as usize).next_multiple_of(8), 0);
    let word = |bytes: &[u8]| Cell::new(u64::from_ne_bytes(bytes.try_into().expect("eight bytes")));
    Ok(bytes.chunks_exact(8).map(word).collect())
}

/// Adds an address to the two halves of a 64-bit load.
fn patch(text: &mut [u8], at: usize, base: u64) -> Result<(), String> {
    const LOAD_64: u8 = 0x18;
    if text[at] != LOAD_64 {
        return Err(format!("relocation at {at} is no 64-bit load: opcode {:#x}", text[at]));
    }
    let half = |text: &[u8], at: usize| u32::from_le_bytes(text[at..at + 4].try_into().expect("four bytes"));
    let addend = u64::from(half(text, at + 4)) | u64::from(half(text, at + 12)) << 32;
    let address = base + addend;
    text[at + 4..at + 8].copy_from_slice(&(address as u32).to_le_bytes());
    text[at + 12..at + 16].copy_from_slice(&((address >> 32) as u32).to_le_bytes());
    Ok(())
}

/// Reads the compiler's list of stack sizes: for each function its address, relocated, and its bytes as ULEB128.
fn stacks(file: &ElfFile64) -> Result<Stacks, String> {
    let section = file.section_by_name(".stack_sizes").ok_or("no .stack_sizes")?;
    let bytes = section.data().map_err(|error| error.to_string())?;
    let mut stacks = Stacks::new();
    for (offset, relocation) in section.relocations() {
        let (_, address) = target(file, relocation.target())?;
        let (addend, size) = bytes[offset as usize..].split_first_chunk().ok_or("a stack size without address")?;
        let address = address + u64::from_le_bytes(*addend);
        let size = u16::try_from(uleb128(size)).map_err(|error| error.to_string())?;
        stacks.insert(address as usize / INSTRUCTION_BYTES, size.next_multiple_of(8));
    }
    Ok(stacks)
}

fn uleb128(bytes: &[u8]) -> u64 {
    let last = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap_or(0);
    bytes[..=last].iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}

/// A program, ready to run.
struct Machine<'a> {
    vm: rbpf::EbpfVmRaw<'a>,
}

impl<'a> Machine<'a> {
    fn new(program: &'a Program) -> Result<Self, String> {
        let mut vm = rbpf::EbpfVmRaw::new(None).map_err(|error| error.to_string())?;
        // Each function's frame is as large as the compiler made it: together they have to fit the 512 bytes of BPF.
        let usage = |_: &[u8], pc: usize, stacks: &mut dyn Any| {
            // The interpreter hands over the box itself, not what is in it.
            let inner = stacks.downcast_ref::<Box<dyn Any>>().expect("a box");
            let stacks = inner.downcast_ref::<Stacks>().expect("the stacks of this program");
            *stacks.get(&pc).expect("the compiler lists every function")
        };
        vm.set_stack_usage_calculator(usage, Box::new(program.stacks.clone())).map_err(|error| error.to_string())?;
        vm.set_program(&program.text).map_err(|error| error.to_string())?;
        for (_, words) in &program.data {
            let start = words.as_ptr() as u64;
            vm.register_allowed_memory(start..start + 8 * words.len() as u64);
        }
        Ok(Self { vm })
    }

    /// Runs the entry function on these words.
    fn run(&self, words: &mut [u64]) -> Result<u64, String> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let result = self.vm.execute_program(&mut bytes).map_err(|error| error.to_string())?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        Ok(result)
    }
}

/// The interpreter with its state.
pub struct Interpreter<'a> {
    machines: Vec<Machine<'a>>,
    /// Number of the machine that has each operation.
    owner: Vec<usize>,
    words: Vec<u64>,
    ran: BTreeSet<u64>,
}

impl<'a> Interpreter<'a> {
    /// Loads what [`build`] made.
    pub fn new(programs: &'a [Program]) -> Result<Self, String> {
        let lists = ops::lists();
        let owner =
            |row: &ops::Declared| lists.iter().position(|list| *list == row.list).expect("lists come from rows");
        Ok(Self {
            machines: programs.iter().map(Machine::new).collect::<Result<_, _>>()?,
            owner: ops::declared().iter().map(owner).collect(),
            words: Vec::new(),
            ran: BTreeSet::new(),
        })
    }

    /// Operations that were not called yet.
    pub fn not_called(&self) -> Vec<&'static str> {
        Op::ALL.iter().filter(|(op, _)| !self.ran.contains(&(*op as u64))).map(|row| row.1).collect()
    }

    fn run_one(&mut self, call: &Call) -> Result<Answer, String> {
        self.words[..CALL_WORDS].copy_from_slice(&call.words());
        let machine = &self.machines[self.owner[call.op as usize]];
        let result = machine.run(&mut self.words).map_err(|error| format!("{call:?}: {error}"))?;
        self.ran.insert(call.op as u64);
        Ok([result, state_hash(&self.words)])
    }
}

impl Core for Interpreter<'_> {
    fn load(&mut self, words: &[u64]) -> Result<(), String> {
        self.words = words.to_vec();
        Ok(())
    }

    fn run(&mut self, calls: &[Call]) -> Result<Vec<Answer>, String> {
        calls.iter().map(|call| self.run_one(call)).collect()
    }

    fn dump(&mut self) -> Result<Vec<u64>, String> {
        Ok(self.words.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three frames of stack; the last function writes into the frames of both functions above it.
    const NESTED: &str = "
typedef unsigned long long u64;
static __attribute__((noinline)) u64 sum(u64 *list, u64 from, u64 other_from);
static __attribute__((noinline)) void fill(u64 *list, u64 from);

u64 entry(u64 *words)
{
	u64 list[12], i, total;

	total = sum(list, words[1], words[2]);
	fill(list + 6, words[3]);
	for (i = 0; i < 12; i++)
		words[4 + i] = list[i];
	return total;
}

static u64 sum(u64 *list, u64 from, u64 other_from)
{
	u64 other[12], i, total = 0;

	fill(list, from);
	fill(list + 6, from + 6);
	fill(other, other_from);
	fill(other + 6, other_from + 6);
	for (i = 0; i < 12; i++)
		total += other[i] * ((volatile u64 *)list)[i];
	return total;
}

static void fill(u64 *list, u64 from)
{
	volatile u64 mine[6];
	u64 i;

	for (i = 0; i < 6; i++)
		mine[i] = from + i;
	for (i = 0; i < 6; i++)
		list[i] = mine[i];
}
";

    #[test]
    fn callees_reach_the_stack_of_their_callers_and_no_other() {
        let dir = tempfile::tempdir().expect("a folder for temporary files");
        let source = dir.path().join("nested.c");
        std::fs::write(&source, NESTED).expect("the folder is writable");
        let program = match program(&source, &dir.path().join("nested.o"), &[]) {
            Ok(program) => program,
            Err(why) if is_missing(&why) => return println!("not measured: BPF bytecode: {why}"),
            Err(why) => panic!("{why}"),
        };
        let mut words = [0; 16];
        words[1..4].copy_from_slice(&[100, 1000, 200]);
        let total: u64 = (0..12).map(|i| (100 + i) * (1000 + i)).sum();
        assert_eq!(Machine::new(&program).expect("it loads").run(&mut words), Ok(total));
        assert_eq!(words[4..], [100, 101, 102, 103, 104, 105, 200, 201, 202, 203, 204, 205]);
        assert!(program.stacks.values().sum::<u16>() <= 512 && program.stacks[&0] >= 96, "{:?}", program.stacks);
    }

    #[test]
    fn sizes_of_stacks_have_seven_bits_a_byte() {
        assert_eq!([&[0x28][..], &[0xd8, 0x03], &[0x80, 0x80, 0x01, 0xff]].map(uleb128), [0x28, 0x1d8, 0x4000]);
    }
}
