// SPDX-License-Identifier: GPL-2.0-or-later
//! The system's memory, whose end is a sentence and an exit code instead of an abort.

use crate::exit::{Exit, Failure};
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

/// Address space in which every verb begins its work, KiB.
const KIB_MIN: u64 = 64 << 10;
/// Part of a thread, KiB: its stack, and the first of its allocations.
const KIB_OF_THREAD: u64 = 3 << 10;
/// Stack that the main thread has, whatever is allocated meanwhile.
const STACK_BYTES: usize = 1 << 20;
/// Memory that a thread needs to start, bytes.
const START_BYTES: usize = 4 << 20;

/// Refuses to begin where the address space is limited to less than the threads need: a thread that cannot have a stack
/// has no way to say so.
///
/// # Errors
/// When less is allowed (`ulimit -v`).
pub fn ask(jobs: u16) -> Result<(), Failure> {
    let Some(limit_kib) = limit_kib() else { return Ok(()) };
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cpus.max(usize::from(jobs));
    let need_kib = KIB_MIN + KIB_OF_THREAD * threads as u64;
    if limit_kib < need_kib {
        let text = format!(
            "not enough memory: the address space is limited to {limit_kib} KiB, and {threads} threads need {need_kib}"
        );
        return Err(Failure::cannot(text, "ulimit -v, in KiB; --jobs where more threads than CPUs are asked for"));
    }
    one_arena();
    grow_stack();
    Ok(())
}

/// One arena for all threads: each further one of glibc's reserves 64 MiB of the address space, as soon as two threads
/// allocate at once.
#[cfg(target_env = "gnu")]
fn one_arena() {
    // SAFETY: sets a number of the allocator; no other thread has begun.
    unsafe { nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1) };
}

#[cfg(not(target_env = "gnu"))]
fn one_arena() {}

/// Address space that this process may have; `None` = as much as there is.
#[cfg(unix)]
fn limit_kib() -> Option<u64> {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
    let (soft, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    (soft != RLIM_INFINITY).then_some(soft >> 10)
}

#[cfg(not(unix))]
fn limit_kib() -> Option<u64> {
    None
}

/// A stack grows when it is used, and where nothing is left by then the process is killed without a word.
#[inline(never)]
fn grow_stack() {
    let mut space = [0u8; STACK_BYTES];
    std::hint::black_box(&mut space);
}

/// Ends the program when a failure is one of memory: nothing is left that a thread could start with.
pub fn end_if_gone() {
    let Ok(layout) = Layout::from_size_align(START_BYTES, 4096) else { return };
    // SAFETY: the size of the layout is not 0.
    let place = unsafe { System.alloc(layout) };
    if place.is_null() {
        end(START_BYTES);
    }
    // SAFETY: it was allocated above with this layout.
    unsafe { System.dealloc(place, layout) }
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
