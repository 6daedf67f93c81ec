// SPDX-License-Identifier: GPL-2.0-or-later
//! The placement in the running kernel.

use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use libbpf_rs::{Map, MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use pelton_core::{Placed, Placement, Policy};

static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/decide.bpf.o"));

/// The least that the traffic control takes for a packet.
const PACKET: [u8; 64] = [0; 64];

pub struct Kernel {
    object: Object,
}

/// Sizes of the program as the kernel's verifier and compiler made it.
pub struct Figures {
    pub verified: u32,
    pub bytecode: u32,
    pub machine_code: u32,
}

/// A record as the bytes that C sees.
fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: policies, placements and results are words and halves of words without gaps.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast::<u8>(), size_of::<T>()) }
}

impl Kernel {
    /// Gives the program to the kernel.
    pub fn load() -> libbpf_rs::Result<Kernel> {
        let object = ObjectBuilder::default().open_memory(PROGRAM)?.load()?;
        Ok(Kernel { object })
    }

    fn map(&self, name: &str) -> Map<'_> {
        self.object.maps().find(|map| map.name() == name).expect("the program has these maps")
    }

    fn put<T: Copy>(&self, name: &str, record: &T) {
        self.map(name).update(&0u32.to_ne_bytes(), bytes(record), MapFlags::ANY).expect("an entry of an array");
    }

    pub fn set_policy(&self, policy: &Policy) {
        self.put(".bss.policy", policy);
    }

    /// Places a task `repeat` times; the result, and the mean time of one placement.
    pub fn place(&self, record: &Placement, repeat: u32) -> (Placed, Duration) {
        self.put(".bss.record", record);
        self.put(".bss.placed", &Placed::default());
        let program = self.object.progs_mut().find(|program| program.name() == "place").expect("it was loaded");
        let output = program.test_run(ProgramInput { data_in: Some(&PACKET), repeat, ..ProgramInput::default() });
        let duration = output.expect("the kernel runs programs on request").duration;
        let result = self.map(".bss.placed").lookup(&0u32.to_ne_bytes(), MapFlags::ANY).expect("an array");
        let result = result.expect("an array has its entries");
        assert_eq!(result.len(), size_of::<Placed>());
        // SAFETY: as long as the record, and any bits are a value of it.
        (unsafe { result.as_ptr().cast::<Placed>().read_unaligned() }, duration)
    }

    pub fn figures(&self) -> Figures {
        let program = self.object.progs_mut().next().expect("it was loaded");
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut length = size_of_val(&info) as u32;
        // SAFETY: the record is as long as `length` states.
        let code =
            unsafe { libbpf_sys::bpf_prog_get_info_by_fd(program.as_fd().as_raw_fd(), &raw mut info, &raw mut length) };
        assert_eq!(code, 0, "the kernel tells of its programs");
        let (bytecode, machine_code) = (info.xlated_prog_len, info.jited_prog_len);
        Figures { verified: info.verified_insns, bytecode, machine_code }
    }
}
