//! `skyhaul merge DIR... --out DIR`.

use std::process::ExitCode;

use skyhaul_lab::sweep::{read, save_summary};
use skyhaul_sim::sweep::{self, RESULTS};

use super::args::MergeArgs;
use super::{shown, told};
use crate::failure::Failure;

pub(crate) fn run(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let (header, runs) = sweep::merge(&args.folders, &args.out)?;
    let results = read(&header, &runs, &args.out.join(RESULTS))?;
    save_summary(&args.out, &results)?;
    shown::show(&results, args.shown)?;
    Ok(told::either(told::tell_troubles(&results, false), told::tell_problems(&results, false)))
}
