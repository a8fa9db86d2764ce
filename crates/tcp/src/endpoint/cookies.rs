//! SYN cookies: openings that nothing is kept of but what the peer returns of our answer [RFC 4987 3.6].
//!
//! Our initial number is 29 bits of a keyed hash and the index of the peer's largest segment. The hash covers
//! both ends, the peer's initial number, a counter of time and everything else that the answer returns. Where
//! both stamp their segments, the last bits of our timestamp are the peer's window shift, SACK and ECN; where
//! not, there is none of these.

use skyhaul_core::{Instant, SECOND};

use super::secrets::Secrets;
use crate::agreed::{Agreed, ECN_SETUP};
use crate::connection::Names;
use crate::segment::{Options, Segment, Timestamps, flags};
use crate::sequence::is_earlier;

/// Time between two steps of the counter. An answer is good for one to two of these.
const PERIOD_NS: u64 = 64 * SECOND;
/// Largest segments that a cookie tells: the next one below what the peer said counts. The least is the least
/// that is ever sent; the others are common (IPv6's 1280, tunnels, Ethernet, jumbo frames).
const MSS_BYTES: [u16; 8] = [88, 256, 536, 1220, 1360, 1440, 1460, 8940];
const MSS_BITS: u32 = 3;

/// Bits of a timestamp that tell options.
const STAMP_BITS: u32 = 6;
/// In place of these bits where there is no timestamp.
const NO_STAMP: u8 = 1 << STAMP_BITS;
/// Bits of the window shift, and what they say where windows are not scaled.
const SHIFT_BITS: u8 = 15;
const SACK_BIT: u8 = 1 << 4;
const ECN_BIT: u8 = 1 << 5;

/// Numbers of an answer that is forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cookie {
    pub(super) initial: u32,
    /// Last bits of the timestamp; `None`: it has none.
    stamp: Option<u8>,
}

impl Cookie {
    /// Timestamp of the answer: the newest one with these last bits, so that none of ours is ever behind it.
    pub(super) fn stamp(self, clock_value: u32) -> Option<u32> {
        let stamp = clock_value >> STAMP_BITS << STAMP_BITS | u32::from(self.stamp?);
        let is_ahead = is_earlier(clock_value, stamp);
        Some(stamp.wrapping_sub(if is_ahead { 1 << STAMP_BITS } else { 0 }))
    }
}

/// Cookies of an endpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Cookies {
    /// Moment at which the last one was made: later than two periods after it there can be no answer.
    last_at: Option<Instant>,
}

impl Cookies {
    /// Cookie for the opening `syn`, from which `agreed` follows.
    pub(super) fn make(
        &mut self,
        secrets: &Secrets,
        (names, now): (Names, Instant),
        syn: &Segment<'_>,
        agreed: Agreed,
    ) -> Cookie {
        self.last_at = Some(now);
        let shift = if agreed.scales { agreed.send_shift } else { SHIFT_BITS };
        let bit = |is_agreed: bool, bit| if is_agreed { bit } else { 0 };
        let options = shift | bit(agreed.sack, SACK_BIT) | bit(agreed.ecn, ECN_BIT);
        let stamp = agreed.timestamps.then_some(options);
        let index = MSS_BYTES.iter().rposition(|&mss| mss <= agreed.peer_mss()).unwrap_or(0) as u8;
        let hidden = Hidden { peer_initial: syn.sequence, index, options: stamp.unwrap_or(NO_STAMP) };
        Cookie { initial: hidden.initial(secrets, names, period(now)), stamp }
    }

    /// True if answers to cookies may still arrive.
    pub(super) fn are_out(&self, now: Instant) -> bool {
        self.last_at.is_some_and(|at| now.since(at) <= 2 * PERIOD_NS)
    }

    /// The opening that `answer` goes on with, as if it came now, and our initial number; `None`: it answers
    /// no cookie. `stamps`: we stamp our segments.
    pub(super) fn open(
        &self,
        secrets: &Secrets,
        (names, now): (Names, Instant),
        answer: &Segment<'_>,
        stamps: bool,
    ) -> Option<(Segment<'static>, u32)> {
        if !self.are_out(now) {
            return None;
        }
        let initial = answer.acknowledgement.wrapping_sub(1);
        let stamps = answer.options.timestamps.filter(|_| stamps);
        let options = stamps.map_or(NO_STAMP, |stamps| stamps.echo as u8 & (NO_STAMP - 1));
        let index = (initial & ((1 << MSS_BITS) - 1)) as u8;
        let hidden = Hidden { peer_initial: answer.sequence.wrapping_sub(1), index, options };
        let newest = period(now);
        let is_ours = |period| hidden.initial(secrets, names, period) == initial;
        (is_ours(newest) || newest > 0 && is_ours(newest - 1)).then(|| (hidden.syn(names, stamps), initial))
    }
}

fn period(now: Instant) -> u64 {
    now.as_ns() / PERIOD_NS
}

/// Parts of an opening that a cookie stands for.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    peer_initial: u32,
    /// In [`MSS_BYTES`].
    index: u8,
    options: u8,
}

impl Hidden {
    fn initial(self, secrets: &Secrets, names: Names, period: u64) -> u32 {
        let Self { peer_initial, index, options } = self;
        let mut text = [0; 14];
        text[..4].copy_from_slice(&peer_initial.to_be_bytes());
        text[4..12].copy_from_slice(&period.to_be_bytes());
        text[12..].copy_from_slice(&[index, options]);
        secrets.cookie(names, &text) << MSS_BITS | u32::from(index)
    }

    fn syn(self, names: Names, stamps: Option<Timestamps>) -> Segment<'static> {
        let shift = self.options & SHIFT_BITS;
        let has = |bit: u8| stamps.is_some() && self.options & bit != 0;
        let options = Options {
            mss: Some(MSS_BYTES[usize::from(self.index)]),
            window_scale: (stamps.is_some() && shift != SHIFT_BITS).then_some(shift),
            sack_permitted: has(SACK_BIT),
            timestamps: stamps.map(|stamps| Timestamps { echo: 0, ..stamps }),
            ..Options::default()
        };
        Segment {
            source_port: names.remote_port,
            destination_port: names.local_port,
            sequence: self.peer_initial,
            flags: flags::SYN | if has(ECN_BIT) { ECN_SETUP } else { 0 },
            options,
            ..Segment::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Way;
    use core::net::Ipv4Addr;
    use proptest::prelude::*;
    use skyhaul_core::Stream;

    fn names() -> Names {
        let address = |last| Ipv4Addr::new(10, 0, 0, last).into();
        Names { peer: Way { local: address(1), remote: address(2) }, local_port: 80, remote_port: 5000 }
    }

    proptest! {
        #[test]
        fn a_cookie_returns_what_was_agreed_for_one_to_two_periods(
            sequence in any::<u32>(), mss in proptest::option::of(88u16..), clock in any::<u32>(), late_s in 0u64..200,
            window_scale in proptest::option::of(0u8..=14), sack_permitted in any::<bool>(), ecn in any::<bool>(),
            at_s in 0u64..1000,
        ) {
            let config = crate::Config::standard();
            let secrets = Secrets::new(&mut Stream::new(1, "cookies"));
            let stamps = Timestamps { value: 7, echo: 0 };
            let options =
                Options { mss, window_scale, sack_permitted, timestamps: Some(stamps), ..Options::default() };
            let flags = flags::SYN | if ecn { ECN_SETUP } else { 0 };
            let syn = Segment { sequence, flags, options, ..Segment::default() };
            let agreed = Agreed::learn(&config, &syn, true);
            let (mut cookies, at) = (Cookies::default(), Instant::from_ns(at_s * SECOND));
            let cookie = cookies.make(&secrets, (names(), at), &syn, agreed);
            let stamp = cookie.stamp(clock).unwrap();
            prop_assert!(clock.wrapping_sub(stamp) < 64, "never ahead of the clock");
            let answer = Segment {
                sequence: sequence.wrapping_add(1),
                acknowledgement: cookie.initial.wrapping_add(1),
                flags: flags::ACK,
                options: Options {
                    timestamps: Some(Timestamps { value: 9, echo: stamp }),
                    ..Options::default()
                },
                ..Segment::default()
            };
            let then = at.after(late_s * SECOND);
            let opened = cookies.open(&secrets, (names(), then), &answer, true);
            prop_assert!(late_s >= 64 || opened.is_some());
            prop_assert!(late_s <= 128 || opened.is_none());
            let Some((again, initial)) = opened else { return Ok(()) };
            prop_assert_eq!((again.sequence, initial), (sequence, cookie.initial));
            let learnt = Agreed::learn(&config, &again, true);
            prop_assert!(learnt.peer_mss() <= agreed.peer_mss());
            let all = |one: Agreed| (one.send_shift, one.receive_shift, one.scales, one.sack, one.ecn);
            prop_assert_eq!(all(learnt), all(agreed));
            prop_assert!(learnt.timestamps);
        }
    }
}
