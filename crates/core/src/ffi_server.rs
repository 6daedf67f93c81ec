// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: the server of the fair class. As in `ffi.rs` every declaration is safe.

use crate::dl_server::DlServer;
use crate::policy::Policy;

unsafe extern "C" {
    pub(crate) safe fn pelton_x_dl_server_init(p: &Policy, s: &mut DlServer);
    pub(crate) safe fn pelton_x_dl_server_start(p: &Policy, s: &mut DlServer, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_dl_server_stop(s: &mut DlServer, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_dl_server_update(p: &Policy, s: &mut DlServer, now_ns: u64, delta_ns: u64, idle: u32);
    pub(crate) safe fn pelton_x_dl_server_slack(s: &DlServer) -> u64;
    pub(crate) safe fn pelton_x_dl_server_update_idle_time(s: &mut DlServer, delta_ns: u64);
    pub(crate) safe fn pelton_x_dl_server_expire(p: &Policy, s: &mut DlServer) -> u32;
    pub(crate) safe fn pelton_x_dl_server_timer(s: &mut DlServer, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_dl_server_inactive(s: &mut DlServer) -> u32;
}
