//! Arguments of `race`.

use std::path::PathBuf;

use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_lab::race::{RaceOrder, Racer, RacerName};
use skyhaul_lab::{UnknownName, standard};

use crate::args::MORE;
use crate::sweep::key_and_value;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RaceArgs {
    /// Scenario file, or the name of a ready scenario, like geo. Its first bulk flow says how much goes from
    /// which host to which
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Who races: skyhaul (as `send` is without any option), xstp and stp by the papers' window (each twice:
    /// with the path's rate declared and without; also alone, as in xstp-declared or stp-undeclared),
    /// skyhaul-xcp and skyhaul-p-xcp (by routers, which its links become), tcp-cubic, tcp-bbr, tcp-reno,
    /// tcp-regular (Reno without SACK, timestamps and scaled windows), scps-tp (by Vegas), scps-tp-declared
    /// and scps-tp-of-file (as the file has it); --simulated also tcp-xcp and tcp-p-xcp (likewise) and
    /// tcp-peach-plus
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "skyhaul,xstp,stp,tcp-cubic,tcp-bbr,tcp-reno",
        value_parser = racers
    )]
    with: Vec<RacerName>,
    /// Runs of each, with seeds that count up from the first
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// How much is sent [default: what the flow says]
    #[arg(long, value_parser = parse_bytes)]
    size: Option<u64>,
    /// The rate that is declared [default: what the flow's transport declares, or else the lowest on the way]
    #[arg(long, value_parser = parse_rate_bps, help_heading = MORE)]
    rate: Option<u64>,
    /// Small exchanges, each after the one before: so many over a fresh connection each, and so many over one
    /// that is kept; 0: none
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = MORE)]
    requests: u32,
    /// First seed [default: what the file says]
    #[arg(long, value_name = "N", help_heading = MORE)]
    seed: Option<u64>,
    /// Change a key of the file, as for `simulate`; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value, help_heading = MORE)]
    set: Vec<(String, String)>,
    /// End a transfer that takes longer [default: a minute and 10 times what the link needs, 10 min at most]
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns, help_heading = MORE)]
    time_limit: Option<u64>,
    /// In virtual time, with TCP as skyhaul has it, instead of in real time with the kernel's
    #[arg(long)]
    pub(super) simulated: bool,
    /// Folder for the picture (SVG and PNG), a report page and all numbers (CSV, and JSON lines for `report`)
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl RaceArgs {
    /// Order that these arguments make.
    pub(super) fn order(&self) -> RaceOrder {
        let seed = self.seed.map(|seed| ("run.seed".to_string(), seed.to_string()));
        RaceOrder {
            file: self.file.clone(),
            set: self.set.iter().cloned().chain(seed).collect(),
            racers: self.racers(),
            runs: self.runs,
            size_bytes: self.size,
            rate_bps: self.rate,
            requests: self.requests,
            time_limit_ns: self.time_limit,
        }
    }

    /// Racers, each once.
    fn racers(&self) -> Vec<Racer> {
        let mut racers = Vec::new();
        for &racer in self.with.iter().flat_map(|name| &name.0) {
            if !racers.contains(&racer) {
                racers.push(racer);
            }
        }
        racers
    }
}

fn racers(name: &str) -> Result<RacerName, UnknownName> {
    RacerName::find(&standard(), name)
}
