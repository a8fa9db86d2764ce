//! Signals of a router about the links at it [SCPS-TP 3.1]: of damage to whom packets go, of outages to those
//! that they come from. A state machine beside the links: it is told what passes, and says what is to be
//! sent. Whoever runs it makes packets of that.

mod damage;
mod flow;
mod outage;
#[cfg(test)]
mod signals_tests;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use bytes::Bytes;
use core::fmt;
use core::net::IpAddr;
use skyhaul_core::event::RouterSignal;
use skyhaul_core::{Instant, MS, SECOND, SignalNumbers};

use crate::Conditions;
use damage::DamageWatch;
use flow::Flow;
use outage::OutageWatch;

/// Parameters of a router that sends signals.
#[derive(Clone, Copy, PartialEq)]
pub struct SignalConfig {
    /// Average share of damaged packets above which a link damages packets, 0 to 1 [SCPS-TP 3.1.2].
    pub damage_threshold: f64,
    /// Weight of the newest packet in that average, 0 to 1.
    pub damage_weight: f64,
    /// Flows remembered of each link, and as many that were told of its outage; beyond, the one that was seen
    /// longest ago is forgotten, and of an outage no further one is told.
    pub max_destinations: u32,
    /// Time after which a flow without packets is forgotten, in nanoseconds.
    pub destination_age_ns: u64,
    /// Time for which a link must be down until the router sees it, in nanoseconds.
    pub outage_delay_ns: u64,
    /// Time for which it must be up until the router sees that, in nanoseconds.
    pub restored_delay_ns: u64,
    /// Least time between two messages of a kind to a flow, in nanoseconds.
    pub interval_ns: u64,
    /// Types and codes of its messages.
    pub numbers: SignalNumbers,
}

impl fmt::Debug for SignalConfig {
    /// Text that digests of scenarios are made of: numbers came later, and are shown where they are others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("SignalConfig");
        text.field("damage_threshold", &self.damage_threshold)
            .field("damage_weight", &self.damage_weight)
            .field("max_destinations", &self.max_destinations)
            .field("destination_age_ns", &self.destination_age_ns)
            .field("outage_delay_ns", &self.outage_delay_ns)
            .field("restored_delay_ns", &self.restored_delay_ns)
            .field("interval_ns", &self.interval_ns);
        if self.numbers != SignalNumbers::default() {
            text.field("numbers", &self.numbers);
        }
        text.finish()
    }
}

impl Default for SignalConfig {
    /// An average over some 50 packets, and one damaged packet alone is above the threshold: with an average
    /// that only later ones lift, the first losses are answered as congestion before anybody is told. The
    /// paper has no numbers.
    fn default() -> Self {
        Self {
            damage_threshold: 0.01,
            damage_weight: 0.02,
            max_destinations: 256,
            destination_age_ns: 60 * SECOND,
            outage_delay_ns: 0,
            restored_delay_ns: 0,
            interval_ns: 50 * MS,
            numbers: SignalNumbers::default(),
        }
    }
}

/// Packet that passes a router, as the router looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// Nodes that it comes from and goes to.
    pub nodes: [u32; 2],
    /// Its addresses: source and destination.
    pub addresses: [IpAddr; 2],
    /// Its IP protocol.
    pub protocol: u8,
    /// Its octets behind the IP header; of data that stands in it by description only the description.
    pub segment: Bytes,
    /// How many octets those are on the wire.
    pub segment_bytes: usize,
}

/// Message that a router sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalMessage {
    /// What it says.
    pub kind: RouterSignal,
    /// Node that it goes to: the destination of the packet that it is about with word of damage, else the
    /// source.
    pub to: u32,
    /// Address that it goes to.
    pub to_address: IpAddr,
    /// Addresses of that packet: source and destination.
    pub addresses: [IpAddr; 2],
    /// IP protocol of that packet.
    pub protocol: u8,
    /// Its beginning behind the IP header, which holds its whole transport header.
    pub quote: Quote,
}

/// Beginning of a packet as a message quotes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// It shares the octets of the packet.
    shared: Bytes,
    /// How many octets it has: more than are shared where data stands in the packet by description.
    quoted_bytes: usize,
}

/// Octets of a packet that are quoted: the longest header of TCP has 60, the longest compressed one 66.
const QUOTED_BYTES: usize = 68;

impl Quote {
    fn of(packet: &Passing) -> Self {
        let quoted_bytes = packet.segment_bytes.min(QUOTED_BYTES);
        let shared = packet.segment.slice(..packet.segment.len().min(quoted_bytes));
        Self { shared, quoted_bytes }
    }

    /// Its octets: 0 for data by description, which nobody reads here.
    pub fn octets(&self) -> Vec<u8> {
        let mut octets = self.shared.to_vec();
        octets.resize(self.quoted_bytes, 0);
        octets
    }
}

fn message(kind: RouterSignal, flow: &Flow, quote: Quote) -> SignalMessage {
    let end = usize::from(kind == RouterSignal::CorruptionExperienced);
    SignalMessage {
        kind,
        to: flow.nodes[end],
        to_address: flow.addresses[end],
        addresses: flow.addresses,
        protocol: flow.protocol,
        quote,
    }
}

/// Signals of one router.
#[derive(Clone, Debug)]
pub struct Signals {
    config: SignalConfig,
    /// By the number of the link that packets come by.
    damage: BTreeMap<u32, DamageWatch>,
    /// By that of the link that they are to take.
    outages: BTreeMap<u32, OutageWatch>,
}

impl Signals {
    /// Signals of a router that nothing has passed yet.
    pub fn new(config: SignalConfig) -> Self {
        Self { config, damage: BTreeMap::new(), outages: BTreeMap::new() }
    }

    /// A packet came out of a link, behind `damaged` ones that were discarded since the one before it. Of
    /// `None` the router can read no more than that it is sound. What is to be sent is added to `out`.
    pub fn arrived(
        &mut self,
        now: Instant,
        link: u32,
        damaged: u64,
        packet: Option<&Passing>,
        out: &mut Vec<SignalMessage>,
    ) {
        let watch = self.damage.entry(link).or_default();
        watch.arrived(now, damaged, packet, &self.config, out);
    }

    /// A packet is about to enter a link; `None` as with [`arrived`](Self::arrived).
    pub fn leaves(
        &mut self,
        now: Instant,
        link: u32,
        conditions: &Conditions,
        packet: Option<&Passing>,
        out: &mut Vec<SignalMessage>,
    ) {
        let watch = self.outages.entry(link).or_default();
        watch.look(now, conditions, &self.config, out);
        if let Some(packet) = packet {
            watch.leaves(now, packet, &self.config, out);
        }
    }

    /// Links whose end of an outage is waited for.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.outages.iter().filter(|(_, watch)| watch.is_down()).map(|(&link, _)| link)
    }

    /// Looks at such a link: those that were told of its outage are told that it is back, if it is. To be
    /// called at [`deadline`](Self::deadline), and when somebody has changed the link.
    pub fn look(&mut self, now: Instant, link: u32, conditions: &Conditions, out: &mut Vec<SignalMessage>) {
        if let Some(watch) = self.outages.get_mut(&link) {
            watch.look(now, conditions, &self.config, out);
        }
    }

    /// Next time to look at the links that are waited for.
    pub fn deadline(&self) -> Option<Instant> {
        self.outages.values().filter_map(OutageWatch::look_at).min()
    }
}
