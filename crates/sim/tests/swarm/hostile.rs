//! A third party between two hosts that speak STP. It has addresses of its own, sees what arrives at the
//! hosts, and says until the link heals what the seed picks: junk, openings in the name of strangers, copies
//! of what it saw, as they were or changed, and on connections that it opened POLLs, packets with gaps and
//! reports of nothing.
//!
//! What it does not do is what protects from nobody on the path (specification, 10.1): say in the name of a
//! host what that has not said, or be quicker than what it copies.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Instant, MS, NetworkFields, Packet, PacketMeta, ResetReason, SECOND};
use skyhaul_stp::segment::{Opening, Poll, Report, Segment, Stat, decode, encode};

use super::air::envelope_bytes;
use super::shape::Shape;
use super::talker::PORT;
use super::world::address;
use crate::common::dice::Dice;
use crate::common::family::Family;

/// Packets that it has seen and keeps.
const MAX_SEEN: usize = 500;
/// Openings in the name of others, in all: availability is the matter of other tests.
const MAX_OPENINGS: u32 = 60;
/// POLLs at once.
const MAX_POLLS: u64 = 300;

/// A packet that it sends.
#[derive(Debug)]
pub(crate) struct Lie {
    /// Where it seems to come from.
    pub(crate) from: SocketAddr,
    pub(crate) to: usize,
    pub(crate) packet: Packet,
}

/// Connection of its own to a host.
#[derive(Clone, Debug)]
struct Own {
    blank: Segment<'static>,
    opening: Opening,
    timestamp: u32,
}

/// The third party.
#[derive(Debug)]
pub(crate) struct Hostile {
    dice: Dice,
    /// Longest time between two acts.
    pause_ns: u64,
    next_at: Instant,
    until: Instant,
    seen: VecDeque<(usize, Packet)>,
    openings: u32,
    own: [Own; 2],
    lies: VecDeque<Lie>,
}

impl Hostile {
    /// The third party of this run, if it has one.
    pub(crate) fn of(shape: &Shape) -> Option<Self> {
        let mut dice = Dice::new(shape.seed, "swarm/hostile");
        let own = [0, 1].map(|_| Own::new(&mut dice));
        let pause_ns = dice.scale(5 * MS, 2 * SECOND);
        shape.is_attacked.then(|| Self {
            dice,
            pause_ns,
            next_at: Instant::ZERO,
            until: shape.heal_at,
            seen: VecDeque::new(),
            openings: 0,
            own,
            lies: VecDeque::new(),
        })
    }

    /// When it says something next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.next_at < self.until).then_some(self.next_at)
    }

    /// A packet has arrived at host `to`.
    pub(crate) fn see(&mut self, to: usize, packet: &Packet) {
        if self.seen.len() == MAX_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back((to, packet.clone()));
    }

    /// Host `from` has sent a packet to no host: an answer to what was said here.
    pub(crate) fn hear(&mut self, from: usize, packet: &Packet) {
        let Ok(segment) = decode(&packet.bytes[envelope_bytes(Family::Stp)..]) else { return };
        let Own { blank, opening, .. } = &self.own[from];
        let is_own = segment.destination_port == blank.source_port && segment.instance == blank.instance;
        if let (true, Some(poll)) = (is_own, segment.poll) {
            let report = Report { next: poll.next, window_bytes: opening.window_bytes, ..Report::default() };
            let stat = Some(Stat { echo: poll.timestamp, report, ..Stat::default() });
            let answer = Segment { stat, ..blank.clone() };
            self.say(own_address(from), from, &answer);
        }
    }

    /// What it says now, if anything.
    pub(crate) fn lie(&mut self, now: Instant) -> Option<Lie> {
        if self.deadline().is_some_and(|at| at <= now) {
            self.next_at = now.after(1 + self.dice.scale(MS, self.pause_ns));
            self.act();
        }
        self.lies.pop_front()
    }

    fn act(&mut self) {
        let to = self.dice.below(2) as usize;
        match self.dice.below(8) {
            0 => self.junk(to),
            1 | 2 => self.open(to),
            3 | 4 => self.copy(),
            5 => self.change(),
            _ => self.talk(to),
        }
    }

    fn junk(&mut self, to: usize) {
        let mut bytes = vec![0x20];
        bytes.extend((0..self.dice.below(100)).map(|_| self.dice.below(256) as u8));
        let from = if self.dice.percent(50) { address(1 - to) } else { self.stranger() };
        self.send(from, to, bytes);
    }

    fn stranger(&mut self) -> SocketAddr {
        SocketAddr::from(([10, 9, self.dice.below(256) as u8, 1], 4000))
    }

    /// An opening in somebody's name, which may bring data, or be reset at once.
    fn open(&mut self, to: usize) {
        if self.openings == MAX_OPENINGS {
            return;
        }
        self.openings += 1;
        let (from, own) = (self.stranger(), Own::new(&mut self.dice));
        let data: Option<(&[u8], &[u8])> = self.dice.percent(50).then_some((&[0xC0; 28], &[]));
        self.say(from, to, &Segment { bgn: Some(own.opening), data, ..own.blank.clone() });
        if self.dice.percent(30) {
            self.say(from, to, &Segment { rst: Some(ResetReason::Aborted), ..own.blank });
        }
    }

    /// What it saw, once more: from where it came, or from elsewhere.
    fn copy(&mut self) {
        for _ in 0..self.dice.scale(1, 20) {
            let Some((to, packet)) = self.remembered() else { return };
            let from = if self.dice.percent(80) { address(1 - to) } else { self.stranger() };
            self.lies.push_back(Lie { from, to, packet });
        }
    }

    fn remembered(&mut self) -> Option<(usize, Packet)> {
        let at = self.dice.below(self.seen.len().max(1) as u64) as usize;
        self.seen.get(at).cloned()
    }

    /// What it saw, with another number, instance, nonce or time, from elsewhere.
    fn change(&mut self) {
        let Some((to, packet)) = self.remembered() else { return };
        let Ok(mut segment) = decode(&packet.bytes[envelope_bytes(Family::Stp)..]) else { return };
        let (any, from) = (self.dice.below(1 << 48), self.stranger());
        match self.dice.below(4) {
            0 => segment.number = any as u32 & 0xFF_FFFF,
            1 => segment.instance = any as u16,
            2 => segment.poll = segment.poll.map(|poll| Poll { timestamp: any as u32, ..poll }),
            _ => segment.bgn = segment.bgn.map(|opening| Opening { nonce: any, ..opening }),
        }
        self.say(from, to, &segment);
    }

    /// On its own connection to a host, whose address is proven once it has heard a POLL.
    fn talk(&mut self, to: usize) {
        let Own { blank, opening, .. } = self.own[to].clone();
        let number = self.dice.below(2000) as u32;
        match self.dice.below(5) {
            0 | 1 => self.say(own_address(to), to, &Segment { bgn: Some(opening), ..blank }),
            2 => {
                let data: Option<(&[u8], &[u8])> = Some((b"x", &[]));
                self.say(own_address(to), to, &Segment { number, data, ..blank });
            }
            3 => {
                let report = Report { next: number, runs: vec![1, 1, 1], ..Report::default() };
                self.say(own_address(to), to, &Segment { ustat: Some(report), ..blank });
            }
            _ => self.ask(to, number),
        }
    }

    /// A flood of POLLs.
    fn ask(&mut self, to: usize, next: u32) {
        for _ in 0..self.dice.scale(1, MAX_POLLS) {
            let own = &mut self.own[to];
            own.timestamp = own.timestamp.wrapping_add(1 << 12);
            let poll = Some(Poll { timestamp: own.timestamp, next, ..Poll::default() });
            let segment = Segment { poll, ..own.blank.clone() };
            self.say(own_address(to), to, &segment);
        }
    }

    fn say(&mut self, from: SocketAddr, to: usize, segment: &Segment<'_>) {
        let mut bytes = vec![0x20];
        encode(segment, &mut bytes);
        self.send(from, to, bytes);
    }

    fn send(&mut self, from: SocketAddr, to: usize, bytes: Vec<u8>) {
        let fields = NetworkFields { protocol: ip_protocol::UDP, ..NetworkFields::default() };
        let meta = PacketMeta { wire_bytes: bytes.len() as u32 + 28, fields, ..PacketMeta::default() };
        self.lies.push_back(Lie { from, to, packet: Packet { bytes: Bytes::from(bytes), meta } });
    }
}

impl Own {
    /// A connection that announces little.
    fn new(dice: &mut Dice) -> Self {
        let (source_port, instance) = (dice.below(1 << 16) as u16, dice.below(1 << 16) as u16);
        let opening = Opening {
            max_payload_bytes: dice.pick(&[1, 1, 100, 1400]),
            window_bytes: dice.pick(&[0, 1, 300, 1 << 20]),
            nonce: dice.below(u64::MAX),
            ..Opening::default()
        };
        let blank = Segment { source_port, destination_port: PORT, instance, ..Segment::default() };
        Self { blank, opening, timestamp: 0 }
    }
}

/// Address from which it talks to this host in its own name.
fn own_address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 7, 0, host as u8 + 1], 4000))
}
