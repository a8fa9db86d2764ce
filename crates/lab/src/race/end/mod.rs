//! One end of one run in real time, in whatever network namespace its process was started.

mod bulk;
mod dial;
mod exchanges;
mod keys;
mod own_host;
mod report;
mod snmp;
mod stream;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

pub use report::{EndCounters, EndReport, Own};

use super::plan::{RacePlan, Work};
use super::racer::Racer;
pub(super) use dial::Player;
use dial::{Dial, Listen};
use report::now_ns;

/// Time for what the sending end, which knows that everything has arrived, still has to say.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Time by which the other end is over, or whoever started both has ended them.
const LONGEST_OTHER: Duration = Duration::from_secs(10);
/// Time between two looks for a file.
const NAP: Duration = Duration::from_millis(2);
/// File that the serving end makes when it listens.
const READY: &str = "ready";
/// File that is made when the sending end is over: until then the serving end answers repeats.
const OVER: &str = "over";

/// Part of an end in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the file; asks.
    Send,
    /// Receives it; answers.
    Serve,
}

/// Order for one end of a run.
#[derive(Clone, Copy, Debug)]
pub struct EndOrder<'a> {
    /// Racer of the run.
    pub racer: Racer,
    /// The transfer, or exchanges.
    pub work: Work,
    /// Time after which the end gives up.
    pub limit_ns: u64,
    /// Part of this end.
    pub role: Role,
    /// Address at which the serving end listens.
    pub at: SocketAddr,
    /// Address of the sending end.
    pub from: IpAddr,
    /// Folder in which both ends and whoever starts them tell each other what has happened, by files.
    pub signs: &'a Path,
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

/// Does the work of one end, to its end or to the limit of time, and reports on it.
pub async fn run_end(plan: &RacePlan, order: &EndOrder<'_>) -> EndReport {
    let limit = Duration::from_nanos(order.limit_ns);
    let mut report = EndReport::default();
    // What the work has come to so far is there whatever ends it.
    let (ended, ended_at_ns) = {
        let mut work = pin!(work(order, plan, &mut report));
        let ended = tokio::time::timeout(limit, &mut work).await;
        let ended_at_ns = now_ns();
        if ended.is_err() && order.role == Role::Serve {
            // Began before the other end, so its time is over first: gone, it would look like a failure
            // there.
            let _ = tokio::time::timeout(LONGEST_OTHER, there(&order.signs.join(OVER))).await;
        }
        (ended, ended_at_ns)
    };
    report.ended_at_ns = ended_at_ns;
    if let Ok(Err(error)) = ended {
        report.error = Some(error.to_string());
    }
    report
}

async fn work(order: &EndOrder<'_>, plan: &RacePlan, report: &mut EndReport) -> io::Result<()> {
    let transport = plan.transport(order.racer);
    match order.role {
        Role::Send => {
            let player = Player::new(order.racer, &transport.opener).map_err(io::Error::other)?;
            let dial = Dial::new(player, order.at, order.signs)?;
            match order.work {
                Work::Bulk => bulk::send(&dial, plan, report).await?,
                Work::Exchanges { keep } => exchanges::ask(&dial, plan, keep, report).await?,
            }
            dial.wait(LAST_WORDS).await;
        }
        Role::Serve => {
            let player = Player::new(order.racer, &transport.acceptor).map_err(io::Error::other)?;
            let mut listen = Listen::new(player, order.at, (order.from, order.signs))?;
            std::fs::write(order.signs.join(READY), "")?;
            let over = order.signs.join(OVER);
            match order.work {
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
