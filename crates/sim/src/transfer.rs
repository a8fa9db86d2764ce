//! One bulk transfer over one link, measured: the smallest scenario.

use skyhaul_core::{EventSink, Instant, SECOND, Stats};
use skyhaul_link::{LinkConfig, LinkCounters};
use skyhaul_stp::{Config, ProbingConfig};

use crate::fabric::RunError;
use crate::measure::flows_at;
use crate::network::Ended;
use crate::protocols::STP;
use crate::share::limit_bytes;
use crate::simulate::Simulation;
use crate::source::Source;
use skyhaul_scenario::{Flow, LinkBetween, Node, NodeKind, Scenario, Stop, Transport, Workload};

/// Bytes that the application writes at a time.
const CHUNK_BYTES: u64 = 16 * 1024;

/// Transfer to be simulated.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The link; the sender is at port 0.
    pub link: LinkConfig,
    /// Seed of everything random.
    pub seed: u64,
    /// Payload.
    pub bytes: u64,
    /// Sender's parameters.
    pub sender: Config,
    /// Receiver's parameters.
    pub receiver: Config,
    /// Longest virtual time.
    pub max_ns: u64,
}

/// Outcome of a transfer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// First write to last byte in order.
    pub elapsed_ns: u64,
    /// First write to confirmation at the sender.
    pub confirmed_ns: u64,
    /// Payload that the link could have carried in that time ([`limit_bytes`]); `None`: no rate.
    pub limit_bytes: Option<u64>,
    /// Payload.
    pub bytes: u64,
    /// Sender's counters.
    pub sender: Stats,
    /// Receiver's counters.
    pub receiver: Stats,
    /// The link's counters, forward and reverse.
    pub link: [LinkCounters; 2],
}

impl Outcome {
    /// Payload bits per second.
    pub fn goodput_bps(&self) -> f64 {
        self.bytes as f64 * 8.0 * SECOND as f64 / self.elapsed_ns as f64
    }

    /// Share of the physical limit; the last one-way delay does not count against the transport.
    pub fn share(&self) -> Option<f64> {
        self.limit_bytes.map(|limit| self.bytes as f64 / limit as f64)
    }
}

impl Transfer {
    /// A transfer with both ends in the `default` profile and a day of virtual time.
    pub fn new(link: LinkConfig, seed: u64, bytes: u64) -> Self {
        let standard = Config::standard();
        Self { link, seed, bytes, sender: standard.clone(), receiver: standard, max_ns: 86_400 * SECOND }
    }

    /// Declares the path's rate to the sender.
    #[must_use]
    pub fn with_rate(mut self, rate_bps: u64) -> Self {
        self.sender.rate_bps = Some(rate_bps);
        self
    }

    /// With or without probing by the sender.
    #[must_use]
    pub fn with_probing(mut self, on: bool) -> Self {
        self.sender.probing = on.then(ProbingConfig::standard);
        self
    }

    /// Scenario of the transfer: host 0 sends, host 1 receives.
    pub fn scenario(&self) -> Scenario {
        let node = |name: &str| Node { name: name.into(), kind: NodeKind::Host, signals: None };
        let flow = Flow {
            name: "transfer".into(),
            from: 0,
            to: 1,
            count: 1,
            start_ns: 0,
            stagger_ns: 0,
            weight: skyhaul_core::Weight::ONE,
            transport: Transport {
                name: "stp".into(),
                opener: STP.end(self.sender.clone()),
                acceptor: STP.end(self.receiver.clone()),
            },
            via: Vec::new(),
            end_to_end: None,
            workload: Workload::Bulk { bytes: Some(self.bytes), chunk_bytes: CHUNK_BYTES, rate_bps: None },
        };
        Scenario {
            name: "transfer".into(),
            nodes: vec![node("sender"), node("receiver")],
            links: vec![LinkBetween { config: self.link.clone(), ends: [0, 1], arq: None }],
            flows: vec![flow],
            stop: Stop { duration_ns: Some(self.max_ns), ..Stop::default() },
            ..Scenario::default()
        }
    }

    /// Runs it.
    pub fn run(&self, sink: &mut dyn EventSink<Source>) -> Result<Outcome, RunError> {
        let scenario = self.scenario();
        let mut simulation = Simulation::new(&scenario, self.seed)?;
        let ended = simulation.run(sink);
        self.outcome(&simulation, ended)
    }

    fn outcome(&self, simulation: &Simulation<'_>, ended: Ended) -> Result<Outcome, RunError> {
        let network = simulation.network();
        let fail = |why: String| RunError(format!("seed {}: {why} at {:?}", self.seed, network.now()));
        let flows = flows_at(simulation.scenario(), network);
        let [flow] = &flows[..] else { return Err(fail("not one flow".into())) };
        let [Some(sender), Some(receiver)] = flow.records else { return Err(fail("not two ends".into())) };
        for (record, role) in [(sender, "sender"), (receiver, "receiver")] {
            if let Some(why) = &record.failure {
                return Err(fail(format!("{role}: {why}")));
            }
        }
        let (received, wrong) = (receiver.received_bytes, receiver.wrong_bytes);
        if ended != Ended::Done || wrong != 0 || received != self.bytes {
            return Err(fail(format!("{ended:?} with {received} of {} bytes, {wrong} wrong", self.bytes)));
        }
        let start = sender.started_at.unwrap_or(Instant::ZERO);
        let end = receiver.last_byte_at.unwrap_or(start);
        let link = &network.edges()[0].link;
        Ok(Outcome {
            elapsed_ns: end.since(start),
            confirmed_ns: sender.confirmed_at.unwrap_or(end).since(start),
            limit_bytes: limit_bytes(&STP, &self.link, self.seed, 0, start, end),
            bytes: self.bytes,
            sender: flow.opener,
            receiver: flow.acceptor,
            link: [0, 1].map(|port| link.counters(port, network.now())),
        })
    }
}
