// SPDX-License-Identifier: GPL-2.0-only
//! The system's memory, whose end is a sentence and an exit code instead of an abort.

use crate::exit::Exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The system's allocator; the program ends where that has nothing left.
struct OrEnd;

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

// SAFETY: every call goes to the system's allocator as it is, and what that returns is returned.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `alloc`, which are those of this function.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `alloc_zeroed`, which are those of this function.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `realloc`, which are those of this function.
        or_end(unsafe { System.realloc(place, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`, which are those of this function.
        unsafe { System.dealloc(place, layout) }
    }
}

#[inline]
fn or_end(place: *mut u8, bytes: usize) -> *mut u8 {
    if place.is_null() { end(bytes) } else { place }
}

/// Nothing here may ask for memory: standard error has no buffer, and numbers are written digit by digit.
#[cold]
fn end(bytes: usize) -> ! {
    let mut out = std::io::stderr();
    let _ = writeln!(out, "error: not enough memory: {bytes} more bytes are not to be had");
    let _ = writeln!(out, "  hint: fewer tasks, a shorter run, or a part of the trace (--from, --to); ulimit -v");
    // SAFETY: ends the process without running anything more of it.
    unsafe { nix::libc::_exit(i32::from(Exit::CannotHere.code())) }
}
