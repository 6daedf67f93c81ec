// SPDX-License-Identifier: GPL-2.0-or-later
//! Images of a kernel's own code. What an image lacks is the core's, by the nearest profile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pelton_kernel::{Fault as KernelFault, Image, Linked, store::Store};
use pelton_model::KernelImage;
use pelton_model::{Plan, RunConfig};
use pelton_scenario::{Diagnostics, SourceFile};
use pelton_schema::Sink;
use pelton_sim::Report;
use std::ops::ControlFlow;

use crate::run::{Fault, LabError, Refusal};

impl From<pelton_kernel::Error> for LabError {
    fn from(error: pelton_kernel::Error) -> Self {
        match error {
            pelton_kernel::Error::Stopped => LabError::Stopped(error.to_string()),
            pelton_kernel::Error::Refused { fault, reason, hint } => {
                let fault = match fault {
                    KernelFault::Request => Fault::Request,
                    KernelFault::Input => Fault::Input,
                    KernelFault::Machine => Fault::Machine,
                };
                LabError::Refused(Refusal { fault, reason, hint })
            }
        }
    }
}

/// The image of this name, and the profile that is nearest to it.
pub(crate) fn find(name: &str, typed: &str) -> Result<(KernelImage, String), Diagnostics> {
    let about = Store::open().and_then(|store| store.about(name));
    let said = |error: pelton_kernel::Error| {
        let (reason, hint) = match error {
            pelton_kernel::Error::Refused { reason, hint, .. } => (reason, hint),
            other @ pelton_kernel::Error::Stopped => (other.to_string(), None),
        };
        let at = typed.find(name).map_or(0..typed.len(), |at| at..at + name.len());
        let found = SourceFile::new("--policy", typed).error(at, reason);
        Diagnostics::from(match hint {
            Some(hint) => found.help(hint),
            None => found,
        })
    };
    let about = about.map_err(said)?;
    let image = KernelImage { name: about.name, release: about.release, hash: about.hash };
    Ok((image, about.profile))
}

/// Images that were read, by their hash.
static READ: Mutex<BTreeMap<String, Arc<Linked>>> = Mutex::new(BTreeMap::new());

fn linked(image: &KernelImage) -> Result<Arc<Linked>, LabError> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(&image.hash) {
        return Ok(Arc::clone(known));
    }
    let kept = Store::open()?.load(&image.name)?;
    if kept.about.hash != image.hash {
        let reason = format!("the kernel image `{}` was made anew since this run was planned", image.name);
        return Err(LabError::refused(Fault::Request, reason, "begin again"));
    }
    let linked = Arc::new(Linked::read(&kept.image)?);
    read.insert(image.hash.clone(), Arc::clone(&linked));
    Ok(linked)
}

/// Runs a plan under a kernel's own code.
pub(crate) fn run(
    plan: &Plan,
    image: &KernelImage,
    config: &RunConfig,
    sink: impl Sink,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, LabError> {
    let linked = linked(image)?;
    let mut code = Image::open(&linked)?;
    let inputs = (&plan.machine, &plan.workload);
    Ok(pelton_sim::run_under_kernel(inputs, &plan.policy, config, sink, &mut code, progress)?)
}
