//! One bulk transfer over one link, measured.

use std::fmt;
use std::net::SocketAddr;

use skyhaul_core::{EventSink, Instant, SECOND, Stream};
use skyhaul_link::{Counters, Link, LinkConfig};
use skyhaul_stp::{Config, Endpoint, EndpointConfig, ProbingConfig, Stats};

use crate::apps::{BulkReceiver, BulkSender};
use crate::host::{ENVELOPE_BYTES, Host};
use crate::pair::{Ended, Pair};
use crate::share::limit_bytes;

/// Source of the link's events.
pub const LINK_SOURCE: u64 = u64::MAX;
/// STP port of simulated receivers.
const PORT: u16 = 4;

/// What to simulate.
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

/// What came of it.
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
    pub link: [Counters; 2],
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

/// Why a simulated transfer did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferError(pub String);

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TransferError {}

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

    /// The two hosts and the link, ready to run.
    pub fn build(&self) -> Result<Pair, TransferError> {
        let link =
            Link::new(self.link.clone(), self.seed, LINK_SOURCE).map_err(|e| TransferError(e.to_string()))?;
        let addresses: [SocketAddr; 2] =
            [SocketAddr::from(([10, 0, 0, 1], 4000)), SocketAddr::from(([10, 0, 0, 2], 4000))];
        let endpoint = |name: &str, accept: &Config| {
            let config = EndpointConfig {
                accept: accept.clone(),
                head_bytes: ENVELOPE_BYTES,
                ..EndpointConfig::default()
            };
            Endpoint::new(config, Stream::new(self.seed, name))
        };
        let sender = BulkSender::new(addresses[1], PORT, self.sender.clone(), self.bytes, self.seed);
        let receiver = BulkReceiver::new(PORT, self.seed);
        let hosts = [
            Host::new(endpoint("sender", &self.sender), addresses[0], Box::new(sender)),
            Host::new(endpoint("receiver", &self.receiver), addresses[1], Box::new(receiver)),
        ];
        Ok(Pair::new(hosts, link))
    }

    /// Runs it.
    pub fn run(&self, sink: &mut dyn EventSink) -> Result<Outcome, TransferError> {
        let mut pair = self.build()?;
        let ended = pair.run(Instant::from_ns(self.max_ns), sink);
        self.outcome(&pair, ended)
    }

    fn outcome(&self, pair: &Pair, ended: Ended) -> Result<Outcome, TransferError> {
        let fail = |why: String| TransferError(format!("seed {}: {why} at {:?}", self.seed, pair.now()));
        for (host, role) in pair.hosts.iter().zip(["sender", "receiver"]) {
            if let Some(why) = host.app.failure() {
                return Err(fail(format!("{role}: {why}")));
            }
        }
        let (Some(sender), Some(receiver)) = (
            pair.hosts[0].app.as_any().downcast_ref::<BulkSender>(),
            pair.hosts[1].app.as_any().downcast_ref::<BulkReceiver>(),
        ) else {
            return Err(fail("other applications than expected".into()));
        };
        if ended != Ended::Done || receiver.wrong != 0 || receiver.received != self.bytes {
            let (received, wrong) = (receiver.received, receiver.wrong);
            return Err(fail(format!("{ended:?} with {received} of {} bytes, {wrong} wrong", self.bytes)));
        }
        let start = sender.started_at.unwrap_or(Instant::ZERO);
        let end = receiver.last_byte_at.unwrap_or(start);
        let stats =
            |host: &Host, id: Option<u64>| id.and_then(|id| host.endpoint.stats(id)).unwrap_or_default();
        Ok(Outcome {
            elapsed_ns: end.since(start),
            confirmed_ns: sender.confirmed_at.unwrap_or(end).since(start),
            limit_bytes: limit_bytes(&self.link, self.seed, start, end),
            bytes: self.bytes,
            sender: stats(&pair.hosts[0], sender.id),
            receiver: stats(&pair.hosts[1], receiver.id),
            link: [0, 1].map(|port| pair.link.counters(port, pair.now())),
        })
    }
}
