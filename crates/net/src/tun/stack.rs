//! The host's IP layer without a device: what to make of a packet that arrived, and what to answer.

use std::collections::VecDeque;
use std::net::IpAddr;

use skyhaul_core::ip::{self, Header, Refused};
use skyhaul_core::packet::ip_protocol::{COMPRESSED_TCP, TCP};
use skyhaul_core::{Instant, NetworkFields, Pacer, SECOND};
use skyhaul_tcp::SignalNumbers;
use skyhaul_tcp::icmp::{Family, Quoted, report};
use skyhaul_tcp::segment::Way;

use super::TunCounters;
use super::icmp;

/// Answers that wait for the device.
const MAX_REPLIES: usize = 64;
/// Reports that nobody takes a packet, a second; as many at once after a silence [RFC 1812 4.3.2.8].
const MAX_REPORTS_PER_S: u64 = 10;

/// Packet that arrived, by its kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival<'a> {
    /// For TCP, with its own header or a compressed one.
    Segment { way: Way, fields: NetworkFields, bytes: &'a [u8] },
    /// Word about a segment that we sent, or that was on its way here.
    Report(Quoted<'a>),
    /// Dealt with, or dropped and counted.
    Nothing,
}

/// The IP layer of a host.
#[derive(Debug)]
pub(super) struct Stack {
    addresses: Vec<IpAddr>,
    replies: VecDeque<Vec<u8>>,
    signals: SignalNumbers,
    /// A byte stands for a report.
    limit: Pacer,
}

impl Stack {
    pub(super) fn new(addresses: Vec<IpAddr>, signals: SignalNumbers) -> Self {
        let limit = Pacer::new(8 * MAX_REPORTS_PER_S, SECOND);
        Self { addresses, replies: VecDeque::new(), signals, limit }
    }

    /// The next packet to send in answer to one that arrived.
    pub(super) fn poll_reply(&mut self) -> Option<Vec<u8>> {
        self.replies.pop_front()
    }

    /// Takes what the device gave; segments with compressed headers where somebody `takes_compressed` ones.
    pub(super) fn receive<'a>(
        &mut self,
        now: Instant,
        packet: &'a [u8],
        takes_compressed: bool,
        counters: &mut TunCounters,
    ) -> Arrival<'a> {
        let header = match ip::parse(packet) {
            Ok(header) => header,
            Err(refused) => {
                *counter(counters, refused) += 1;
                return Arrival::Nothing;
            }
        };
        if !self.addresses.contains(&header.destination) {
            counters.strays += 1;
            return Arrival::Nothing;
        }
        if !self.may_send(header.source) {
            counters.bad_sources += 1;
            return Arrival::Nothing;
        }
        let body = &packet[header.body.clone()];
        let family = Family::of(header.source);
        match header.fields.protocol {
            protocol if protocol == TCP || protocol == COMPRESSED_TCP && takes_compressed => {
                Arrival::Segment {
                    way: Way { local: header.destination, remote: header.source },
                    fields: header.fields,
                    bytes: body,
                }
            }
            protocol if protocol == family.protocol() => self.hear(&header, body, counters),
            _ => {
                counters.unknown_protocols += 1;
                self.report_unreachable(now, &header, packet, counters);
                Arrival::Nothing
            }
        }
    }

    /// True if a host may have this address [RFC 1122 3.2.1.3].
    fn may_send(&self, source: IpAddr) -> bool {
        let is_broadcast = matches!(source, IpAddr::V4(v4) if v4.is_broadcast());
        let is_no_host = source.is_unspecified() || source.is_multicast() || source.is_loopback();
        !is_broadcast && !is_no_host && !self.addresses.contains(&source)
    }

    fn hear<'a>(&mut self, header: &Header, message: &'a [u8], counters: &mut TunCounters) -> Arrival<'a> {
        if !icmp::is_intact(header, message) {
            counters.malformed += 1;
            return Arrival::Nothing;
        }
        if let Some(reply) = icmp::echo_reply(header, message) {
            counters.echoes += u64::from(self.reply(reply));
            return Arrival::Nothing;
        }
        match report(Family::of(header.source), message, &self.signals) {
            // We do not forward: only what we sent, or were to get, can be reported to us.
            Some(quoted) if self.addresses.contains(&quoted.way.local) => {
                counters.reports += 1;
                Arrival::Report(quoted)
            }
            _ => {
                counters.unheard += 1;
                Arrival::Nothing
            }
        }
    }

    fn report_unreachable(
        &mut self,
        now: Instant,
        header: &Header,
        packet: &[u8],
        counters: &mut TunCounters,
    ) {
        let may = self.limit.is_ready(now) && self.reply(icmp::unreachable(header, packet));
        if may {
            self.limit.spend(now, 1);
            counters.unreachable_sent += 1;
        } else {
            counters.unreachable_withheld += 1;
        }
    }

    /// False if too many wait already.
    fn reply(&mut self, packet: Vec<u8>) -> bool {
        let has_room = self.replies.len() < MAX_REPLIES;
        if has_room {
            self.replies.push_back(packet);
        }
        has_room
    }
}

fn counter(counters: &mut TunCounters, refused: Refused) -> &mut u64 {
    match refused {
        Refused::Malformed => &mut counters.malformed,
        Refused::Fragment => &mut counters.fragments,
        Refused::Unsupported => &mut counters.unsupported,
    }
}
