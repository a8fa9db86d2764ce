//! Arguments of `reproduce`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use skyhaul_lab::papers::{PAPERS, RealOrder, ReproductionOrder};

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Which paper
    #[arg(value_name = "PAPER", value_parser = clap::builder::PossibleValuesParser::new(PAPERS.iter().map(|p| p.name)))]
    pub(super) paper: String,
    /// Items of the paper, like X-6; all if none is named
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Fewer runs of each point: the same report within minutes, with wider intervals
    #[arg(long)]
    pub(super) quick: bool,
    /// In real time, between network namespaces, with the kernel's TCP beside: figures 3, 4 and 7 of scps-tp.
    /// Needs root, or user namespaces; takes hours, with --quick some minutes
    #[arg(long)]
    pub(super) real: bool,
    /// Folder for the report and the results. An interrupted reproduction goes on where it was
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub(super) out: PathBuf,
    /// Runs at the same time; simulated results do not depend on it [default: one for each processor;
    /// --real: 4]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print the claims with their verdicts as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl ReproduceArgs {
    /// Order of a reproduction in real time.
    pub(super) fn real_order(&self) -> RealOrder {
        RealOrder { items: self.items.clone(), quick: self.quick, out: self.out.clone(), jobs: self.jobs }
    }

    /// Order that these arguments make.
    pub(super) fn order(&self) -> ReproductionOrder {
        ReproductionOrder {
            items: self.items.clone(),
            quick: self.quick,
            out: self.out.clone(),
            jobs: self.jobs,
        }
    }
}
