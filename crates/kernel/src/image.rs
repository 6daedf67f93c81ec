// SPDX-License-Identifier: GPL-2.0-or-later
//! An image in memory: mapped to a place below 2 GB, where a kernel's code must be, and asked for decisions. Several
//! can be there at the same time, one for each run; what they are made of is relocated.

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

use pelton_core::kernel::{
    HookCall, KernelCode, KernelHook, KernelSelect, KernelSrc, KernelWarning, LoadTracking, OPERATIONS, Operation,
    ask_load_tracking,
};
use pelton_core::{IdleChoice, IdleNow, IdleTable, LbEnv, LbTask, Menu, Placement, SugovCpu, SugovPolicy, Teo};

use crate::Error;
use crate::mapping::{Linked, Mapping};

/// Version of `kernel_ops.h` that this program is compiled with.
const OPS_VERSION: u32 = 3;

/// Head of `struct pelton_kernel_ops`.
#[repr(C)]
struct OpsHead {
    version: u32,
    size: u32,
    cpus: u32,
}

/// `struct pelton_image` of `guard.c`.
#[repr(C)]
struct Guard {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn pelton_image_size() -> u64;
    fn pelton_image_possible() -> u32;
    fn pelton_image_begin(i: *mut Guard) -> u32;
    fn pelton_image_start(i: *mut Guard, entry: usize) -> u32;
    fn pelton_image_protect(i: *const Guard) -> u32;
    fn pelton_image_end(i: *mut Guard);
    fn pelton_image_at(i: *mut Guard, now_ns: u64, clock_ns: u64);
    fn pelton_image_ops(i: *const Guard) -> *const OpsHead;
    fn pelton_image_failure(i: *const Guard) -> *const c_char;
    fn pelton_image_calls(i: *const Guard, operation: u32) -> u64;
    fn pelton_image_warning(
        i: *const Guard,
        number: u32,
        line: *mut u32,
        operation: *mut u32,
        first_ns: *mut u64,
        count: *mut u64,
    ) -> *const c_char;
    fn pelton_image_tracking(i: *const Guard, out: *mut LoadTracking);
    fn pelton_image_sugov_start(
        i: *mut Guard,
        domain: u32,
        cpus: u64,
        sp: *const SugovPolicy,
        khz: *const u32,
        opps: u32,
    ) -> u32;
    fn pelton_image_sugov_hook(
        i: *mut Guard,
        domain: u32,
        place: u32,
        exec_cpu: u32,
        now: u64,
        flags: u32,
        cs: *const pelton_core::CpuState,
        sp: *mut SugovPolicy,
        sc: *mut SugovCpu,
        out: *mut KernelHook,
    ) -> u32;
    fn pelton_image_sugov_work(i: *mut Guard, domain: u32, sp: *mut SugovPolicy, khz: *mut u32) -> u32;
    fn pelton_image_sugov_limits(i: *mut Guard, domain: u32, sp: *mut SugovPolicy) -> u32;
    fn pelton_image_select(i: *mut Guard, s: *const Placement, out: *mut KernelSelect) -> u32;
    fn pelton_image_util_fits(
        i: *mut Guard,
        s: *const Placement,
        util: u32,
        min: u32,
        max: u32,
        cpu: u32,
        out: *mut i32,
    ) -> u32;
    fn pelton_image_overutilized(i: *mut Guard, s: *const Placement, cpu: u32, out: *mut u32) -> u32;
    fn pelton_image_misfit(i: *mut Guard, s: *const Placement, cpu: u32, biggest: u32, out: *mut u64) -> u32;
    fn pelton_image_should_we_balance(i: *mut Guard, s: *const Placement, env: *const LbEnv, out: *mut u32) -> u32;
    fn pelton_image_find_src(i: *mut Guard, s: *const Placement, env: *const LbEnv, out: *mut KernelSrc) -> u32;
    fn pelton_image_need_active_balance(
        i: *mut Guard,
        s: *const Placement,
        env: *const LbEnv,
        migration: u32,
        out: *mut u32,
    ) -> u32;
    fn pelton_image_can_migrate_task(
        i: *mut Guard,
        s: *const Placement,
        env: *mut LbEnv,
        t: *const LbTask,
        migration: u32,
        out: *mut u32,
    ) -> u32;
    fn pelton_image_menu(
        i: *mut Guard,
        m: *mut Menu,
        t: *const IdleTable,
        now: *const IdleNow,
        out: *mut IdleChoice,
    ) -> u32;
    fn pelton_image_teo(
        i: *mut Guard,
        m: *mut Teo,
        t: *const IdleTable,
        now: *const IdleNow,
        out: *mut IdleChoice,
    ) -> u32;
}

/// An image that is loaded for one run, in the thread that runs it.
pub struct Image {
    guard: NonNull<Guard>,
    /// Behind `guard`.
    _room: Box<[u128]>,
    tracking: Option<Box<LoadTracking>>,
    mapping: Mapping,
    cpus: u32,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("mapping", &self.mapping).finish_non_exhaustive()
    }
}

impl Image {
    /// Maps an image to a free place and starts its code.
    ///
    /// # Errors
    /// When there is no free place, the image is of another version, or its code fails at the start.
    pub fn open(linked: &Linked) -> Result<Image, Error> {
        // SAFETY: a look at what the machine has.
        if unsafe { pelton_image_possible() } == 0 {
            return Err(refused(
                "this machine or its kernel has no FSGSBASE (x86-64 processors since 2012, Linux 5.9)",
            ));
        }
        let mapping = linked.map()?;
        // SAFETY: a constant.
        let words = usize::try_from(unsafe { pelton_image_size() }).unwrap_or(0).div_ceil(16);
        let mut room = vec![0u128; words].into_boxed_slice();
        let guard = NonNull::new(room.as_mut_ptr().cast::<Guard>()).ok_or_else(|| refused("no memory"))?;
        // SAFETY: the record has the size that the code wants, and stays where it is.
        let begun = unsafe { pelton_image_begin(guard.as_ptr()) };
        let mut image = Image { guard, _room: room, tracking: None, mapping, cpus: 0 };
        if begun == 0 {
            return Err(refused("no timer can be had that would end a call which does not return"));
        }
        image.start()?;
        Ok(image)
    }

    fn start(&mut self) -> Result<(), Error> {
        // SAFETY: the entry is in the mapping; what it returns is in it, too.
        let started = unsafe { pelton_image_start(self.guard.as_ptr(), self.mapping.entry()) };
        // SAFETY: null, or a table of the image, which stays as long as the mapping.
        let head = unsafe { pelton_image_ops(self.guard.as_ptr()).as_ref() };
        let Some(head) = head.filter(|_| started != 0) else {
            let why = self.failure().unwrap_or_else(|| "it does not start".to_owned());
            return Err(refused(format!("the image cannot be used: {why}")));
        };
        if head.version != OPS_VERSION {
            return Err(refused("the image was made by another version of pelton"));
        }
        self.cpus = head.cpus;
        // SAFETY: the image has started.
        if unsafe { pelton_image_protect(self.guard.as_ptr()) } == 0 {
            return Err(refused("pages of the image cannot be protected"));
        }
        Ok(())
    }
}

fn refused(why: impl Into<String>) -> Error {
    Error::machine(why, "")
}

impl Drop for Image {
    fn drop(&mut self) {
        self.release();
        // SAFETY: it has begun.
        unsafe { pelton_image_end(self.guard.as_ptr()) };
    }
}

/// An answer that the image gave.
fn answered<T: Default>(ask: impl FnOnce(&mut T) -> u32) -> Option<T> {
    let mut out = T::default();
    (ask(&mut out) != 0).then_some(out)
}

fn text(at: *const c_char) -> Option<String> {
    // SAFETY: null, or a text of the image or of the guard, which ends.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// Every call passes records that are borrowed, of the sizes that the image knows.
#[expect(clippy::undocumented_unsafe_blocks, reason = "all as the line above says")]
impl KernelCode for Image {
    fn at(&mut self, now: u64, clock: u64) {
        unsafe { pelton_image_at(self.guard.as_ptr(), now, clock) };
    }

    fn failure(&self) -> Option<String> {
        text(unsafe { pelton_image_failure(self.guard.as_ptr()) }).filter(|text| !text.is_empty())
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn sugov_start(&mut self, domain: u32, cpus: u64, sp: &SugovPolicy, khz: &[u32]) {
        let opps = u32::try_from(khz.len()).unwrap_or(u32::MAX);
        unsafe { pelton_image_sugov_start(self.guard.as_ptr(), domain, cpus, sp, khz.as_ptr(), opps) };
    }

    fn sugov_hook(&mut self, call: &HookCall<'_>, sp: &mut SugovPolicy, sc: &mut [SugovCpu]) -> Option<KernelHook> {
        let (i, cs) = (self.guard.as_ptr(), call.states.as_ptr());
        let &HookCall { domain, place, exec_cpu, now, flags, .. } = call;
        let sc = sc.as_mut_ptr();
        answered(|out| unsafe { pelton_image_sugov_hook(i, domain, place, exec_cpu, now, flags, cs, sp, sc, out) })
    }

    fn sugov_work(&mut self, domain: u32, sp: &mut SugovPolicy) -> Option<u32> {
        answered(|khz| unsafe { pelton_image_sugov_work(self.guard.as_ptr(), domain, sp, khz) })
    }

    fn sugov_limits(&mut self, domain: u32, sp: &mut SugovPolicy) {
        unsafe { pelton_image_sugov_limits(self.guard.as_ptr(), domain, sp) };
    }

    fn select_task_rq_fair(&mut self, s: &Placement) -> Option<KernelSelect> {
        answered(|out| unsafe { pelton_image_select(self.guard.as_ptr(), s, out) })
    }

    fn util_fits_cpu(&mut self, s: &Placement, util: u32, (min, max): (u32, u32), cpu: u32) -> Option<i32> {
        answered(|out| unsafe { pelton_image_util_fits(self.guard.as_ptr(), s, util, min, max, cpu, out) })
    }

    fn cpu_overutilized(&mut self, s: &Placement, cpu: u32) -> Option<bool> {
        answered(|out| unsafe { pelton_image_overutilized(self.guard.as_ptr(), s, cpu, out) }).map(|out: u32| out != 0)
    }

    fn misfit_load(&mut self, s: &Placement, cpu: u32, biggest: u32) -> Option<u64> {
        answered(|out| unsafe { pelton_image_misfit(self.guard.as_ptr(), s, cpu, biggest, out) })
    }

    fn should_we_balance(&mut self, s: &Placement, env: &LbEnv) -> Option<bool> {
        let own = answered(|out| unsafe { pelton_image_should_we_balance(self.guard.as_ptr(), s, env, out) });
        own.map(|answer| answer != 0)
    }

    fn find_src(&mut self, s: &Placement, env: &LbEnv) -> Option<KernelSrc> {
        answered(|out| unsafe { pelton_image_find_src(self.guard.as_ptr(), s, env, out) })
    }

    fn need_active_balance(&mut self, s: &Placement, env: &LbEnv, migration: u32) -> Option<bool> {
        let i = self.guard.as_ptr();
        let own = answered(|out| unsafe { pelton_image_need_active_balance(i, s, env, migration, out) });
        own.map(|answer| answer != 0)
    }

    fn can_migrate_task(&mut self, s: &Placement, env: &mut LbEnv, task: &LbTask, migration: u32) -> Option<bool> {
        let i = self.guard.as_ptr();
        let own = answered(|out| unsafe { pelton_image_can_migrate_task(i, s, env, task, migration, out) });
        own.map(|answer| answer != 0)
    }

    fn menu_select(&mut self, m: &mut Menu, table: &IdleTable, now: &IdleNow) -> Option<IdleChoice> {
        answered(|out| unsafe { pelton_image_menu(self.guard.as_ptr(), m, table, now, out) })
    }

    fn teo_select(&mut self, m: &mut Teo, table: &IdleTable, now: &IdleNow) -> Option<IdleChoice> {
        answered(|out| unsafe { pelton_image_teo(self.guard.as_ptr(), m, table, now, out) })
    }

    fn track_load(&mut self) {
        let mut tracking = Box::<LoadTracking>::default();
        unsafe { pelton_image_tracking(self.guard.as_ptr(), &mut *tracking) };
        let kept: *const LoadTracking = &**self.tracking.insert(tracking);
        // Until `release`, which dropping this calls.
        unsafe { ask_load_tracking(kept.as_ref()) };
    }

    fn release(&mut self) {
        unsafe { ask_load_tracking(None) };
        self.tracking = None;
    }

    fn calls(&self, operation: Operation) -> u64 {
        unsafe { pelton_image_calls(self.guard.as_ptr(), operation as u32) }
    }

    fn warnings(&self) -> Vec<KernelWarning> {
        let one = |number: u32| {
            let (mut line, mut operation, mut first_ns, mut count) = (0, 0, 0, 0);
            let (i, line_at) = (self.guard.as_ptr(), &raw mut line);
            let file = unsafe { pelton_image_warning(i, number, line_at, &mut operation, &mut first_ns, &mut count) };
            let operation = OPERATIONS.get(operation as usize).map_or("?", |operation| operation.name());
            text(file).map(|file| KernelWarning { place: format!("{file}:{line}"), operation, first_ns, count })
        };
        (0..).map_while(one).collect()
    }
}
