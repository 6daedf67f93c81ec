// SPDX-License-Identifier: GPL-2.0-only
use super::Table;
pub(super) fn tables() -> Vec<Table> {
    vec![]
}
