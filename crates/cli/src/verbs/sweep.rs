// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton sweep`: many runs over a grid, into a folder of Parquet files.

use super::common::{Screen, failure, print_sheet};
use crate::args::{Global, SweepArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_desk::dataset::{Folder, Opened};
use pelton_lab::verbs::sweep::{Share, SweepRequest, sweep as run};

/// Runs the verb.
pub fn sweep(args: &SweepArgs, global: &Global) -> Result<Exit, Failure> {
    let request = SweepRequest {
        boards: args.platforms.clone(),
        workloads: args.workloads.clone(),
        defines: args.options.defines.iter().cloned().collect(),
        policies: args.policies.clone(),
        sets: args.sets.clone(),
        axes: args.axes.clone(),
        duration_ns: args.options.duration,
        hz: args.options.hz,
        rate_limit_us: args.options.rate_limit_us,
        group: args.options.group.clone(),
        seeds: args.seeds,
        first_seed: args.first_seed,
        block: args.block,
        all: args.all,
        ..SweepRequest::default()
    };
    let watch = Screen::new(global);
    let Opened { folder, grid, plans } = Folder::plan(&args.output, &request, &watch).map_err(failure)?;
    let (part, of) = args.chunk;
    let share = Share { part: part - 1, of };
    let swept = run(&grid, &plans, share, usize::from(global.jobs), &folder, &watch).map_err(failure)?;
    let mut sheet = Sheet::new(&["points", "runs", "chunks", "found", "ran"]);
    sheet.row([swept.points, swept.runs, swept.chunks, swept.found, swept.ran].map(|n| n.to_string()).to_vec());
    print_sheet(global, &sheet, &swept)?;
    Ok(Exit::Good)
}
