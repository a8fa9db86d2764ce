//! `skyhaul merge DIR... --out DIR`.

use std::process::ExitCode;

use skyhaul_sim::sweep::{self, RESULTS};

use super::args::MergeArgs;
use super::{shown, work};
use crate::failure::Failure;

pub(crate) fn run(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let (header, runs) = sweep::merge(&args.folders, &args.out)?;
    let results = shown::parsed(&header, &runs, &args.out.join(RESULTS))?;
    work::save_summary(&args.out, &results)?;
    shown::show(&results, args.shown)?;
    Ok(work::tell_problems(&results, false))
}
