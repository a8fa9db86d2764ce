//! Outcome of a transfer, in virtual time or in real time.

use skyhaul_core::{MS, SECOND};
use skyhaul_link::Drops;
use skyhaul_sim::{Ended, Simulation, VERDICTS};

use crate::cells::Cell;

/// Of probing cycles.
pub(crate) const CYCLES: [&str; 4] = ["cycles", "congestion", "link", "aborted"];

/// Outcome of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) payload_bytes: u64,
    /// From the first write until the last byte was delivered in order.
    pub(crate) elapsed_ns: u64,
    /// Segments that either end sent again.
    pub(crate) sent_again: u64,
    /// The shortest round trip that the sender saw; 0: none.
    pub(crate) rtt_min_ns: u64,
    /// Packets that the sender judged lost: by congestion, corruption, outage, unknown.
    pub(crate) verdicts: [u64; 4],
    /// Probing cycles: begun, that found congestion, that found the link at fault, false alarms.
    pub(crate) cycles: [u64; 4],
    /// Packets that the link dropped: on the way out, on the way back.
    pub(crate) drops: [Drops; 2],
}

impl Outcome {
    pub(crate) fn goodput_bps(&self) -> f64 {
        8.0 * self.payload_bytes as f64 * SECOND as f64 / self.elapsed_ns.max(1) as f64
    }
}

/// Outcome of a transfer in virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Simulated {
    pub(crate) outcome: Outcome,
    /// How many mean round trips it took, with the waiting in queues.
    pub(crate) round_trips: f64,
}

/// The transfer in virtual time.
pub(crate) fn simulated(cell: &Cell, seed: u64) -> Result<Simulated, String> {
    let fail = |why: String| format!("{} with seed {seed}, simulated: {why}", cell.name);
    let mut simulation = Simulation::new(&cell.scenario, seed).map_err(|error| fail(error.to_string()))?;
    let ended = simulation.run(&mut skyhaul_core::NullSink);
    let metrics = simulation.measured(ended).map_err(|error| fail(error.to_string()))?.metrics;
    let metric = |name: &str| metrics.get(name).copied().unwrap_or_default();
    if ended != Ended::Done || metric("completed") < 1.0 {
        return Err(fail(format!("it did not come to its end: {ended:?}")));
    }
    let network = simulation.network();
    let link = &network.edges()[0].link;
    let outcome = Outcome {
        payload_bytes: cell.payload_bytes()?,
        elapsed_ns: (metric("elapsed_s") * SECOND as f64).round() as u64,
        sent_again: metric("retransmitted_packets") as u64,
        rtt_min_ns: (metric("rtt_ms.min") * MS as f64).round() as u64,
        verdicts: VERDICTS.map(|verdict| metric(&format!("losses.{verdict}")) as u64),
        cycles: CYCLES.map(|cycles| metric(&format!("probing.{cycles}")) as u64),
        drops: [0, 1].map(|port| link.counters(port, network.now()).dropped),
    };
    let waits_ns = ["forward", "reverse"].map(|way| {
        let name = format!("links.{}.{way}.wait_ms.mean", link.config().name);
        metric(&name) * MS as f64
    });
    let delays_ns = [0, 1].map(|port| link.config().direction(port).delay_ns as f64);
    let round_trip_ns: f64 = delays_ns.iter().chain(&waits_ns).sum();
    Ok(Simulated { outcome, round_trips: outcome.elapsed_ns as f64 / round_trip_ns })
}
