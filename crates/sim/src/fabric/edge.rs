//! Edge of a network: a link, the layer above it if there is one, and the nodes at its ends.

use skyhaul_core::{EventSink, Instant, Packet};
use skyhaul_link::{Arq, Link, LinkCounters};
use skyhaul_scenario::LinkBetween;

use super::RunError;

/// Edge of a network: a link with the nodes at its ports.
#[derive(Debug)]
pub struct Edge {
    /// The link.
    pub link: Link,
    /// Numbers of the nodes at port 0 and port 1.
    pub ends: [u32; 2],
    /// Link layer that repeats what the link loses.
    pub(super) arq: Option<Box<Arq>>,
}

impl Edge {
    /// Edge with this number, at time zero.
    pub(super) fn new(spec: &LinkBetween, seed: u64, index: u64) -> Result<Self, RunError> {
        let refused = |error: String| RunError(format!("link {}: {error}", spec.config.name));
        let link = Link::new(spec.config.clone(), seed, index).map_err(|error| refused(error.to_string()))?;
        let arq = match spec.arq {
            Some(arq) => {
                arq.validate(&spec.config).map_err(refused)?;
                Some(Box::new(Arq::new(arq, &spec.config)))
            }
            None => None,
        };
        Ok(Self { link, ends: spec.ends.map(|node| node as u32), arq })
    }

    /// A packet enters at the port `port` of this edge, which has the number `index`.
    #[inline]
    pub(super) fn enter(
        &mut self,
        now: Instant,
        [index, port]: [u32; 2],
        packet: Box<Packet>,
        sink: &mut dyn EventSink,
    ) {
        if let Some(arq) = &mut self.arq {
            return arq.handle(now, port, *packet, &mut self.link, (u64::from(index), sink));
        }
        self.link.enter(now, port, packet, sink);
    }

    /// Has a layer that repeats take in the frames that are due, and send. The number of frames, as
    /// [`Arq::work`] counts them.
    #[inline]
    pub(super) fn work(&mut self, now: Instant) -> u64 {
        self.arq.as_mut().map_or(0, |arq| arq.work(now, &mut self.link))
    }

    /// Next packet that leaves now, and its port, after [`work`](Self::work).
    #[inline]
    pub(super) fn poll(&mut self, now: Instant) -> Option<(u32, Box<Packet>)> {
        if let Some(arq) = &mut self.arq {
            let port = arq.due_port()?;
            return Some((port, Box::new(arq.take_due(port)?)));
        }
        self.link.poll(now)
    }

    /// When something happens here next.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let link_at = self.link.deadline();
        if let Some(arq) = &self.arq {
            return link_at.into_iter().chain(arq.deadline()).min();
        }
        link_at
    }

    /// Totals of what entered at `port`: of the link, which counts the PDUs of a layer that repeats, and the
    /// packets that this layer had no room for.
    pub fn counters(&self, port: u32, now: Instant) -> LinkCounters {
        let mut counters = self.link.counters(port, now);
        if let Some(arq) = &self.arq {
            counters.entered_packets += arq.dropped_packets(port);
            counters.dropped.queue_full += arq.dropped_packets(port);
        }
        counters
    }
}
