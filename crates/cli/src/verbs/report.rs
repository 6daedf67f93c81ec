// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton report`: runs, or a result that was kept, as a page.

use super::common::{Screen, failure, files_of, input_of, policy_files};
use crate::args::{Global, ReportArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use pelton_lab::verbs::compare::CompareRequest;
use pelton_report::{ReportRequest, of_result};
use pelton_scenario::reading;
use std::path::{Path, PathBuf};

/// Bytes of a result that is read: a comparison of a thousand tasks with the values of each seed.
const RESULT_BYTES_MAX: usize = 8 << 20;

/// Runs the verb.
pub fn report(args: &ReportArgs, global: &Global) -> Result<Exit, Failure> {
    output::spare(std::slice::from_ref(&args.output), &inputs(args))?;
    let page = match (&args.result, &args.platform) {
        (Some(path), _) => of_file(path)?,
        (None, platform) => {
            let request = request(args, platform.as_deref().unwrap_or_default(), usize::from(global.jobs));
            pelton_report::report(&request, &Screen::new(global)).map_err(failure)?
        }
    };
    output::write(&args.output, &page)?;
    if !global.quiet && args.output.as_os_str() != "-" {
        crate::say(&format!("{}: {} kB; it opens in any browser", args.output.display(), page.len().div_ceil(1000)));
    }
    Ok(Exit::Good)
}

/// Files that the page is made from.
fn inputs(args: &ReportArgs) -> Vec<PathBuf> {
    let workloads = args.workloads.iter().flat_map(|workload| files_of(workload));
    let platform = args.platform.iter().map(PathBuf::from);
    workloads.chain(platform).chain(policy_files(&args.policies)).chain(args.result.clone()).collect()
}

fn request(args: &ReportArgs, platform: &str, jobs: usize) -> ReportRequest {
    let compare = CompareRequest {
        input: input_of(platform, args.workloads.first().map_or("", String::as_str), &args.options),
        workloads: args.workloads.iter().skip(1).cloned().collect(),
        policies: args.policies.clone(),
        sets: args.sets.clone(),
        seeds: args.seeds,
        first_seed: args.first_seed,
        jobs,
        ..CompareRequest::default()
    };
    ReportRequest { compare, decisions: usize::from(args.decisions) }
}

fn of_file(path: &Path) -> Result<String, Failure> {
    let bad = |why: String, hint: &str| Failure::new(Exit::BadInput, format!("{}: {why}", path.display()), Some(hint));
    let read = reading::text(path, RESULT_BYTES_MAX);
    let text = read.map_err(|why| bad(why.to_string(), "name a file that `--format json` printed"))?;
    let value = serde_json::from_str(&text)
        .map_err(|why| bad(format!("it is no JSON: {why}"), "a result is what `--format json` prints"))?;
    of_result(&value).map_err(|why| bad(why, "keep one with `pelton run ... --format json > FILE`"))
}
