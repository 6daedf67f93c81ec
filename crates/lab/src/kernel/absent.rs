// SPDX-License-Identifier: GPL-2.0-or-later
//! A page has no kernel's code: policies that ask for some are refused.

use pelton_model::KernelImage;
use pelton_model::{Plan, RunConfig};
use pelton_scenario::{Diagnostics, SourceFile};
use pelton_schema::Sink;
use pelton_sim::Report;
use std::ops::ControlFlow;

use crate::run::{Fault, LabError};

const REASON: &str = "there is no kernel's code here";
const HINT: &str = "use the program on a Linux machine";

pub(crate) fn find(_name: &str, typed: &str) -> Result<(KernelImage, String), Diagnostics> {
    Err(SourceFile::new("--policy", typed).error(0..typed.len(), REASON).help(HINT).into())
}

pub(crate) fn run(
    _plan: &Plan,
    _image: &KernelImage,
    _config: &RunConfig,
    _sink: impl Sink,
    _progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, LabError> {
    Err(LabError::refused(Fault::Machine, REASON, HINT))
}
