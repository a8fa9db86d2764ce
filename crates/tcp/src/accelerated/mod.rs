//! Openings that carry data: T/TCP [RFC 1644] and Fast Open [RFC 7413]. Here is a connection's part of them;
//! what an endpoint keeps of hosts is in [`facts`].

mod counts;
mod facts;
mod fast_open;
mod round_trip;

use skyhaul_core::Instant;

use crate::segment::{ExtraOptions, Segment, flags};

pub(crate) use counts::{Counts, PADDED_COUNT_BYTES, Ttcp, is_counted};
pub(crate) use facts::Facts;
pub use facts::FastOpenFacts;
pub use fast_open::Cookie;
pub(crate) use fast_open::{FastOpen, Told};
pub(crate) use round_trip::RoundTrip;

/// Way of opening with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceleratedOpen {
    /// T/TCP: hosts count connections, and an opening that counts higher than all before is new.
    Ttcp,
    /// TCP Fast Open: a cookie of the server's shows that the client has its address.
    FastOpen,
}

/// Part that a connection has in such an opening.
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    Ttcp(Ttcp),
    FastOpen(FastOpen),
}

/// Fact that an opening taught, for those to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The peer's count, which a whole handshake has confirmed, for cache.CC. `is_new`: the peer counts anew.
    /// `own`: our count for the connection.
    PeerCount { count: u32, is_new: bool, own: u32 },
    /// The peer speaks T/TCP: its count, ours (cache.CCsent), its largest segment.
    SpeaksTtcp { peer: u32, own: u32, mss: u16 },
    /// It does not: cache.CCsent is void.
    NoTtcp,
    /// An opening of the peer's bore no count, and its handshake is whole: cache.CC is void.
    NoCount,
    /// Cookie for the next opening, and the peer's largest segment.
    Cookie { cookie: Cookie, mss: u16 },
    /// An opening with a cookie was answered; the peer's largest segment.
    CookieWorks { mss: u16 },
    /// An opening with the option of Fast Open was lost, and one without it was answered; or its data was not
    /// taken, though no other cookie came.
    Vanished,
    /// At this time an opening with a cookie was given up without an answer, or ICMP came for it.
    Unanswered { at: Instant },
}

/// Judgement on the answer to our opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Answer of a peer that speaks this.
    Takes,
    /// Answer of an ordinary peer.
    Ordinary,
    /// Answer to an opening that is not ours any more.
    Foreign,
}

impl Opening {
    /// Adds the options of a segment; `is_answer`: of an answer to the peer's SYN. `is_repeat`: the SYN was
    /// sent before. `room`: octets of options at most.
    pub(crate) fn push_options(
        &self,
        (is_syn, is_answer, is_repeat): (bool, bool, bool),
        room: usize,
        extra: &mut ExtraOptions,
    ) {
        match self {
            Self::Ttcp(ttcp) => ttcp.push_options(is_syn, is_answer, extra),
            Self::FastOpen(fast) if is_syn && !is_repeat => fast.push_option(room, extra),
            Self::FastOpen(_) => {}
        }
    }

    /// True if every segment behind the SYN bears a count.
    pub(crate) fn counts(&self) -> bool {
        matches!(self, Self::Ttcp(ttcp) if ttcp.peer().is_some())
    }

    /// True if a segment may belong to this connection. An opening is judged by its numbers.
    pub(crate) fn accepts(&self, segment: &Segment<'_>) -> bool {
        match self {
            Self::Ttcp(ttcp) if !segment.has(flags::SYN) => ttcp.accepts(segment),
            _ => true,
        }
    }

    /// Judges the answer to our SYN, which had to be sent `timeouts` times more, and what it teaches.
    /// `taken`: whether it takes some of the data that went with the SYN, if there was any.
    pub(crate) fn on_answer(
        &mut self,
        answer: &Segment<'_>,
        (timeouts, taken): (u32, Option<bool>),
        mss: u16,
    ) -> (Judgement, Option<Lesson>) {
        match self {
            Self::Ttcp(ttcp) => ttcp.on_answer(answer, mss),
            Self::FastOpen(fast) => (Judgement::Takes, fast.on_answer(answer, (timeouts, taken), mss)),
        }
    }

    /// Lesson of an opening that has no answer, or ICMP for one, at this time [RFC 7413 4.1.3.1].
    pub(crate) fn unanswered(&self, at: Instant) -> Option<Lesson> {
        matches!(self, Self::FastOpen(fast) if fast.has_cookie()).then_some(Lesson::Unanswered { at })
    }

    /// The handshake is over at the end that accepts; what that teaches.
    pub(crate) fn on_established(&self) -> Option<Lesson> {
        match self {
            Self::Ttcp(ttcp) => ttcp.confirmed(),
            Self::FastOpen(_) => None,
        }
    }

    /// True if the round trip of this connection, which is over, is to be kept for those to come; once.
    pub(crate) fn leaves_round_trip(&mut self) -> bool {
        match self {
            Self::Ttcp(ttcp) => ttcp.leaves_round_trip(),
            Self::FastOpen(_) => false,
        }
    }

    /// True if a FIN may go with a SYN.
    pub(crate) fn may_end_in_opening(&self) -> bool {
        matches!(self, Self::Ttcp(_))
    }

    /// True if this SYN, to a connection that is over, has a higher count than it: it begins a new one.
    pub(crate) fn is_successor(&self, syn: &Segment<'_>) -> bool {
        matches!(self, Self::Ttcp(ttcp) if ttcp.is_successor(syn))
    }

    /// Time of TIME-WAIT, where the ordinary one is `ordinary_ns`: eight timeouts for a connection that was
    /// shorter than a segment lives, since its numbers have not wrapped and counts tell the next one apart
    /// [RFC 1644 2.4].
    pub(crate) fn time_wait_ns(&self, ordinary_ns: u64, rto_ns: u64, now: Instant) -> u64 {
        match self {
            Self::Ttcp(ttcp) if ttcp.peer().is_some() && now.since(ttcp.since()) < ordinary_ns / 2 => {
                ordinary_ns.min(rto_ns.saturating_mul(8))
            }
            _ => ordinary_ns,
        }
    }
}
