// SPDX-License-Identifier: GPL-2.0-only
//! The core as BPF bytecode in a user-space interpreter. It needs no kernel and no root; the kernel's verifier has the
//! last word elsewhere.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use super::builds::{Core, common_flags, compile, source_dir};
use super::episode::{Answer, state_hash};
use super::ops::{CALL_WORDS, Call};

/// Stack of the entry function, which only dispatches; the rest of the 512 bytes is for the operation.
const ENTRY_STACK_BYTES: u16 = 64;
/// Jump offsets in the interpreter are 16 bits wide.
const INSTRUCTIONS_MAX: usize = 32_767;

/// A program and the tables it reads.
#[derive(Debug)]
pub struct Program {
    text: Vec<u8>,
    /// Kept alive: the program holds addresses into them.
    tables: Vec<(object::SectionIndex, Box<[u8]>)>,
}

/// Compiles the entry function; the error says what is missing.
pub fn build(dir: &Path) -> Result<Program, String> {
    let out = dir.join("entry.bpf.o");
    let mut command = Command::new(std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang".into()));
    command.args(["-target", "bpf", "-O2", "-fno-jump-tables", "-c"]).args(common_flags());
    command.arg(source_dir().join("entry.c")).arg("-o").arg(&out);
    compile(command)?;
    let bytes = std::fs::read(&out).map_err(|error| error.to_string())?;
    link(&bytes)
}

/// Does this error of [`build`] mean that the machine has no compiler for BPF?
pub fn is_missing(error: &str) -> bool {
    error.contains("No such file") || error.contains("unable to create target")
}

/// Resolves loads of constant tables to addresses in this process.
fn link(bytes: &[u8]) -> Result<Program, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    let text_section = file.section_by_name(".text").ok_or("no .text")?;
    let mut text = text_section.data().map_err(|error| error.to_string())?.to_vec();
    if text.len() / 8 > INSTRUCTIONS_MAX {
        return Err(format!("{} instructions are more than the interpreter can jump over", text.len() / 8));
    }
    let mut tables: Vec<(object::SectionIndex, Box<[u8]>)> = Vec::new();
    for (offset, relocation) in text_section.relocations() {
        let RelocationTarget::Symbol(symbol) = relocation.target() else { return Err("odd relocation".into()) };
        let symbol = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
        let index = symbol.section_index().ok_or("a symbol without section")?;
        if !tables.iter().any(|(known, _)| *known == index) {
            let section = file.section_by_index(index).map_err(|error| error.to_string())?;
            tables.push((index, section.data().map_err(|error| error.to_string())?.into()));
        }
        let table = &tables.iter().find(|(known, _)| *known == index).ok_or("no table")?.1;
        patch(&mut text, offset as usize, table.as_ptr() as u64 + symbol.address())?;
    }
    Ok(Program { text, tables })
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

/// The interpreter with its state.
pub struct Interpreter<'a> {
    vm: rbpf::EbpfVmRaw<'a>,
    words: Vec<u64>,
}

impl<'a> Interpreter<'a> {
    /// Loads a program.
    pub fn new(program: &'a Program) -> Result<Self, String> {
        let mut vm = rbpf::EbpfVmRaw::new(None).map_err(|error| error.to_string())?;
        let usage = |_: &[u8], pc: usize, _: &mut dyn std::any::Any| if pc == 0 { ENTRY_STACK_BYTES } else { 512 };
        vm.set_stack_usage_calculator(usage, Box::new(())).map_err(|error| error.to_string())?;
        vm.set_program(&program.text).map_err(|error| error.to_string())?;
        for (_, table) in &program.tables {
            let start = table.as_ptr() as u64;
            vm.register_allowed_memory(start..start + table.len() as u64);
        }
        Ok(Self { vm, words: Vec::new() })
    }

    fn run_one(&mut self, call: &Call) -> Result<Answer, String> {
        self.words[..CALL_WORDS].copy_from_slice(&call.words());
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let result = self.vm.execute_program(&mut bytes).map_err(|error| format!("{call:?}: {error}"))?;
        for (word, bytes) in self.words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
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
