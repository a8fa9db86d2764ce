//! Openings of TCP that carry data: an endpoint against strangers who say anything in the options of such,
//! and two ends with a path between them that loses, repeats and brings back what is long over.

use std::net::Ipv4Addr;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_tcp::segment::{ExtraOptions, Options, Segment, Timestamps, Way, decode, encode, flags};
use skyhaul_tcp::{AcceleratedOpen, Config, Endpoint, EndpointConfig, FastOpenCookie, FastOpenFacts};

use crate::input::Input;
use crate::tcp_openings_pair as pair;
use crate::tcp_pair::config;

pub(super) const PORT: u16 = 4;
const MAX_OPERATIONS: usize = 300;
/// Kinds of options: CC, CC.NEW, CC.ECHO, the cookie.
const KINDS: [u8; 4] = [11, 12, 13, 34];
/// Longest option that a header has room for.
const MAX_OPTION_BYTES: usize = 38;
/// Openings whose data the application has before they are acknowledged, at most.
const MAX_EARLY: usize = 2;
const MAX_CONNECTIONS: usize = 8;

/// Interprets bytes as openings and what follows them. Nothing may panic, what is sent can be decoded, as few
/// openings are pending as there may be, and what is delivered was sent.
///
/// # Panics
///
/// If that does not hold.
pub fn tcp_openings(bytes: &[u8]) {
    let mut input = Input(bytes);
    let choice = input.byte();
    let kind = if choice & 1 == 0 { AcceleratedOpen::Ttcp } else { AcceleratedOpen::FastOpen };
    let config = Config { accelerated_open: Some(kind), scps: None, ..config(choice >> 2) };
    if choice & 2 != 0 {
        return pair::run(kind, &config, &mut input);
    }
    let mut strangers = Strangers::new(&config, &mut input);
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        strangers.operate(&mut input);
        strangers.check();
    }
}

/// Endpoint that listens.
pub(super) fn listening(config: &Config, seed: u64) -> Endpoint {
    let options = EndpointConfig {
        accept: config.clone(),
        max_connections: MAX_CONNECTIONS,
        max_early: MAX_EARLY,
        ..EndpointConfig::default()
    };
    let mut endpoint = Endpoint::new(options, Stream::new(seed, "fuzz"));
    endpoint.listen(PORT);
    endpoint
}

/// Moves on by milliseconds, or by hours, in which keys change.
pub(super) fn later(now: Instant, input: &mut Input<'_>) -> Instant {
    match input.byte() {
        hours @ 240.. => now.after(u64::from(hours - 239) * 3600 * SECOND),
        ms => now.after(u64::from(ms) * MS),
    }
}

/// Facts that a file might have said.
pub(super) fn any_facts(input: &mut Input<'_>) -> FastOpenFacts {
    let length = usize::from(input.byte() % 18);
    FastOpenFacts {
        cookie: FastOpenCookie::new(input.take(length)),
        mss_bytes: (!input.byte().is_multiple_of(4)).then(|| input.word() as u16),
        lost_openings: input.word(),
        spared_ns: u64::from(input.byte()).pow(u32::from(input.byte() % 9)),
    }
}

/// The endpoint under test, and what strangers have heard of it.
struct Strangers {
    endpoint: Endpoint,
    config: Config,
    now: Instant,
    /// Connections that it opened, and such that it was asked for.
    opened: Vec<ConnectionId>,
    accepted: Vec<ConnectionId>,
    /// Options of the last answers: cookies and counts, to be said again.
    heard: Vec<Vec<u8>>,
    /// Number behind the last one that it sent, and its port.
    theirs: u32,
    local_port: u16,
}

impl Strangers {
    fn new(config: &Config, input: &mut Input<'_>) -> Self {
        let endpoint = listening(config, u64::from(input.byte()));
        let (config, now) = (config.clone(), Instant::from_ns(1));
        let (opened, accepted, heard) = Default::default();
        Self { endpoint, config, now, opened, accepted, heard, theirs: 0, local_port: PORT }
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => self.now = later(self.now, input),
            1 => self.connect(input),
            2 => {
                let (way, facts) = (way(input.byte()), any_facts(input));
                self.endpoint.assume_fast_open(self.now, way, facts);
            }
            3 => self.each(|endpoint, id| {
                let _ = endpoint.write(id, &[5; 700]); // a full buffer or an ended connection is fine
            }),
            4 => self.each(|endpoint, id| {
                let _ = endpoint.read(id, &mut [0; 3000]);
            }),
            5 => self.each(Endpoint::finish),
            6 => self.each(Endpoint::abort),
            7 => {
                let now = self.now;
                self.each(|endpoint, id| endpoint.release(now, id));
                self.opened.clear();
                self.accepted.clear();
            }
            8 => self.now = self.endpoint.deadline().map_or(self.now, |at| at.max(self.now)),
            _ => self.hear(input),
        }
        self.endpoint.handle_timeout(self.now, &mut NullSink);
        self.pump();
    }

    fn each(&mut self, mut act: impl FnMut(&mut Endpoint, ConnectionId)) {
        self.opened.iter().chain(&self.accepted).for_each(|&id| act(&mut self.endpoint, id));
    }

    fn connect(&mut self, input: &mut Input<'_>) {
        let opened = self.endpoint.connect(self.now, way(input.byte()), 5000, None, self.config.clone());
        let Ok(id) = opened else { return };
        self.local_port = self.endpoint.local_port(id).unwrap_or(PORT);
        self.opened.push(id);
    }

    /// A segment of one of a few hosts and ports, mostly an opening.
    fn hear(&mut self, input: &mut Input<'_>) {
        let (host, shape) = (input.byte(), input.byte());
        let bits = match shape & 3 {
            0 | 1 => flags::SYN,
            2 => flags::SYN | flags::ACK,
            _ => input.byte() & 0x3F,
        };
        let data = vec![9; usize::from(input.byte()) * 6];
        let stamps = Timestamps { value: (self.now.as_ns() / MS) as u32, echo: 0 };
        let segment = Segment {
            source_port: if shape & 4 == 0 { 5000 } else { 5000 + u16::from(host >> 4) },
            destination_port: if shape & 8 == 0 { PORT } else { self.local_port },
            sequence: input.near(0),
            acknowledgement: input.near(self.theirs),
            flags: bits | if shape & 16 == 0 { 0 } else { flags::FIN },
            window: 30_000,
            options: Options {
                mss: (shape & 32 == 0).then_some(1460),
                timestamps: (shape & 64 != 0).then_some(stamps),
                extra: self.options(input),
                ..Options::default()
            },
            payload: (&data, &[]),
            ..Segment::default()
        };
        if segment.options.encoded_len() > 40 {
            return;
        }
        let (way, mut bytes) = (way(host), Vec::new());
        encode(way.reversed(), &segment, &mut bytes);
        self.endpoint.handle(self.now, way, NetworkFields::default(), &bytes, &mut NullSink);
        self.accepted.extend(std::iter::from_fn(|| self.endpoint.accept()));
    }

    /// Up to three options: heard before, changed in a bit, or anything of any length.
    fn options(&self, input: &mut Input<'_>) -> ExtraOptions {
        let mut extra = ExtraOptions::default();
        for _ in 0..input.byte() % 4 {
            let (choice, kind) = (input.byte(), KINDS[usize::from(input.byte() % 4)]);
            let heard = self.heard.get(usize::from(choice >> 2) % self.heard.len().max(1));
            let value = match (choice & 3, heard) {
                (0 | 1, Some(heard)) => heard.clone(),
                (2, Some(heard)) => {
                    let (mut value, at) = (heard.clone(), usize::from(input.byte()));
                    let bits = 8 * value.len().max(1);
                    if let Some(octet) = value.get_mut(at % bits / 8) {
                        *octet ^= 1 << (at % 8);
                    }
                    value
                }
                _ => {
                    let length = usize::from(input.byte()) % MAX_OPTION_BYTES;
                    input.take(length).to_vec()
                }
            };
            extra.push(kind, &value);
        }
        extra
    }

    fn pump(&mut self) {
        let (mut buffer, mut count) = (Vec::new(), 0);
        while let Some(sent) = self.endpoint.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
            for bytes in buffer.chunks(sent.segment_bytes) {
                let segment = match decode(sent.peer.reversed(), bytes) {
                    Ok(segment) => segment,
                    Err(error) => panic!("sent what cannot be decoded: {error}"),
                };
                self.theirs = segment.sequence.wrapping_add(segment.sequence_len() as u32);
                let told = KINDS.iter().filter_map(|&kind| segment.options.extra.get(kind));
                self.heard.extend(told.filter(|value| !value.is_empty()).map(<[u8]>::to_vec));
                count += 1;
            }
            assert!(count < 20_000, "an endless loop");
        }
        let excess = self.heard.len().saturating_sub(16);
        self.heard.drain(..excess);
        let deadline = self.endpoint.deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "{deadline:?} at {:?}", self.now);
        while self.endpoint.poll_event().is_some() {}
    }

    fn check(&self) {
        // Those that were handed out early and are over count no more, until the application lets go of them.
        assert!(self.endpoint.connection_count() <= MAX_CONNECTIONS + MAX_EARLY);
        let is_open = |id| self.endpoint.stage(id).is_some_and(|stage| stage < Stage::Closed);
        let pending = |id| is_open(id) && !self.endpoint.is_proven(id);
        let pending = self.accepted.iter().filter(|&&id| pending(id)).count();
        assert!(pending <= MAX_EARLY, "{pending} openings are pending");
    }
}

/// One of four hosts.
fn way(host: u8) -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2 + host % 4).into() }
}
