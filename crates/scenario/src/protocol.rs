//! Families of transport protocols: what a scenario file, a simulated host and a measurement need of each,
//! and the register of those that a program knows. Everything else asks a family by these means, never by its
//! name.

mod racer;

pub use racer::{Grounds, RacerEntry};

use std::any::Any;
use std::fmt::{self, Debug};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use skyhaul_core::endpoint::{Endpoint, Hosted};
use skyhaul_core::{
    ConnectError, ConnectionId, Connections, Engine, EventSink, Instant, NetworkFields, SignalNumbers,
    Stream, Transmit, ip_udp_bytes,
};

use crate::ScenarioError;
use crate::keys::TransportTable;
use crate::nearest::did_you_mean;
use crate::page::Page;

/// Headers around each segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// IPv4, UDP and the envelope, as between real endpoints: 29 octets.
    #[default]
    Udp,
    /// IPv4 alone, as in the papers: 20 octets.
    Ip,
    /// Nothing: segments are the frames of a link. No scenario asks for it; families may have no other.
    Bare,
}

impl Carrier {
    /// Headers that are counted, not stored.
    pub fn header_bytes(self) -> u32 {
        match self {
            Self::Udp => ip_udp_bytes([10, 0, 0, 1].into()),
            Self::Ip => 20,
            Self::Bare => 0,
        }
    }

    /// Octets of the envelope in front of every segment.
    pub fn envelope_bytes(self) -> u32 {
        match self {
            Self::Udp => 1,
            Self::Ip | Self::Bare => 0,
        }
    }
}

/// Largest packet of a simulated host, IP header included.
pub const MTU_BYTES: u32 = 1500;

/// Family of transport protocols. To add one is to implement this and to put the value in a [`Register`].
pub trait Protocol: Debug + Send + Sync {
    /// Name, as in `protocol = "stp"`.
    fn name(&self) -> &'static str;

    /// Names of the keys of its `[transports.NAME]`, but for `protocol`.
    fn key_names(&self) -> Vec<&'static str>;

    /// Parameters that a `[transports.NAME]` gives to the end that opens and to the one that accepts.
    fn read(&self, table: &TransportTable<'_>) -> Result<[EndConfig; 2], ScenarioError>;

    /// Sections of the reference about its tables.
    fn describe(&self, page: &mut Page);

    /// Engine of a host.
    fn engine(&self, setup: &HostSetup<'_>) -> Box<dyn HostEngine>;

    /// Headers around its segments in a scenario with this carrier; some protocols are always carried by
    /// IP, or by nothing.
    fn carrier(&self, of_scenario: Carrier) -> Carrier;

    /// Octets that the host puts in front of each of its segments, and takes off again, under this carrier.
    fn envelope_bytes(&self, of_scenario: Carrier) -> u32 {
        self.carrier(of_scenario).envelope_bytes()
    }

    /// Number in the IP header of its packets under this carrier. Where families at one host have one in
    /// common, each packet is for the first whose engine claims it.
    fn number(&self, of_scenario: Carrier) -> u8;

    /// Further number in the IP header, of packets whose engine says so in their fields.
    fn further_number(&self) -> Option<u8> {
        None
    }

    /// True if its engines take streams by description ([`Connections::write_described`]).
    fn takes_descriptions(&self) -> bool {
        false
    }

    /// Smallest header of a segment with data.
    fn header_bytes(&self) -> u32;

    /// Parameters of an end as far as they count where it sends no data: those of its sender alone, like the
    /// controller of its window, are as if nothing had been said.
    fn receiving(&self, config: &EndConfig) -> EndConfig {
        config.clone()
    }

    /// Largest payload of a segment with these parameters, which are its own; the MTU may lower it.
    fn max_payload_bytes(&self, config: &EndConfig) -> u64;

    /// Rate of the path that these parameters declare.
    fn declared_rate_bps(&self, config: &EndConfig) -> Option<u64>;

    /// True if an end with these parameters, which are its own, wants streams to go on behind what is
    /// missing ([`Connections::next_gap`]).
    fn leaves_gaps(&self, config: &EndConfig) -> bool {
        let _ = config; // most families have no such service
        false
    }

    /// True if its senders judge what a loss is due to.
    fn judges_losses(&self) -> bool {
        false
    }

    /// Purpose of a segment by the type bits of its `Sent` event.
    fn purpose(&self, types: u8) -> Purpose {
        let _ = types; // a family without questions and judgements has nothing to tell apart
        Purpose::default()
    }

    /// Label of a segment in a ladder diagram. `first`: number of the first segment with data of its
    /// connection.
    fn label(&self, segment: SentSegment, first: u64) -> SegmentLabel;

    /// Racers of this family, in the order of tables.
    fn racers(&self) -> &'static [RacerEntry] {
        &[]
    }
}

/// Purpose of a segment, for measurements that follow what becomes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purpose {
    /// True if it carries data, whose loss the sender judges.
    pub is_judged_data: bool,
    /// True if it asks or reports, so that its loss is noticed as silence.
    pub is_question_or_report: bool,
    /// True if it asks, so that within a probing cycle it is a probe.
    pub is_question: bool,
}

/// Segment that left, as its `Sent` event tells.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// Type bits.
    pub types: u8,
    /// Packet number field.
    pub number: u64,
    /// Bytes of application data in it.
    pub payload_bytes: u32,
    /// True if its data was sent before.
    pub is_repeat: bool,
}

/// Label of a segment in a ladder diagram, and the word there for its purpose.
pub type SegmentLabel = (String, &'static str);

/// Host that an engine is made for.
#[derive(Clone, Copy, Debug)]
pub struct HostSetup<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// Name of the host, which keys its random streams.
    pub name: &'a str,
    /// Address.
    pub address: IpAddr,
    /// Headers around segments in this scenario.
    pub carrier: Carrier,
    /// Numbers of the signals that it hears of routers.
    pub signals: SignalNumbers,
    /// Parameters of the connections that it accepts; `None`: it accepts none of this family.
    pub accept: Option<&'a EndConfig>,
}

impl HostSetup<'_> {
    /// Random stream of the host's engine, told apart from those of other families by `suffix`.
    pub fn stream(&self, suffix: &str) -> Stream {
        Stream::new(self.seed, &format!("{}{suffix}", self.name))
    }

    /// Parameters of accepted connections, if they are of type `C`.
    pub fn accept<C: 'static>(&self) -> Option<&C> {
        self.accept.and_then(EndConfig::get)
    }
}

/// Engine of a simulated host: an endpoint whose peers are socket addresses, of which a protocol over IP uses
/// the address alone. The contract is that of [`skyhaul_core::Engine`].
pub trait HostEngine: Connections + Debug {
    /// Takes the body of a packet that came from this address.
    fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    );

    /// Takes an ICMP message that came to the host, where its family hears such.
    fn hear(&mut self, now: Instant, message: &[u8], sink: &mut dyn EventSink) {
        let _ = (now, message, sink); // most families hear nothing of routers
    }

    /// True if the body of a packet is for this engine, and not for another one of its protocol number.
    fn claims(&self, from: SocketAddr, fields: NetworkFields, bytes: &[u8]) -> bool {
        let _ = (from, fields, bytes); // a family that has its number alone has nothing to tell apart
        true
    }

    /// Batch of segments that are due, written to `buffer`.
    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>>;

    /// Time at which [`handle_timeout`](Self::handle_timeout) is to be called next.
    fn deadline(&self) -> Option<Instant>;

    /// Fires the timers that are due.
    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink);

    /// Opens a connection to `port` at `remote` with parameters of its family. A protocol whose first segment
    /// can carry data waits with it for the first word of the application.
    fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionId, ConnectError>;

    /// Copy of the engine as it is; `None` if there must be none, as of keys whose numbers are used once.
    fn copied(&self) -> Option<Box<dyn HostEngine>>;

    /// Engine itself, for tests that know its family.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// Way in which an endpoint of type `E` opens a connection, see [`HostEngine::connect`].
pub type Open<E> = fn(&mut E, Instant, SocketAddr, u16, &EndConfig) -> Result<ConnectionId, ConnectError>;

/// Endpoint whose peers are socket addresses already, as the engine of a host.
#[derive(Clone, Debug)]
pub struct Addressed<E> {
    /// Endpoint.
    pub endpoint: E,
    open: Open<E>,
}

impl<E> Addressed<E> {
    /// Engine of this endpoint, which opens connections by `open`.
    pub fn new(endpoint: E, open: Open<E>) -> Self {
        Self { endpoint, open }
    }
}

/// [`Connections`] comes with it.
impl<E: Hosted> Hosted for Addressed<E> {
    type Family = E::Family;

    fn endpoint(&self) -> &Endpoint<E::Family> {
        self.endpoint.endpoint()
    }

    fn endpoint_mut(&mut self) -> &mut Endpoint<E::Family> {
        self.endpoint.endpoint_mut()
    }
}

impl<E: Hosted + Engine<Peer = SocketAddr> + Clone + Debug + 'static> HostEngine for Addressed<E> {
    fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) {
        self.endpoint.handle(now, from, fields, bytes, sink);
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        self.endpoint.poll_transmit(now, buffer, max_segments, sink)
    }

    fn deadline(&self) -> Option<Instant> {
        self.endpoint.deadline()
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.endpoint.handle_timeout(now, sink);
    }

    fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionId, ConnectError> {
        (self.open)(&mut self.endpoint, now, remote, port, config)
    }

    fn copied(&self) -> Option<Box<dyn HostEngine>> {
        Some(Box::new(self.clone()))
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Values of the parameters of an end: a family's own type.
trait Values: Any + Debug + Send + Sync {
    fn boxed(&self) -> Box<dyn Values>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<C: Any + Debug + Clone + Send + Sync> Values for C {
    fn boxed(&self) -> Box<dyn Values> {
        Box::new(self.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Parameters of one end of a flow, and the family that they belong to.
pub struct EndConfig {
    protocol: &'static dyn Protocol,
    values: Box<dyn Values>,
}

impl EndConfig {
    /// These parameters of this family.
    pub fn new<C: Any + Debug + Clone + Send + Sync>(protocol: &'static dyn Protocol, values: C) -> Self {
        Self { protocol, values: Box::new(values) }
    }

    /// Family that they belong to.
    pub fn protocol(&self) -> &'static dyn Protocol {
        self.protocol
    }

    /// Parameters, if they are of type `C`.
    pub fn get<C: 'static>(&self) -> Option<&C> {
        (*self.values).as_any().downcast_ref()
    }

    /// Parameters, if they are of type `C`, to be changed.
    pub fn get_mut<C: 'static>(&mut self) -> Option<&mut C> {
        (*self.values).as_any_mut().downcast_mut()
    }

    /// Size of a full packet with the headers around it, in a scenario with this carrier.
    pub fn max_packet_bytes(&self, of_scenario: Carrier) -> u64 {
        let around = around_bytes(self.protocol, of_scenario);
        (self.protocol.max_payload_bytes(self) + u64::from(around)).min(u64::from(MTU_BYTES))
    }
}

/// All headers of a packet of this family, options and the like not counted.
pub(crate) fn around_bytes(protocol: &dyn Protocol, of_scenario: Carrier) -> u32 {
    let carrier = protocol.carrier(of_scenario);
    carrier.header_bytes() + protocol.envelope_bytes(of_scenario) + protocol.header_bytes()
}

/// Payload of a full packet of this family, where it has its ordinary carrier.
pub fn payload_per_packet(protocol: &dyn Protocol) -> u64 {
    u64::from(MTU_BYTES.saturating_sub(around_bytes(protocol, Carrier::Udp)))
}

impl Clone for EndConfig {
    fn clone(&self) -> Self {
        Self { protocol: self.protocol, values: (*self.values).boxed() }
    }
}

/// All parameters: what digests of scenarios are made of.
impl Debug for EndConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(&format!("{:?}", self.protocol)).field(&self.values).finish()
    }
}

/// Families of protocols that a program knows. The first is that of a table that names none.
#[derive(Clone, Debug, Default)]
pub struct Register(Arc<[&'static dyn Protocol]>);

impl Register {
    /// These families; their names differ.
    pub fn new(protocols: &[&'static dyn Protocol]) -> Self {
        Self(protocols.into())
    }

    /// Family that tables which name none belong to; `None`: the register is empty.
    pub fn first(&self) -> Option<&'static dyn Protocol> {
        self.0.first().copied()
    }

    /// All families, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Protocol> {
        self.0.iter().copied()
    }

    /// Family of this name, or a hint at one that was meant.
    pub fn find(&self, name: &str) -> Result<&'static dyn Protocol, String> {
        let found = self.iter().find(|protocol| protocol.name() == name);
        found.ok_or_else(|| did_you_mean(name, self.iter().map(Protocol::name)))
    }

    /// Names, in words: `"stp" or "tcp"`.
    pub(crate) fn allowed(&self) -> String {
        let names: Vec<String> = self.iter().map(|protocol| format!("\"{}\"", protocol.name())).collect();
        names.join(" or ")
    }
}
