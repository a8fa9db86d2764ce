//! Shape of a run by its seed: link, faults, profiles, limits, traffic.

use crate::common::family::{Family, Parameters};
use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, Discipline, ExplicitConfig, LinkConfig};
use skyhaul_stp::ControllerKind;

use super::hosts::until_wrap_ns;
use crate::common::dice::Dice;
use crate::faults::{channel, direction, marking_queue, outages};
use crate::{stp_config, tcp_config};

/// Longest time that an application takes for a stream by itself.
const STEPS_NS: u64 = 60 * SECOND;

/// Patience with connections of the third party that are never proven: links heal long before.
const STRANGERS_NS: u64 = 200 * SECOND;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Its seed.
    pub(crate) seed: u64,
    /// Protocol of both ends.
    pub(crate) protocol: Family,
    /// The link while it has faults.
    pub(crate) faulty: LinkConfig,
    /// The perfect link after that.
    pub(crate) healed: LinkConfig,
    /// When the link heals.
    pub(crate) heal_at: Instant,
    /// Packets delivered twice, per million.
    pub(crate) duplicated_ppm: u64,
    /// The copy arrives up to this much later.
    pub(crate) copy_delay_ns: u64,
    /// Packets delivered with flipped bits, per million.
    pub(crate) damaged_ppm: u64,
    /// Largest IP packet that the hosts send.
    pub(crate) mtu_bytes: u32,
    /// Behaviour of routers.
    pub(crate) routers: Routers,
    /// Both ends.
    pub(crate) ends: [End; 2],
    /// Configured patience stays: connections may fail, but must fail well.
    pub(crate) impatient: bool,
    /// Nobody finishes before the link is healed, so that nobody misses the last words.
    pub(crate) finish_late: bool,
    /// A third party talks to both ends until the link heals.
    pub(crate) is_attacked: bool,
}

/// Routers: fate of packets that are too large for the way, and messages about others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routers {
    /// Largest IP packet that the way takes, also when it is healed.
    pub(crate) mtu_bytes: u32,
    /// Message about a larger one.
    pub(crate) told: Told,
    /// Packets of which they say that they could not be delivered, though they are, per million.
    pub(crate) doubted_ppm: u64,
}

/// Message to the sender of a packet that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The size that would have been right.
    Size,
    /// That it was too large [RFC 1191 5].
    TooLarge,
    /// Nothing.
    Nothing,
}

/// One host.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// Parameters of what it opens and accepts.
    pub(crate) config: Parameters,
    /// Openings, by time.
    pub(crate) opens: Vec<Opening>,
    /// Bytes of each of its streams, at most.
    pub(crate) most_bytes: u64,
    /// Most bytes a write, and time between writes (0: as fast as possible).
    pub(crate) writes: Steps,
    /// Most bytes a read, and the time that those take (0: as fast as possible).
    pub(crate) reads: Steps,
    /// Its first packet number lies close below the wrap.
    pub(crate) near_wrap: bool,
    /// It aborts a connection when so many bytes of it are written.
    pub(crate) aborts_at: Option<u64>,
}

/// A connection that is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// When.
    pub(crate) at: Instant,
    /// STP: the BGN waits for the first data.
    pub(crate) held: bool,
    /// TCP: from the port where peers listen, so that the openings of two ends may meet.
    pub(crate) meets: bool,
}

/// How an application moves its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// Bytes at a time.
    pub(crate) bytes: usize,
    /// Time from one step to the next.
    pub(crate) every_ns: u64,
}

impl Shape {
    /// The run of this seed.
    pub(crate) fn of(protocol: Family, seed: u64) -> Self {
        let mut dice = Dice::new(seed, "swarm/shape");
        let mut shape = Self::of_both(protocol, seed, &mut dice);
        if protocol == Family::Tcp {
            shape.vary_tcp(&mut dice);
        }
        shape
    }

    /// Shape of a run with either protocol.
    fn of_both(protocol: Family, seed: u64, d: &mut Dice) -> Self {
        let heal_at = Instant::from_ns(d.scale(500, 60_000) * MS);
        let (forward, reverse) = (direction(d), direction(d));
        let healed = |one: &DirectionConfig| DirectionConfig { delay_ns: one.delay_ns, ..Default::default() };
        let rtt_ns = forward.delay_ns + reverse.delay_ns;
        let rates = [forward.rate_bps, reverse.rate_bps];
        let impatient = d.percent(10);
        let most_bytes = rates.map(|_| d.scale(1, 300_000));
        let mut ends =
            [0, 1].map(|i| end(d, protocol, rates[i], impatient, [most_bytes[i], most_bytes[1 - i]]));
        if ends.iter().all(|end| end.opens.is_empty()) {
            ends[0].opens.push(Opening { at: Instant::ZERO, held: true, meets: false });
        }
        Self {
            seed,
            protocol,
            healed: LinkConfig {
                name: "healed".into(),
                forward: healed(&forward),
                reverse: healed(&reverse),
                ..LinkConfig::default()
            },
            faulty: LinkConfig {
                name: "faulty".into(),
                forward,
                reverse,
                outages: outages(d, heal_at),
                channel: d.percent(35).then(|| channel(d)),
            },
            heal_at,
            duplicated_ppm: if d.percent(40) { d.scale(100, 300_000) } else { 0 },
            copy_delay_ns: d.scale(MS, 2 * rtt_ns + 10 * MS),
            damaged_ppm: if d.percent(40) { d.scale(100, 300_000) } else { 0 },
            mtu_bytes: d.pick(&[1500, 1500, 1500, 296, 576, 9000]),
            routers: Routers { mtu_bytes: u32::MAX, told: Told::Size, doubted_ppm: 0 },
            ends,
            impatient,
            finish_late: d.percent(50),
            is_attacked: false,
        }
    }

    /// The run of this seed with STP, where most ends ask routers for a rate, and most links have one.
    pub(crate) fn explicit(seed: u64) -> Self {
        let mut shape = Self::of(Family::Stp, seed);
        let mut d = Dice::new(seed, "swarm/explicit");
        for end in &mut shape.ends {
            let Parameters::Stp(config) = &mut end.config else { continue };
            if d.percent(80) {
                config.controller =
                    d.pick(&[ControllerKind::PXcp, ControllerKind::PXcp, ControllerKind::Xcp]);
                config.rate_bps = None;
            }
        }
        let LinkConfig { forward, reverse, .. } = &mut shape.faulty;
        for direction in [forward, reverse] {
            let discipline = d.pick(&[Discipline::PXcp, Discipline::Xcp, Discipline::Untaken]);
            let has_router = direction.rate_bps.is_some() && d.percent(80);
            direction.explicit = has_router.then_some(ExplicitConfig { discipline, set_off: None });
        }
        shape
    }

    /// The run of this seed with TCP, where most ends offer SCPS-TP, too.
    pub(crate) fn scps(seed: u64) -> Self {
        let mut shape = Self::of(Family::Tcp, seed);
        let mut dice = Dice::new(seed, "swarm/scps");
        for end in &mut shape.ends {
            let Parameters::Tcp(config) = &mut end.config else { continue };
            config.scps = dice.percent(90).then(|| tcp_config::scps(&mut dice));
        }
        shape
    }

    /// The run of this seed beside a third party. Ends without patience would keep its connections for ever.
    pub(crate) fn attacked(seed: u64) -> Self {
        let mut shape = Self::of(Family::Stp, seed);
        shape.is_attacked = true;
        for end in &mut shape.ends {
            let Parameters::Stp(config) = &mut end.config else { continue };
            config.connect_give_up_ns.get_or_insert(STRANGERS_NS);
        }
        shape
    }

    /// Varies what only TCP has: routers that speak, queues that mark, openings that meet, aborts.
    fn vary_tcp(&mut self, d: &mut Dice) {
        for direction in [&mut self.faulty.forward, &mut self.faulty.reverse] {
            if d.percent(30) {
                marking_queue(d, direction);
            }
        }
        if d.percent(30) {
            self.narrow(d);
        }
        if d.percent(20) {
            self.routers.doubted_ppm = d.scale(100, 300_000);
        }
        if d.percent(20) {
            for end in &mut self.ends {
                let at = end.opens.first().map_or(Instant::ZERO, |opening| opening.at);
                end.opens.insert(0, Opening { at, held: false, meets: true });
            }
        }
        self.vary_aborts(d);
        self.begin_near_wrap(d);
    }

    fn vary_aborts(&mut self, d: &mut Dice) {
        let aborts = d.percent(8);
        for end in &mut self.ends {
            let Parameters::Tcp(config) = &mut end.config else { continue };
            if aborts {
                // An end that only listens would not notice.
                config.keepalive.get_or_insert(tcp_config::keepalive(d, 1 << 20));
                end.aborts_at = d.percent(60).then(|| d.below(end.most_bytes + 1));
            }
        }
    }

    /// Everything happens so much later that the first opening's number lies close below the wrap.
    fn begin_near_wrap(&mut self, d: &mut Dice) {
        let wanted = |end: &End| end.near_wrap && !end.opens.is_empty();
        let Some(index) = self.ends.iter().position(wanted) else { return };
        let before = d.scale(1, self.ends[index].most_bytes + 1) as u32;
        if self.faulty.channel.is_some() {
            return; // its states are played from time zero on
        }
        let by_ns = until_wrap_ns(self, index, self.ends[index].opens[0], before);
        let later = |at: &mut Instant| *at = at.after(by_ns);
        later(&mut self.heal_at);
        self.faulty.outages.iter_mut().flat_map(|outage| [&mut outage.from, &mut outage.to]).for_each(later);
        self.ends.iter_mut().flat_map(|end| &mut end.opens).for_each(|opening| later(&mut opening.at));
    }

    /// A part of the way takes smaller packets only.
    fn narrow(&mut self, d: &mut Dice) {
        let told = d.pick(&[Told::Size, Told::TooLarge, Told::Nothing]);
        // An engine that hears nothing does not go below 576 bytes.
        let mtu_bytes =
            if told == Told::Nothing { d.pick(&[576, 1000, 1300]) } else { d.scale(296, 1500) as u32 };
        self.routers = Routers { mtu_bytes, told, ..self.routers };
        for end in &mut self.ends {
            let Parameters::Tcp(config) = &mut end.config else { continue };
            if told == Told::Nothing {
                config.black_hole_timeouts.get_or_insert(2);
            }
        }
    }

    /// Time after which a healed link must have carried everything.
    pub(crate) fn patience_ns(&self) -> u64 {
        let rtt_ns = self.healed.forward.delay_ns + self.healed.reverse.delay_ns;
        let payload = self.ends.iter().map(End::least_payload).min().unwrap_or(1);
        let traffic_ns: u64 = self.ends.iter().map(|end| end.traffic_ns(rtt_ns, payload)).sum();
        let special_ns = match self.protocol {
            // An opener of the paper's profile without an answer asks for an hour (specification, 11.2).
            Family::Stp if self.impatient => 4_000 * SECOND,
            Family::Stp => 0,
            // Two waits of the longest timer, TIME-WAIT, packets in a slow queue, the search for a size.
            Family::Tcp => 3_000 * SECOND,
        };
        400 * SECOND + special_ns + traffic_ns
    }
}

impl End {
    /// The smallest payload that it may come to send.
    fn least_payload(&self) -> u64 {
        match &self.config {
            Parameters::Stp(config) => config.max_payload_bytes.min(255) as u64,
            Parameters::Tcp(config) => {
                let limit = config.receive_limit_bytes.min(config.send_limit_bytes);
                (u64::from(config.mss_bytes).min(250) - 12).min(limit / 2).max(1)
            }
        }
    }

    /// A generous time for all of its streams over a perfect link.
    fn traffic_ns(&self, rtt_ns: u64, payload: u64) -> u64 {
        // The least that passes for progress is a packet a round trip: small packets are charged 256
        // octets of a window that may be small, and are slow by design.
        let packets = self.most_bytes.div_ceil(payload);
        let wire_bytes = self.most_bytes + 2 * 49 * packets;
        let (rate_bps, wait_ns) = match &self.config {
            Parameters::Stp(config) => (config.rate_bps, 100 * MS),
            Parameters::Tcp(_) => (None, 2 * SECOND),
        };
        let sending = rate_bps.map_or(0, |rate| 32 * wire_bytes * 8 * SECOND / rate);
        let steps = |steps: &Steps| if steps.every_ns > 0 { 2 * STEPS_NS } else { 0 };
        sending + steps(&self.writes) + steps(&self.reads) + 4 * packets * (rtt_ns + wait_ns)
    }

    /// Most bytes that it holds for sending, and for reading.
    pub(crate) fn limits_bytes(&self) -> (u64, u64) {
        match &self.config {
            Parameters::Stp(config) => (config.send_limit_bytes, config.receive_limit_bytes),
            Parameters::Tcp(config) => (config.send_limit_bytes, config.receive_limit_bytes),
        }
    }
}

/// An end that sends and receives streams of at most so many bytes.
fn end(
    d: &mut Dice,
    protocol: Family,
    link_bps: Option<u64>,
    impatient: bool,
    [sent, received]: [u64; 2],
) -> End {
    let opens = if d.percent(20) { 0 } else { d.scale(1, 3) };
    let slow_reader = d.percent(25);
    let tiny_writes = d.percent(25);
    End {
        config: match protocol {
            Family::Stp => stp_config::config(d, link_bps, impatient).into(),
            Family::Tcp => tcp_config::config(d, impatient).into(),
        },
        opens: (0..opens)
            .map(|_| Opening { at: opening_time(d), held: d.percent(70), meets: false })
            .collect(),
        most_bytes: sent,
        writes: steps(d, tiny_writes, sent),
        reads: steps(d, slow_reader, received),
        near_wrap: d.percent(25),
        aborts_at: None,
    }
}

fn opening_time(d: &mut Dice) -> Instant {
    let late = d.percent(40);
    Instant::from_ns(if late { d.below(10 * SECOND) } else { 0 })
}

/// Small steps take at most [`STEPS_NS`] for all of a stream, in at most a thousand steps (and the
/// few that the stream's head takes).
fn steps(d: &mut Dice, small: bool, most_bytes: u64) -> Steps {
    if !small {
        return Steps { bytes: d.pick(&[1 << 16, 1 << 14, 1000]), every_ns: 0 };
    }
    let count = d.scale(1, 1000).min(most_bytes);
    let bytes = most_bytes.div_ceil(count).max(8) as usize;
    let every_ns = if d.percent(30) { 0 } else { d.below(STEPS_NS / count) };
    Steps { bytes, every_ns }
}
