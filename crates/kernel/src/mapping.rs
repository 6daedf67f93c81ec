// SPDX-License-Identifier: GPL-2.0-or-later
//! Places for images. A kernel's code is compiled for addresses below 2 GB, and an image is linked to one of them; its
//! relocations, which stay in the file, move it to another.

use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _};
use object::{Endianness, SectionIndex};

use crate::Error;

type Header = FileHeader64<Endianness>;
const LE: Endianness = Endianness::Little;

/// Places begin at multiples of this.
const PLACE_BYTES: u64 = 1 << 20;
/// Largest image.
const IMAGE_BYTES_MAX: u64 = 64 << 20;
/// End of what code of a kernel can reach.
const ADDRESSES_END: u64 = 2 << 30;

/// A change that moving the image by some distance makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    /// Place in the image, from its begin.
    at: u64,
    bytes: u8,
    /// The distance is taken off: a relative address of something that does not move.
    back: bool,
}

/// An image as it is linked, and what moves with it.
#[derive(Debug)]
pub struct Linked {
    base: u64,
    size: u64,
    entry: u64,
    /// From the begin; zeros up to `size` follow.
    bytes: Vec<u8>,
    moves: Vec<Move>,
}

/// An image in memory.
#[derive(Debug)]
pub struct Mapping {
    at: u64,
    size: u64,
    entry: u64,
}

fn wrong(why: &str) -> Error {
    Error::input(format!("this is no image of kernel code: {why}"), "make it again: pelton kernel build")
}

impl Linked {
    /// Reads an image file.
    ///
    /// # Errors
    /// When it is not an image.
    pub fn read(file: &[u8]) -> Result<Linked, Error> {
        let said = |_| wrong("it is no ELF file, or cut");
        let header = Header::parse(file).map_err(said)?;
        if header.e_type(LE) != elf::ET_EXEC || header.e_machine(LE) != elf::EM_X86_64 {
            return Err(wrong("it is no program for x86-64"));
        }
        let loads = header.program_headers(LE, file).map_err(said)?;
        let loads: Vec<_> = loads.iter().filter(|part| part.p_type(LE) == elf::PT_LOAD).collect();
        let base = loads.iter().map(|part| part.p_vaddr(LE)).min().ok_or_else(|| wrong("it has no code"))? & !4095;
        let end = loads.iter().map(|part| part.p_vaddr(LE).saturating_add(part.p_memsz(LE))).max().unwrap_or(base);
        let size = end.saturating_sub(base).next_multiple_of(4096);
        if size > IMAGE_BYTES_MAX || end > ADDRESSES_END {
            return Err(wrong("it is too large"));
        }
        let mut linked = Linked { base, size, entry: header.e_entry(LE), bytes: Vec::new(), moves: Vec::new() };
        for part in loads {
            let at = (part.p_vaddr(LE) - base) as usize;
            let data = part.data(LE, file).map_err(|()| wrong("it is cut"))?;
            linked.bytes.resize(linked.bytes.len().max(at + data.len()), 0);
            linked.bytes[at..at + data.len()].copy_from_slice(data);
        }
        linked.moves = moves(header, file, base, linked.bytes.len() as u64).map_err(said)?;
        Ok(linked)
    }

    /// Maps it to the first free place.
    ///
    /// # Errors
    /// When there is none.
    pub fn map(&self) -> Result<Mapping, Error> {
        let step = self.size.next_multiple_of(PLACE_BYTES).max(PLACE_BYTES);
        let places = (0..).map(|number| self.base + number * step);
        let mut places = places.take_while(|at| at + step <= ADDRESSES_END);
        // Without relocations there is only the place that it is linked to.
        let mut places: Vec<u64> = if self.moves.is_empty() { vec![self.base] } else { places.by_ref().collect() };
        let place = places.drain(..).find_map(|at| reserve(at, self.size));
        let mapping =
            place.ok_or_else(|| Error::machine("no free place below 2 GB for kernel code", "use fewer jobs"))?;
        self.fill(mapping)
    }

    fn fill(&self, mut mapping: Mapping) -> Result<Mapping, Error> {
        let distance = mapping.at.wrapping_sub(self.base);
        mapping.entry = self.entry.wrapping_add(distance);
        // SAFETY: the mapping is writable, its own, and has `size` bytes, of which these are the first.
        let room = unsafe { std::slice::from_raw_parts_mut(mapping.at as *mut u8, self.bytes.len()) };
        room.copy_from_slice(&self.bytes);
        for one in self.moves.iter().filter(|_| distance != 0) {
            let by = if one.back { distance.wrapping_neg() } else { distance };
            let (at, bytes) = (one.at as usize, one.bytes as usize);
            let mut value = [0; 8];
            value[..bytes].copy_from_slice(&room[at..at + bytes]);
            let moved = u64::from_le_bytes(value).wrapping_add(by).to_le_bytes();
            room[at..at + bytes].copy_from_slice(&moved[..bytes]);
        }
        Ok(mapping)
    }
}

/// Changes of a move, by the relocations that the linker has kept.
fn moves(header: &Header, file: &[u8], base: u64, bytes: u64) -> object::read::Result<Vec<Move>> {
    let sections = header.sections(LE, file)?;
    let mut out = Vec::new();
    for section in sections.iter() {
        let Some((relocations, link)) = section.rela(LE, file)? else { continue };
        let symbols = sections.symbol_table_by_index(LE, file, SectionIndex(link.0))?;
        let target = sections.section(SectionIndex(section.sh_info(LE) as usize))?;
        if target.sh_flags(LE) & u64::from(elf::SHF_ALLOC) == 0 {
            continue;
        }
        for one in relocations {
            let index = object::SymbolIndex(one.r_sym(LE, false) as usize);
            let stays = match index.0 {
                0 => true,
                _ => [elf::SHN_UNDEF, elf::SHN_ABS].contains(&symbols.symbol(index)?.st_shndx(LE)),
            };
            let (bytes_of, back) = match (one.r_type(LE, false), stays) {
                (elf::R_X86_64_64, false) => (8, false),
                (elf::R_X86_64_32 | elf::R_X86_64_32S, false) => (4, false),
                (elf::R_X86_64_PC32 | elf::R_X86_64_PLT32, true) => (4, true),
                _ => continue,
            };
            let at = one.r_offset(LE).wrapping_sub(base);
            if at.saturating_add(bytes_of.into()) <= bytes {
                out.push(Move { at, bytes: bytes_of, back });
            }
        }
    }
    Ok(out)
}

/// A mapping at this place, if nothing is there.
fn reserve(at: u64, size: u64) -> Option<Mapping> {
    let (rights, flags) =
        (libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let place = at as *mut libc::c_void;
    // SAFETY: a new mapping that replaces none.
    let got = unsafe { libc::mmap(place, size as usize, rights, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    if got == libc::MAP_FAILED {
        return None;
    }
    let mapping = Mapping { at: got as u64, size, entry: 0 };
    // A kernel that does not know the flag may put it elsewhere; dropping it gives that back.
    (mapping.at == at).then_some(mapping)
}

impl Mapping {
    pub(crate) fn entry(&self) -> usize {
        self.entry as usize
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is its own, and nothing refers to it any more.
        unsafe { libc::munmap(self.at as *mut libc::c_void, self.size as usize) };
    }
}
