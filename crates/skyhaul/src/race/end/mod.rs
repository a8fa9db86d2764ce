//! `skyhaul race-end`: one end of one run in real time, in whatever network namespace it is started. It prints what it
//! did as one JSON line. For `skyhaul race`, not for people.

mod bulk;
mod dial;
mod exchanges;
mod report;
mod snmp;
mod stream;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use skyhaul_net::Clock;

pub(super) use report::EndReport;

use super::args::RaceArgs;
use super::plan::{Plan, Work};
use super::racer::Racer;
use crate::failure::Failure;
use crate::output::print;
use crate::scenario_file::load;
use dial::{Dial, Listen};

/// The sending end knows that everything has arrived; what it still has to say leaves at once.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// The other end is over by then, or whoever started both has ended them.
const LONGEST_OTHER: Duration = Duration::from_secs(10);
/// Between two looks for a file.
const NAP: Duration = Duration::from_millis(2);
/// Made by the serving end when it listens.
const READY: &str = "ready";
/// Made when the sending end is over: until then the serving end answers repeats.
const OVER: &str = "over";

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EndArgs {
    #[command(flatten)]
    race: RaceArgs,
    #[arg(long, value_enum)]
    role: Role,
    #[arg(long, value_enum)]
    work: WorkName,
    /// Where the serving end listens
    #[arg(long, value_name = "ADDRESS:PORT")]
    at: SocketAddr,
    /// Folder in which both ends and whoever starts them tell each other what has happened, by files
    #[arg(long, value_name = "DIR")]
    signs: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
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

impl From<WorkName> for Work {
    fn from(name: WorkName) -> Self {
        match name {
            WorkName::Bulk => Self::Bulk,
            WorkName::Fresh => Self::Exchanges { keep: false },
            WorkName::Kept => Self::Exchanges { keep: true },
        }
    }
}

/// Returns when the serving end, which was given this folder, listens.
pub(super) async fn listening(signs: &Path) {
    there(&signs.join(READY)).await;
}

/// Lets the serving end go.
pub(super) fn dismiss(signs: &Path) -> io::Result<()> {
    std::fs::write(signs.join(OVER), "")
}

async fn there(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(NAP).await;
    }
}

/// The arguments of `skyhaul race-end` for an end of such a run.
pub(super) fn arguments(
    args: &RaceArgs,
    run: (Racer, Work, u64),
    role: Role,
    at: SocketAddr,
    signs: &Path,
) -> Vec<String> {
    let (racer, work, limit_ns) = run;
    let work = match work {
        Work::Bulk => "bulk",
        Work::Exchanges { keep: false } => "fresh",
        Work::Exchanges { keep: true } => "kept",
    };
    let role = if role == Role::Send { "send" } else { "serve" };
    let mut words: Vec<String> =
        ["--role", role, "--work", work, "--with", racer.name()].map(String::from).to_vec();
    words.push(format!("--signs={}", signs.display()));
    words.extend(["--at".into(), at.to_string(), "--time-limit".into(), format!("{limit_ns}ns")]);
    words.extend(args.as_words());
    words
}

pub(crate) async fn run(args: EndArgs) -> Result<ExitCode, Failure> {
    let plan = Plan::new(&args.race, &load(&args.race.file, &args.race.overrides())?)?;
    let &[racer] = &plan.racers[..] else { return Err(Failure::usage("one racer at a time")) };
    let limit = Duration::from_nanos(plan.own_time_limit_ns().unwrap_or(u64::MAX));
    let mut report = EndReport::default();
    // What the work has come to so far is there whatever ends it.
    let (ended, ended_at_ns) = {
        let mut work = pin!(work(&args, &plan, racer, &mut report));
        let ended = tokio::time::timeout(limit, &mut work).await;
        let ended_at_ns = now_ns();
        if ended.is_err() && args.role == Role::Serve {
            // Began before the other end, so its time is over first: gone, it would look like a failure there.
            let _ = tokio::time::timeout(LONGEST_OTHER, there(&args.signs.join(OVER))).await;
        }
        (ended, ended_at_ns)
    };
    report.ended_at_ns = ended_at_ns;
    if let Ok(Err(error)) = ended {
        report.error = Some(error.to_string());
    }
    print(&(serde_json::to_string(&report).unwrap_or_default() + "\n"))?;
    Ok(if report.error.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn work(args: &EndArgs, plan: &Plan, racer: Racer, report: &mut EndReport) -> io::Result<()> {
    let transport = plan.transport(racer);
    match args.role {
        Role::Send => {
            let dial = Dial::new(racer, transport.opener, args.at)?;
            match args.work.into() {
                Work::Bulk => bulk::send(&dial, plan, report).await?,
                Work::Exchanges { keep } => exchanges::ask(&dial, plan, keep, report).await?,
            }
            dial.wait(LAST_WORDS).await;
        }
        Role::Serve => {
            let mut listen = Listen::new(racer, transport.acceptor, args.at)?;
            std::fs::write(args.signs.join(READY), "")?;
            let over = args.signs.join(OVER);
            match args.work.into() {
                Work::Bulk => bulk::receive(&mut listen, plan, report).await?,
                Work::Exchanges { .. } => tokio::select! {
                    failed = exchanges::answer(&mut listen, report) => failed?,
                    () = there(&over) => {}
                },
            }
            there(&over).await;
        }
    }
    Ok(())
}

/// The machine's monotonic clock, which both ends share.
fn now_ns() -> u64 {
    Clock::of_machine().now().as_ns()
}
