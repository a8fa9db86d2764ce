//! Association: what this end shares with one peer: keys in use, the last ones, a handshake under way.

use alloc::boxed::Box;
use core::net::SocketAddr;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

use crate::Index;
use crate::aead::AeadName;
use crate::keys::{LATE_NS, NumbersUsedUp, Opened};
use crate::keyset::{Keyset, Part};
use crate::opening::{Opening, Retry};
use crate::peers::PeerId;
use crate::record::{Head, RecordError};
use crate::unproven::Unproven;
use crate::voice::Voice;
use crate::way::Way;
use crate::wish::Wish;
use crate::word::WORD_BYTES;

/// Time for which records stay unanswered until this end opens new keys: the peer may have restarted. Over
/// paths with long round trips, two of those and [`ACKNOWLEDGED_NS`].
pub const SILENCE_NS: u64 = 5 * SECOND;

/// Records that stay unanswered, at least, until this end opens new keys: the last one of few may be lost.
const MIN_UNANSWERED: u32 = 3;

/// Time after which an end that has nothing to say answers a record by an empty one.
pub const ACKNOWLEDGED_NS: u64 = 2 * SECOND;

/// Time for which an end calls without an answer until it gives up.
pub const GIVE_UP_NS: u64 = 600 * SECOND;

/// Time without a datagram after which keys are wiped.
pub const IDLE_NS: u64 = 3 * 3600 * SECOND;

/// Time after which an end that sends tells its callsign again, where all may read: what rules of radio
/// amateurs ask for.
pub const CALLSIGN_NS: u64 = 600 * SECOND;

/// Empty records that tell the acceptor that this end has the keys, if nothing is heard of it.
const MAX_CONFIRMATIONS: u32 = 6;

/// Handshake under way, and its timers.
#[derive(Debug)]
struct Calling {
    opening: Opening,
    retry: Retry,
    since: Instant,
}

/// Keys in use.
#[derive(Debug)]
struct Current {
    keys: Keyset,
    /// Timer of the next confirmation, while the peer has not shown that it has the keys.
    confirmation: Option<(Retry, u32)>,
}

/// Association with a peer.
#[derive(Debug)]
pub(crate) struct Association {
    peer: PeerId,
    way: Way,
    /// Whether this end's owner asked for it: it stays when its keys go.
    is_ours: bool,
    current: Option<Current>,
    /// Last keys, and when they are wiped: seldom there, as a handshake under way is.
    previous: Option<Box<(Keyset, Instant)>>,
    calling: Option<Box<Calling>>,
    /// When records began to stay unanswered, and how many.
    unanswered: Option<(Instant, u32)>,
    /// When an empty record is due, since a segment came and nothing went since.
    acknowledgement_at: Option<Instant>,
    voice: Voice,
    /// Round trip of the last handshake.
    rtt_ns: u64,
    used_at: Instant,
    is_proven: bool,
    unproven: Unproven,
    /// When this end told its callsign: messages of handshakes do, too.
    identified_at: Instant,
}

impl Association {
    pub(crate) fn new(peer: PeerId, way: Way, is_ours: bool, now: Instant) -> Self {
        Self {
            peer,
            way,
            is_ours,
            current: None,
            previous: None,
            calling: None,
            unanswered: None,
            acknowledgement_at: None,
            voice: Voice::default(),
            rtt_ns: 0,
            used_at: now,
            is_proven: false,
            unproven: Unproven::default(),
            identified_at: now,
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.peer
    }

    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    pub(crate) fn way_mut(&mut self) -> &mut Way {
        &mut self.way
    }

    /// The peer is elsewhere now.
    pub(crate) fn go(&mut self, way: Way) {
        self.way = way;
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    pub(crate) fn used_at(&self) -> Instant {
        self.used_at
    }

    pub(crate) fn has_keys(&self) -> bool {
        self.current.is_some()
    }

    /// Whether the peer has shown that it has the keys in use.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.current.as_ref().is_some_and(|current| {
            // An acceptor shows it by message 2.
            current.keys.is_heard() || current.keys.agreement().part == Part::Opener
        })
    }

    /// AEAD of the keys in use.
    pub(crate) fn aead(&self) -> Option<AeadName> {
        self.current.as_ref().map(|current| current.keys.agreement().aead)
    }

    /// Handshakes whose early data is in doubt.
    pub(crate) fn unproven(&self) -> &Unproven {
        &self.unproven
    }

    pub(crate) fn unproven_mut(&mut self) -> &mut Unproven {
        &mut self.unproven
    }

    /// Keys that a record with this local index is under.
    pub(crate) fn keys(&self, local: Index) -> Option<&Keyset> {
        let current = self.current.as_ref().map(|current| &current.keys);
        let previous = self.previous.as_deref().map(|(keys, _)| keys);
        [current, previous].into_iter().flatten().find(|keys| keys.agreement().local == local)
    }

    /// Whether the peer has ever shown that it has keys of this association.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven
    }

    /// Whether keys that the peer has proven are in use, or were until they were retired.
    pub(crate) fn has_proven_keys(&self) -> bool {
        self.is_proven && (self.current.is_some() || self.previous.is_some())
    }

    /// Peer's index of the keys in use, or of those that were retired, which a handshake says that it
    /// continues.
    pub(crate) fn remote(&self) -> Option<Index> {
        let current = self.current.as_ref().map(|current| &current.keys);
        let keys = current.or(self.previous.as_deref().map(|(keys, _)| keys));
        keys.map(|keys| keys.agreement().remote)
    }

    /// Indices that records or messages for this association come with.
    pub(crate) fn locals(&self) -> impl Iterator<Item = Index> {
        let current = self.current.as_ref().map(|current| current.keys.agreement().local);
        let previous = self.previous.as_deref().map(|(keys, _)| keys.agreement().local);
        [current, previous, self.called()].into_iter().flatten()
    }

    /// Takes keys into use, unless those in use outrank them. The others stay for late records; `Some` are
    /// those whose place they take.
    pub(crate) fn install(
        &mut self,
        now: Instant,
        keys: Keyset,
        from: SocketAddr,
        (leads, rtt_ns): (bool, u64),
    ) -> Option<Index> {
        if self.way.address() != from {
            self.way = Way::new(from);
        }
        (self.used_at, self.unanswered, self.identified_at) = (now, None, now);
        self.rtt_ns = rtt_ns;
        let stays = self.current.as_ref().is_some_and(|current| current.keys.outranks(&keys, now, leads));
        let confirmation = (keys.agreement().part == Part::Opener).then(|| (Retry::new(now), 0));
        self.is_proven |= confirmation.is_some();
        let new = Current { keys, confirmation };
        let late = if stays { Some(new) } else { self.current.replace(new) };
        let freed = self.previous.take().map(|late| late.0.agreement().local);
        self.previous = late.map(|late| Box::new((late.keys, now.after(LATE_NS))));
        freed
    }

    /// Whether this end is to tell its callsign before it seals: under keys of a mode in which all may read,
    /// and [`CALLSIGN_NS`] after it last did. Then it has.
    pub(crate) fn is_to_identify(&mut self, now: Instant) -> bool {
        let mode = self.current.as_ref().map(|current| current.keys.agreement().mode);
        let is_due = mode == Some(Mode::Authenticated) && now.since(self.identified_at) >= CALLSIGN_NS;
        if is_due {
            self.identified_at = now;
        }
        is_due
    }

    /// Seals under the keys in use. `counts`: an answer is expected.
    pub(crate) fn seal(
        &mut self,
        now: Instant,
        datagram: &mut [u8],
        counts: bool,
    ) -> Option<Result<(), NumbersUsedUp>> {
        let current = self.current.as_mut()?;
        (self.used_at, self.acknowledgement_at) = (now, None);
        if counts {
            let (since, number) = self.unanswered.unwrap_or((now, 0));
            self.unanswered = Some((since, number + 1));
        }
        Some(current.keys.seal(now, datagram))
    }

    /// Opens a record that came with this local index. True if the peer has moved to where it came from.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        (from, local): (SocketAddr, Index),
        head: Head,
        datagram: &mut [u8],
    ) -> Result<(Opened, bool), RecordError> {
        let mut moves = false;
        let current = self.current.as_mut().filter(|current| current.keys.agreement().local == local);
        let opened = if let Some(current) = current {
            let opened = current.keys.open(now, head, datagram)?;
            current.confirmation = None;
            moves = opened.is_highest && self.way.leads_elsewhere(from);
            opened
        } else {
            let previous = self.previous.as_deref_mut().filter(|(keys, _)| keys.agreement().local == local);
            let (keys, wiped_at) = previous.ok_or(RecordError::UnknownIndex)?;
            let opened = keys.open(now, head, datagram)?;
            // The peer may not know of the new ones yet.
            *wiped_at = now.after(LATE_NS);
            opened
        };
        (self.used_at, self.unanswered, self.is_proven) = (now, None, true);
        let has_segment = opened.text.len() > WORD_BYTES;
        self.voice.heard(now, has_segment);
        self.way.heard(from, datagram.len());
        if has_segment && self.acknowledgement_at.is_none() {
            self.acknowledgement_at = Some(now.after(ACKNOWLEDGED_NS));
        }
        Ok((opened, moves))
    }

    /// Whether this end is to open new keys: it has none, they are old, or nobody answers under them.
    pub(crate) fn wants_keys(&self, now: Instant) -> bool {
        let silence_ns = SILENCE_NS.max(2 * self.rtt_ns + ACKNOWLEDGED_NS);
        let is_silent = self
            .unanswered
            .is_some_and(|(since, number)| number + 1 >= MIN_UNANSWERED && now.since(since) >= silence_ns);
        self.calling.is_none()
            && self.current.as_ref().is_none_or(|current| is_silent || current.keys.is_due(now))
    }

    /// Begins to call. A handshake that takes the place of another goes on with its timers.
    pub(crate) fn call(&mut self, now: Instant, opening: Opening) {
        let last = self.calling.take();
        let (retry, since) = last.map_or((Retry::new(now), now), |last| (last.retry, last.since));
        self.calling = Some(Box::new(Calling { opening, retry, since }));
        self.identified_at = now;
    }

    /// Index of the handshake under way.
    pub(crate) fn called(&self) -> Option<Index> {
        self.calling.as_ref().map(|calling| calling.opening.index())
    }

    pub(crate) fn opening(&mut self, index: Index) -> Option<&mut Opening> {
        self.calling.as_mut().map(|calling| &mut calling.opening).filter(|opening| opening.index() == index)
    }

    /// Handshake under way, whose keys early data is sealed under.
    pub(crate) fn under_way(&mut self) -> Option<&mut Opening> {
        self.calling.as_mut().map(|calling| &mut calling.opening)
    }

    /// Ends to call.
    pub(crate) fn hang_up(&mut self) {
        self.calling = None;
    }

    /// Seals nothing under the keys in use any more: they open late records only. What is sealed next calls.
    /// Result: the local index of keys that are wiped for it.
    pub(crate) fn retire(&mut self, now: Instant) -> Option<Index> {
        let current = self.current.take()?;
        self.unanswered = None;
        let freed = self.previous.replace(Box::new((current.keys, now.after(LATE_NS))));
        freed.map(|late| late.0.agreement().local)
    }

    /// Whether it comes to its end if nothing is heard or sent for [`IDLE_NS`]: with keys to wipe, or as the
    /// peer's, without any.
    fn rests(&self) -> bool {
        self.current.is_some() || !self.is_ours
    }

    /// Wipes all keys.
    pub(crate) fn wipe(&mut self) {
        (self.current, self.previous, self.calling) = (None, None, None);
        (self.unanswered, self.acknowledgement_at, self.voice) = (None, None, Voice::default());
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let current = self.current.as_ref();
        [
            self.calling.as_ref().map(|calling| calling.retry.at()),
            current.and_then(|current| current.confirmation).map(|(retry, _)| retry.at()),
            current.and_then(|current| current.keys.deadline()),
            self.previous.as_deref().map(|&(_, wiped_at)| wiped_at),
            self.rests().then(|| self.used_at.after(IDLE_NS)),
            current.and(self.acknowledgement_at),
            current.and(self.voice.deadline()),
            current.and(self.way.deadline()),
        ]
        .iter()
        .flatten()
        .min()
        .copied()
    }

    /// Wipes what is to be wiped; the local index that goes with it.
    pub(crate) fn wipe_late(&mut self, now: Instant) -> Option<Index> {
        if let Some(current) = &mut self.current {
            current.keys.handle_timeout(now);
        }
        let is_over = self.previous.as_deref().is_some_and(|&(_, wiped_at)| wiped_at <= now);
        let over = if is_over { self.previous.take() } else { None };
        over.map(|late| late.0.agreement().local)
    }

    /// What is to be done by now. Ask again until there is nothing.
    pub(crate) fn wish(&mut self, now: Instant) -> Option<Wish> {
        if self.rests() && now.since(self.used_at) >= IDLE_NS {
            return Some(Wish::Idle);
        }
        if let Some(calling) = &mut self.calling
            && calling.retry.fire(now)
        {
            if now.since(calling.since) >= GIVE_UP_NS {
                return Some(Wish::GiveUp);
            }
            let is_stale = calling.opening.is_stale(now);
            return Some(if is_stale { Wish::CallAnew } else { Wish::Call(calling.opening.datagram()) });
        }
        self.current.as_ref()?;
        if self.way.fire(now) {
            return Some(Wish::Challenge);
        }
        let is_due = self.acknowledgement_at.is_some_and(|at| at <= now);
        (is_due || self.wishes_to_confirm(now) || self.voice.fire(now)).then_some(Wish::Confirm)
    }

    fn wishes_to_confirm(&mut self, now: Instant) -> bool {
        let Some(confirmation) = self.current.as_mut().map(|current| &mut current.confirmation) else {
            return false;
        };
        let Some((retry, times)) = confirmation else { return false };
        if !retry.fire(now) {
            return false;
        }
        *times += 1;
        if *times >= MAX_CONFIRMATIONS {
            *confirmation = None;
        }
        true
    }
}
