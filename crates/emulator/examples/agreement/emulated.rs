//! A transfer in real time, over the emulated links.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use skyhaul_core::{Instant, MS, SECOND, Stats};
use skyhaul_emulator::{Addresses, Emulation, HostAddress};
use skyhaul_net::{Clock, LatenessReport};
use skyhaul_scenario::Scenario;
use tokio::sync::Barrier;

use crate::cells::Cell;
use crate::ends::{Done, Task, joined};
use crate::outcome::Outcome;
use crate::{stp, tcp};

/// An end that stands still for longer, or begins so much later, does what no engine would. Shorter pauses
/// are no excuse: a bound of 1 % is hundreds of milliseconds.
const MAX_STALL_NS: u64 = 10 * MS;
/// Where the scenario has no limit.
const PATIENCE_NS: u64 = 600 * SECOND;

/// How a transfer in real time went.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) outcome: Outcome,
    /// Of packets that leave the links.
    pub(crate) lateness: LatenessReport,
    /// The longest of either end.
    pub(crate) stall_ns: u64,
    /// Why it does not count, if that is so.
    pub(crate) disturbance: Option<String>,
}

/// A transfer to be made in real time.
pub(crate) struct Trial<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) task: Task,
    addresses: Arc<Addresses>,
}

/// The transfer in real time.
pub(crate) fn emulated(cell: &Cell, seed: u64) -> Result<Course, String> {
    let trial = Trial::new(cell, seed)?;
    let transport = &cell.scenario.flows[0].transport;
    let [opener, acceptor] = [&transport.opener, &transport.acceptor];
    let course = if let (Some(opener), Some(acceptor)) = (opener.get::<skyhaul_stp::Config>(), acceptor.get())
    {
        stp::run(&trial, opener.clone(), acceptor)
    } else if let (Some(opener), Some(acceptor)) = (opener.get::<skyhaul_tcp::Config>(), acceptor.get()) {
        tcp::run(&trial, opener.clone(), acceptor)
    } else {
        return Err(format!("{}: both ends speak one protocol", cell.name));
    };
    course.map_err(|error| format!("{} with seed {seed}, emulated: {error}", cell.name))
}

impl<'a> Trial<'a> {
    fn new(cell: &'a Cell, seed: u64) -> Result<Self, String> {
        let patience_ns = cell.scenario.stop.duration_ns.unwrap_or(PATIENCE_NS);
        let task = Task {
            clock: Clock::start(),
            payload_bytes: cell.payload_bytes()?,
            patience: Duration::from_nanos(patience_ns),
            parting: Arc::new(Barrier::new(2)),
        };
        let addresses = Arc::new(Addresses::new(&cell.scenario));
        Ok(Self { scenario: &cell.scenario, seed, task, addresses })
    }

    pub(crate) fn addresses(&self) -> Arc<Addresses> {
        Arc::clone(&self.addresses)
    }

    /// The sender and the receiver.
    pub(crate) fn hosts(&self) -> [HostAddress; 2] {
        let flow = &self.scenario.flows[0];
        [flow.from, flow.to].map(|node| {
            let hosts = self.addresses.hosts();
            let host = hosts.iter().find(|host| host.node as usize == node);
            host.cloned().expect("flows begin and end at hosts")
        })
    }

    /// When the flow starts, as the ends tell time: outages are so far from it as in the simulator.
    pub(crate) fn start(&self, emulation: &Emulation) -> Instant {
        emulation.clock().translate(Instant::from_ns(self.scenario.flows[0].start_ns), self.task.clock)
    }

    /// Waits for the ends, and says how it went.
    pub(crate) fn finish(
        &self,
        emulation: &Emulation,
        start: Instant,
        sender: JoinHandle<io::Result<Done>>,
        receiver: JoinHandle<io::Result<Done>>,
    ) -> io::Result<Course> {
        let (sent, received) = (joined("sender", sender), joined("receiver", receiver));
        let report = emulation.stop();
        let (sent, received) = (sent?, received?);
        let late_ns = sent.at.since(start);
        let stall_ns = sent.stall_ns.max(received.stall_ns);
        let outcome = Outcome {
            payload_bytes: self.task.payload_bytes,
            elapsed_ns: received.at.since(sent.at),
            sent_again: sent.stats.retransmitted_packets + received.stats.retransmitted_packets,
            rtt_min_ns: sent.stats.rtt_min_ns.unwrap_or_default(),
            verdicts: sent.stats.lost_packets,
            cycles: cycles(&sent.stats),
            drops: report.links[0].directions.map(|counters| counters.dropped),
        };
        let disturbance = report.warning().or_else(|| disturbance(stall_ns, late_ns));
        Ok(Course { outcome, lateness: report.lateness, stall_ns, disturbance })
    }
}

fn cycles(stats: &Stats) -> [u64; 4] {
    [stats.probe_cycles, stats.probe_congestion, stats.probe_link, stats.probe_aborted]
}

/// Remark on an end that stood still for so long, and on a start that was so late.
pub(crate) fn disturbance(stall_ns: u64, late_ns: u64) -> Option<String> {
    let ms = |ns: u64| ns as f64 / MS as f64;
    let stall = (stall_ns > MAX_STALL_NS).then(|| format!("an end stood still for {:.1} ms", ms(stall_ns)));
    stall.or_else(|| (late_ns > MAX_STALL_NS).then(|| format!("it began {:.1} ms too late", ms(late_ns))))
}
