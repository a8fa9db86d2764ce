//! `skyhaul race-end`: one end of one run in real time, as a process of its own. It prints its report as one
//! JSON line. For `skyhaul race` and `scoreboard`, not for people.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use skyhaul_lab::race::{EndOrder, RaceOrder, RacePlan, Role, Work, run_end};
use skyhaul_lab::{load, standard};

use super::args::RaceArgs;
use crate::failure::Failure;
use crate::output::print;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EndArgs {
    #[command(flatten)]
    race: RaceArgs,
    #[arg(long, value_enum)]
    role: RoleName,
    #[arg(long, value_enum)]
    work: WorkName,
    /// Where the serving end listens
    #[arg(long, value_name = "ADDRESS:PORT")]
    at: SocketAddr,
    /// Address of the sending end
    #[arg(long, value_name = "ADDRESS")]
    from: IpAddr,
    /// Folder in which both ends and whoever starts them tell each other what has happened, by files
    #[arg(long, value_name = "DIR")]
    signs: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    /// Sends the file; asks.
    Send,
    /// Receives it; answers.
    Serve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WorkName {
    Bulk,
    Fresh,
    Kept,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Send => Self::Send,
            RoleName::Serve => Self::Serve,
        }
    }
}

impl From<WorkName> for Work {
    fn from(name: WorkName) -> Self {
        match name {
            WorkName::Bulk => Self::Bulk,
            WorkName::Fresh => Self::Exchanges { keep: false },
            WorkName::Kept => Self::Exchanges { keep: true },
        }
    }
}

/// Command line that starts an end: all that decides about a run, as arguments of this program.
pub(crate) fn end_command(order: &RaceOrder, end: &EndOrder<'_>) -> Vec<String> {
    let work = match end.work {
        Work::Bulk => "bulk",
        Work::Exchanges { keep: false } => "fresh",
        Work::Exchanges { keep: true } => "kept",
    };
    let role = if end.role == Role::Send { "send" } else { "serve" };
    let head = ["/proc/self/exe", "race-end", "--role", role, "--work", work, "--with", end.racer.name()];
    let mut words: Vec<String> = head.map(String::from).to_vec();
    words.push(format!("--signs={}", end.signs.display()));
    words.extend(["--at".into(), end.at.to_string(), "--from".into(), end.from.to_string()]);
    words.extend(["--time-limit".into(), format!("{}ns", end.limit_ns)]);
    words.extend(order.set.iter().map(|(key, value)| format!("--set={key}={value}")));
    let own = |name: &str, value: Option<u64>, unit: &str| Some(format!("--{name}={}{unit}", value?));
    let own = [
        own("size", order.size_bytes, "B"),
        own("rate", order.rate_bps, "bit/s"),
        own("requests", Some(order.requests.into()), ""),
    ];
    words.extend(own.into_iter().flatten());
    words.extend(["--".to_string(), order.file.display().to_string()]);
    words
}

pub(crate) async fn run(args: EndArgs) -> Result<ExitCode, Failure> {
    let order = args.race.order();
    let plan = RacePlan::new(&order, &load(&standard(), &order.file, &order.set)?)?;
    let &[racer] = &plan.racers[..] else { return Err(Failure::usage("one racer at a time")) };
    let end = EndOrder {
        racer,
        work: args.work.into(),
        limit_ns: order.time_limit_ns.unwrap_or(u64::MAX),
        role: args.role.into(),
        at: args.at,
        from: args.from,
        signs: &args.signs,
    };
    let report = run_end(&plan, &end).await;
    print(&(serde_json::to_string(&report).unwrap_or_default() + "\n"))?;
    Ok(if report.error.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
