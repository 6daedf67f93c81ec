// SPDX-License-Identifier: GPL-2.0-only
//! Holding the core against what a kernel recorded.
