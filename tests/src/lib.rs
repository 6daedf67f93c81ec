// SPDX-License-Identifier: GPL-2.0-only
//! Tests across crates live in `tests/tests/`.
