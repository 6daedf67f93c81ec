// SPDX-License-Identifier: GPL-2.0-or-later
//! Requests and results of each verb.
//!
//! ```
//! use pelton_lab::verbs::run::{RunRequest, run};
//! use pelton_lab::watch::Unwatched;
//! let request: RunRequest = serde_json::from_str(
//!     r#"{"input": {"platform": "hikey-6220", "workload": "busy:cpus=0", "duration_ns": 50000000}}"#,
//! )?;
//! let result = run(&request, &Unwatched)?;
//! assert_eq!(result.run.about.platform, "hikey-6220");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ask;
pub mod carried;
pub mod check;
pub mod clamps;
pub mod compare;
pub mod decisions;
pub mod difference;
pub mod distinguish;
pub mod explain;
pub mod explain_recorded;
pub mod export;
pub mod front;
pub mod inputs;
#[cfg(not(target_family = "wasm"))]
pub mod kernel;
#[cfg(not(target_family = "wasm"))]
pub mod kernel_diff;
pub mod live;
pub mod placements;
pub mod ranges;
pub mod record;
pub mod recorded;
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod sweep;
pub mod trace_info;
pub mod validate;
pub mod why;
pub mod workload;
