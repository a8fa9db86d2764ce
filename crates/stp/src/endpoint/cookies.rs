//! Cookies: openings that nothing is kept of but what the peer returns of our answer, as TCP's SYN cookies
//! [RFC 4987 3.6].
//!
//! The peer's first STAT returns two numbers of our BGNAK and POLL: our initial number as the next one that
//! it expects, and the POLL's timestamp as its echo. The first is what the BGN said, hidden by a keyed hash
//! of who said it; the second is a counter of time, and a keyed hash of all of that. `docs/spec/stp.md` 4.17.

use core::hash::Hasher;

use siphasher::sip::SipHasher24;
use skyhaul_core::endpoint::{Key, Peer};
use skyhaul_core::{Instant, Stream};

use crate::segment::{Opening, Options, Segment};

/// Nanoseconds of a tick are 2^30, 1.07 s: each brings another timestamp, newer than the one before.
const TICK_SHIFT: u32 = 30;
/// Ticks for which an answer is good, that of the opening included: 7.5 to 8.6 s.
const GOOD_TICKS: u64 = 8;
/// Bits of a timestamp below its ticks.
const MARK_BITS: u32 = 22;
const TICK_MASK: u64 = (1 << (32 - MARK_BITS)) - 1;

/// Largest payloads that a cookie tells: the next one below what the peer said counts. The least is the least
/// that is ever heeded; the others are those of IP packets of 576, 1280, 1480 (as UDP over IPv6), 1500 over
/// IPv6 and IPv4, 9000 and 65,535.
const PAYLOADS_BYTES: [u16; 8] = [128, 515, 1219, 1419, 1439, 1459, 8939, 65_474];
/// Last bits of the peer's initial number: so many packets may be sent before the proof.
const INITIAL_BITS: u32 = 14;
const INITIAL_MASK: u32 = (1 << INITIAL_BITS) - 1;
const PAYLOAD_BITS: u32 = 3;
const OPTION_BITS: u32 = 4;
/// Bits of our initial number that tell something; the others prove it.
const TOLD_BITS: u32 = INITIAL_BITS + PAYLOAD_BITS + OPTION_BITS;
const NUMBER_MASK: u32 = 0xFF_FFFF;

/// Octets of charge that may be under way before the proof: fewer packets than the bits above tell apart.
pub(super) const MAX_WINDOW_BYTES: u64 = 4 << 20;

/// Numbers of an answer that is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    /// Our initial number, 24 bits.
    pub(super) initial: u32,
    /// Timestamp of our POLL.
    pub(super) timestamp: u32,
}

/// An opening that was forgotten and came back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    /// The opening as far as it is known: no nonce, and the window of now.
    pub(super) opening: Opening,
    pub(super) cookie: Cookie,
    /// Name of the opening, in place of the nonce.
    pub(super) name: u64,
}

/// Keys of an endpoint, for as long as it lives.
#[derive(Clone, Copy, Debug)]
struct Keys {
    names: (u64, u64),
    marks: (u64, u64),
}

/// Cookies of an endpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Cookies {
    /// Drawn for the first cookie: an endpoint that makes none draws what it always drew.
    keys: Option<Keys>,
    /// Tick of the last one: later than all of them are good there can be no answer.
    last_tick: u64,
}

impl Cookies {
    /// Cookie for an opening of `instance`.
    pub(super) fn make<P: Peer>(
        &mut self,
        random: &mut Stream,
        now: Instant,
        (key, instance): (Key<P>, u16),
        opening: &Opening,
    ) -> Cookie {
        let mut draw = || (random.next_u64(), random.next_u64());
        let keys = *self.keys.get_or_insert_with(|| Keys { names: draw(), marks: draw() });
        self.last_tick = tick(now);
        keys.cookie(keys.name(key, instance), Terms::of(opening), tick(now))
    }

    /// Cookie that an opening has been answered by, or would have been, while some are out.
    pub(super) fn known<P: Peer>(
        &self,
        now: Instant,
        (key, instance): (Key<P>, u16),
        opening: &Opening,
    ) -> Option<Cookie> {
        let keys = self.keys.filter(|_| self.are_out(now))?;
        Some(keys.cookie(keys.name(key, instance), Terms::of(opening), tick(now)))
    }

    /// True if answers to cookies may still arrive.
    fn are_out(&self, now: Instant) -> bool {
        tick(now) - self.last_tick < GOOD_TICKS
    }

    /// Opening whose answer a segment returns; `None`: it returns no cookie, or a stale one.
    pub(super) fn open<P: Peer>(&self, now: Instant, key: Key<P>, segment: &Segment<'_>) -> Option<Returned> {
        let keys = self.keys.filter(|_| self.are_out(now))?;
        let stat = segment.stat.as_ref()?;
        let cookie = Cookie { initial: stat.report.next, timestamp: stat.echo };
        let name = keys.name(key, segment.instance);
        let terms = Terms::told(cookie.initial ^ hidden_by(name), segment.number)?;
        let ticks = u64::from(cookie.timestamp.wrapping_sub(name as u32) >> MARK_BITS);
        let age_ticks = tick(now).wrapping_sub(ticks) & TICK_MASK;
        let made = tick(now).checked_sub(age_ticks).filter(|_| age_ticks < GOOD_TICKS)?;
        let opening = Opening { window_bytes: stat.report.window_bytes, ..terms.opening() };
        (keys.cookie(name, terms, made) == cookie).then_some(Returned { opening, cookie, name })
    }
}

fn tick(now: Instant) -> u64 {
    now.as_ns() >> TICK_SHIFT
}

/// Bits of a name that hide what our initial number tells.
fn hidden_by(name: u64) -> u32 {
    (name >> 32) as u32 & NUMBER_MASK
}

impl Keys {
    /// Name of an opening: who opens, and from where to where.
    fn name<P: Peer>(&self, key: Key<P>, instance: u16) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(self.names.0, self.names.1);
        key.peer.hash(&mut hasher);
        let ports = u64::from(key.local_port) << 16 | u64::from(key.remote_port);
        hasher.write_u64(ports << 16 | u64::from(instance));
        hasher.finish()
    }

    fn cookie(&self, name: u64, terms: Terms, tick: u64) -> Cookie {
        let mut hasher = SipHasher24::new_with_keys(self.marks.0, self.marks.1);
        hasher.write_u64(name);
        hasher.write_u64(tick);
        hasher.write_u64(u64::from(terms.initial) << 32 | u64::from(terms.bits()));
        let mark = hasher.finish() as u32 & ((1 << MARK_BITS) - 1);
        let ticks = (tick & TICK_MASK) as u32;
        Cookie {
            initial: terms.bits() ^ hidden_by(name),
            timestamp: (name as u32).wrapping_add(ticks << MARK_BITS | mark),
        }
    }
}

/// Parts of an opening that a cookie stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    initial: u32,
    /// In [`PAYLOADS_BYTES`].
    payload: u32,
    options: u32,
}

impl Terms {
    fn of(opening: &Opening) -> Self {
        let Options { timing, repairs, increments, pieces, .. } = opening.options;
        let bits = [timing, repairs, increments, pieces].map(u32::from);
        let payload = PAYLOADS_BYTES.iter().rposition(|&bytes| bytes <= opening.max_payload_bytes);
        Self {
            initial: opening.initial,
            payload: payload.unwrap_or(0) as u32,
            options: bits.iter().rev().fold(0, |all, bit| all << 1 | bit),
        }
    }

    fn bits(self) -> u32 {
        (self.options << PAYLOAD_BITS | self.payload) << INITIAL_BITS | self.initial & INITIAL_MASK
    }

    /// Terms that `bits` tell, where the peer's segment has the number `number24`: of the next packet, or of
    /// one of those before. `None`: no cookie has these bits.
    fn told(bits: u32, number24: u32) -> Option<Self> {
        let ahead = number24.wrapping_sub(bits) & INITIAL_MASK;
        let terms = Self {
            initial: number24.wrapping_sub(ahead) & NUMBER_MASK,
            payload: bits >> INITIAL_BITS & ((1 << PAYLOAD_BITS) - 1),
            options: bits >> (INITIAL_BITS + PAYLOAD_BITS) & ((1 << OPTION_BITS) - 1),
        };
        (bits >> TOLD_BITS == 0).then_some(terms)
    }

    fn opening(self) -> Opening {
        let has = |bit: u32| self.options >> bit & 1 == 1;
        Opening {
            max_payload_bytes: PAYLOADS_BYTES[self.payload as usize], // 3 bits
            initial: self.initial,
            options: Options {
                timing: has(0),
                repairs: has(1),
                increments: has(2),
                pieces: has(3),
                ..Options::default()
            },
            ..Opening::default()
        }
    }
}

#[cfg(test)]
#[path = "cookies_tests.rs"]
mod tests;
