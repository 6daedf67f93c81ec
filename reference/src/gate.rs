// SPDX-License-Identifier: GPL-2.0-only
//! When the governor may act (SPEC C.2-C.5, C.7, C.10).

/// Gate of one frequency domain; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Window of the maximum, longest spacing, or limit of increases.
    pub window_ns: u64,
    /// Spacing of increases, shortest spacing, or limit of decreases.
    pub spacing_ns: u64,
    /// Start of the filling half window.
    pub half_ns: u64,
    /// When a held correction may pass.
    pub until_ns: u64,
    /// Maxima of the filling half and the two before.
    pub peak_khz: [u64; 3],
    /// Largest of them.
    pub maximum_khz: u64,
    /// Distance of need and request.
    pub error: u64,
    /// Flags of the call.
    pub flags: u64,
    /// Verdict of the last evaluation.
    pub verdict: u64,
}
