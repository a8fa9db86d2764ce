//! Arguments of `map`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use skyhaul_lab::map::{MAX_RUNS, MapOrder};

use crate::args::MORE;
use crate::sweep::ShownArgs;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MapArgs {
    /// File of axes, like maps/controller.toml [default: that one, which the program has]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// One run of each cell
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// Runs of each cell, with seeds that count up [default: what the file says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS)))]
    runs: Option<u32>,
    /// Run these cells only, by their numbers
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = cell_number)]
    cells: Vec<usize>,
    /// Run nothing: print the scenario file of this cell, for `skyhaul simulate`
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["quick", "runs", "cells", "out", "json", "csv"])]
    pub(super) scenario: Option<usize>,
    /// Folder for tables, picture (SVG, PNG, PDF) and all numbers (CSV, JSON lines), made if need be. Where
    /// it was interrupted, the same command goes on
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Runs at the same time; the results do not depend on it [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = MORE)]
    pub(super) jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

fn cell_number(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "write numbers of cells, with commas between them, like 1,5,12".into())
}

impl MapArgs {
    /// Order that these arguments make.
    pub(super) fn order(&self) -> MapOrder {
        let only = self.scenario.map_or_else(|| self.cells.clone(), |number| vec![number]);
        MapOrder { file: self.file.clone(), runs: self.runs.or(self.quick.then_some(1)), only }
    }
}
