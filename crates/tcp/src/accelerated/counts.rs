//! Connection counts of T/TCP: their options, and what a connection does with them [RFC 1644 3].

use skyhaul_core::Instant;

use super::{Judgement, Lesson};
use crate::segment::{ExtraOptions, Segment, flags};
use crate::sequence::is_earlier;

/// Kinds of options [RFC 1644 3.2].
const CC: u8 = 11;
const CC_NEW: u8 = 12;
const CC_ECHO: u8 = 13;
/// Octets of such an option, padded.
pub(crate) const PADDED_COUNT_BYTES: usize = 8;

/// Counts that a segment bears. An option of a wrong length is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// CC.
    pub(crate) own: Option<u32>,
    /// CC.NEW.
    pub(crate) new: Option<u32>,
    /// CC.ECHO.
    pub(crate) echo: Option<u32>,
}

impl Counts {
    /// Counts of this segment.
    pub(crate) fn of(segment: &Segment<'_>) -> Self {
        let extra = &segment.options.extra;
        let read = |kind| Some(u32::from_be_bytes(extra.get(kind)?.try_into().ok()?));
        Self { own: read(CC), new: read(CC_NEW), echo: read(CC_ECHO) }
    }
}

/// True if a segment bears the count of its sender's: T/TCP sent it.
pub(crate) fn is_counted(segment: &Segment<'_>) -> bool {
    let counts = Counts::of(segment);
    counts.own.or(counts.new).is_some()
}

/// Counts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ttcp {
    /// `CCsend`.
    own: u32,
    /// `CCrecv`; `None`: the peer has told none.
    peer: Option<u32>,
    /// The SYN says CC.NEW: whoever accepts has to forget what it knows of whoever opens.
    is_new: bool,
    since: Instant,
    /// Its round trip is kept for later connections.
    has_left_round_trip: bool,
}

impl Ttcp {
    /// Part of the end that opens.
    pub(crate) fn opening(own: u32, is_new: bool, now: Instant) -> Self {
        Self { own, peer: None, is_new, since: now, has_left_round_trip: false }
    }

    /// Part of the end that accepts an opening with this count.
    pub(crate) fn accepting(own: u32, peer: u32, is_new: bool, now: Instant) -> Self {
        Self { own, peer: Some(peer), is_new, since: now, has_left_round_trip: false }
    }

    /// Lesson of a whole handshake at the end that accepts.
    pub(super) fn confirmed(&self) -> Option<Lesson> {
        self.peer.map(|count| Lesson::PeerCount { count, is_new: self.is_new, own: self.own })
    }

    /// True once, if the peer counts, too.
    pub(super) fn leaves_round_trip(&mut self) -> bool {
        self.peer.is_some() && !core::mem::replace(&mut self.has_left_round_trip, true)
    }

    pub(super) fn peer(&self) -> Option<u32> {
        self.peer
    }

    /// Moment at which the connection began.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    pub(super) fn push_options(&self, is_syn: bool, is_answer: bool, extra: &mut ExtraOptions) {
        let own = self.own.to_be_bytes();
        match (is_syn, self.peer) {
            (true, Some(peer)) if is_answer => {
                extra.push(CC, &own);
                extra.push(CC_ECHO, &peer.to_be_bytes());
            }
            (true, None) if !is_answer => _ = extra.push(if self.is_new { CC_NEW } else { CC }, &own),
            (false, Some(_)) => _ = extra.push(CC, &own),
            _ => {}
        }
    }

    /// Every segment bears the count of its sender, or is of another connection; an RST may bear none
    /// [RFC 1644 3.4].
    pub(super) fn accepts(&self, segment: &Segment<'_>) -> bool {
        let Some(peer) = self.peer else { return true };
        let told = Counts::of(segment).own;
        told == Some(peer) || (told.is_none() && segment.has(flags::RST))
    }

    pub(super) fn on_answer(&mut self, answer: &Segment<'_>, mss: u16) -> (Judgement, Option<Lesson>) {
        match Counts::of(answer) {
            Counts { echo: Some(echo), .. } if echo != self.own => (Judgement::Foreign, None),
            Counts { echo: Some(_), own: Some(peer), .. } => {
                self.peer = Some(peer);
                (Judgement::Takes, Some(Lesson::SpeaksTtcp { peer, own: self.own, mss }))
            }
            _ => (Judgement::Ordinary, Some(Lesson::NoTtcp)),
        }
    }

    pub(super) fn is_successor(&self, syn: &Segment<'_>) -> bool {
        let told = Counts::of(syn).own;
        matches!((self.peer, told), (Some(peer), Some(told)) if is_earlier(peer, told))
    }
}
