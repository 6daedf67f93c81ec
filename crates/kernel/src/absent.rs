// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines that kernel code is not compiled for: no image can be loaded.

use pelton_core::kernel::{HookCall, KernelCode, KernelHook, KernelSelect, KernelSrc, KernelWarning, Operation};
use pelton_core::{IdleChoice, IdleNow, IdleTable, LbEnv, LbTask, Menu, Placement, SugovCpu, SugovPolicy, Teo};

use crate::Error;

/// An image as it is linked.
#[derive(Debug)]
pub enum Linked {}

/// An image that is loaded.
#[derive(Debug)]
pub enum Image {}

impl Linked {
    /// Reads an image file.
    ///
    /// # Errors
    /// Always.
    pub fn read(_file: &[u8]) -> Result<Linked, Error> {
        let reason = format!("kernel code is compiled for x86-64 Linux; this machine is {}", std::env::consts::ARCH);
        Err(Error::machine(reason, "use such a machine"))
    }
}

impl Image {
    /// Maps an image to a free place and starts its code.
    ///
    /// # Errors
    /// Never asked.
    pub fn open(linked: &Linked) -> Result<Image, Error> {
        match *linked {}
    }
}

impl KernelCode for Image {
    fn at(&mut self, _now: u64, _clock: u64) {
        match *self {}
    }
    fn failure(&self) -> Option<String> {
        match *self {}
    }
    fn cpus(&self) -> u32 {
        match *self {}
    }
    fn sugov_start(&mut self, _domain: u32, _cpus: u64, _sp: &SugovPolicy, _khz: &[u32]) {
        match *self {}
    }
    fn sugov_hook(&mut self, _: &HookCall<'_>, _: &mut SugovPolicy, _: &mut [SugovCpu]) -> Option<KernelHook> {
        match *self {}
    }
    fn sugov_work(&mut self, _domain: u32, _sp: &mut SugovPolicy) -> Option<u32> {
        match *self {}
    }
    fn sugov_limits(&mut self, _domain: u32, _sp: &mut SugovPolicy) {
        match *self {}
    }
    fn select_task_rq_fair(&mut self, _s: &Placement) -> Option<KernelSelect> {
        match *self {}
    }
    fn util_fits_cpu(&mut self, _s: &Placement, _util: u32, _clamps: (u32, u32), _cpu: u32) -> Option<i32> {
        match *self {}
    }
    fn cpu_overutilized(&mut self, _s: &Placement, _cpu: u32) -> Option<bool> {
        match *self {}
    }
    fn misfit_load(&mut self, _s: &Placement, _cpu: u32, _biggest: u32) -> Option<u64> {
        match *self {}
    }
    fn should_we_balance(&mut self, _s: &Placement, _env: &LbEnv) -> Option<bool> {
        match *self {}
    }
    fn find_src(&mut self, _s: &Placement, _env: &LbEnv) -> Option<KernelSrc> {
        match *self {}
    }
    fn need_active_balance(&mut self, _s: &Placement, _env: &LbEnv, _migration: u32) -> Option<bool> {
        match *self {}
    }
    fn can_migrate_task(&mut self, _s: &Placement, _env: &mut LbEnv, _t: &LbTask, _migration: u32) -> Option<bool> {
        match *self {}
    }
    fn menu_select(&mut self, _m: &mut Menu, _table: &IdleTable, _now: &IdleNow) -> Option<IdleChoice> {
        match *self {}
    }
    fn teo_select(&mut self, _m: &mut Teo, _table: &IdleTable, _now: &IdleNow) -> Option<IdleChoice> {
        match *self {}
    }
    fn track_load(&mut self) {
        match *self {}
    }
    fn release(&mut self) {
        match *self {}
    }
    fn calls(&self, _operation: Operation) -> u64 {
        match *self {}
    }
    fn warnings(&self) -> Vec<KernelWarning> {
        match *self {}
    }
}
