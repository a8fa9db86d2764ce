//! Handshakes that peers opened: what an acceptor holds of each until its opener has proven the keys, and
//! for a while longer, so that a copy gets no second handshake.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{Instant, SECOND};

use crate::associations::AssociationId;
use crate::keys::{Opened, OpeningKeys};
use crate::keyset::Keyset;
use crate::peers::PeerId;
use crate::record::{Head, RecordError};
use crate::{Index, Secret};

/// Unconfirmed handshakes that are held of a peer.
pub const MAX_PENDING: usize = 4;

/// Time for which a fresh handshake is remembered: longer than its opener may send its message, so that no
/// copy passes for another one.
pub const PENDING_NS: u64 = 180 * SECOND;

/// Time for which a handshake is held that is not fresh: its early data was not delivered, so that a copy
/// may begin again.
pub const UNPROVEN_NS: u64 = 30 * SECOND;

/// Octets of early data that are withheld of one handshake. What exceeds them is dropped, and comes again.
pub const MAX_WITHHELD_BYTES: usize = 16 * 1024;

/// Fresh handshakes that gave way and are remembered; of more, the oldest are forgotten.
const MAX_DISPLACED: usize = 256;

/// Digest of message 1, without what cookies change.
pub(crate) type Digest = [u8; 32];

/// Digest of the octets of message 1 in front of its mac1.
pub(crate) fn digest(front: &[u8]) -> Digest {
    Secret::new([0; 32]).mac(&[front])
}

/// Where early data of a handshake goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// To this association, at once.
    To(AssociationId),
    /// Nowhere before the keys are proven.
    Withheld,
}

/// Handshake of a peer.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) peer: PeerId,
    pub(crate) from: SocketAddr,
    pub(crate) opener: Index,
    pub(crate) counter: u64,
    pub(crate) answer: Vec<u8>,
    pub(crate) is_fresh: bool,
    continues: Option<AssociationId>,
    /// Handshake that it goes on from, whose keys were not proven when it came.
    follows: Option<Digest>,
    early: Early,
    early_keys: OpeningKeys,
    /// Keys that are not in use yet.
    keys: Option<Keyset>,
    withheld: Vec<Vec<u8>>,
    is_proven: bool,
    expires_at: Instant,
}

/// What is known of a handshake when it begins.
pub(crate) struct Beginning {
    pub(crate) peer: PeerId,
    pub(crate) from: SocketAddr,
    pub(crate) opener: Index,
    pub(crate) counter: u64,
    pub(crate) answer: Vec<u8>,
    pub(crate) is_fresh: bool,
    pub(crate) continues: Option<AssociationId>,
    pub(crate) follows: Option<Digest>,
    pub(crate) early_keys: OpeningKeys,
}

impl Pending {
    pub(crate) fn new(now: Instant, beginning: Beginning, early: Early, keys: Option<Keyset>) -> Self {
        let Beginning { peer, from, opener, counter, answer, is_fresh, continues, follows, early_keys } =
            beginning;
        Self {
            peer,
            from,
            opener,
            counter,
            answer,
            is_fresh,
            continues,
            follows,
            early,
            early_keys,
            keys,
            withheld: Vec::new(),
            is_proven: false,
            expires_at: now.after(if is_fresh { PENDING_NS } else { UNPROVEN_NS }),
        }
    }

    pub(crate) fn early(&self) -> Early {
        self.early
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven
    }

    /// Association that it continues, or that its proven keys went to.
    pub(crate) fn continues(&self) -> Option<AssociationId> {
        match self.early {
            Early::To(id) if self.is_proven => Some(id),
            _ => self.continues,
        }
    }

    /// Keys of a handshake that goes on from this one went to an association: so will these.
    pub(crate) fn go_on(&mut self, association: AssociationId) {
        self.continues = Some(association);
    }

    /// Association that a fresh handshake began, which falls with it unless it is proven.
    pub(crate) fn begun(&self) -> Option<AssociationId> {
        match self.early {
            Early::To(id) if !self.is_proven && self.keys.is_none() => Some(id),
            _ => None,
        }
    }

    /// Index of the keys that are not in use yet.
    pub(crate) fn local(&self) -> Option<Index> {
        self.keys.as_ref().map(|keys| keys.agreement().local)
    }

    pub(crate) fn open_early(
        &mut self,
        now: Instant,
        head: Head,
        datagram: &mut [u8],
    ) -> Result<Opened, RecordError> {
        self.early_keys.open(now, head, datagram)
    }

    /// Keeps a segment until the keys are proven.
    pub(crate) fn withhold(&mut self, segment: &[u8]) {
        let held: usize = self.withheld.iter().map(Vec::len).sum();
        if held + segment.len() <= MAX_WITHHELD_BYTES {
            self.withheld.push(segment.to_vec());
        }
    }

    /// Opens a record under the keys that are not in use yet.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        head: Head,
        datagram: &mut [u8],
    ) -> Result<Opened, RecordError> {
        self.keys.as_mut().ok_or(RecordError::UnknownIndex)?.open(now, head, datagram)
    }

    /// The opener has proven the keys, which go to an association, as does what was withheld.
    pub(crate) fn prove(&mut self, association: AssociationId) -> (Option<Keyset>, Vec<Vec<u8>>) {
        self.is_proven = true;
        self.early = Early::To(association);
        (self.keys.take(), core::mem::take(&mut self.withheld))
    }
}

/// Handshakes of all peers, by the digest of message 1.
#[derive(Debug, Default)]
pub(crate) struct PendingTable {
    all: BTreeMap<Digest, Pending>,
    early: BTreeMap<(Index, SocketAddr), Digest>,
    /// Fresh ones that gave way: their early data was delivered, and must not be again.
    displaced: BTreeSet<(Instant, Digest)>,
    expiries: BTreeSet<(Instant, Digest)>,
}

impl PendingTable {
    pub(crate) fn get(&self, digest: &Digest) -> Option<&Pending> {
        self.all.get(digest)
    }

    pub(crate) fn get_mut(&mut self, digest: &Digest) -> Option<&mut Pending> {
        self.all.get_mut(digest)
    }

    /// Handshakes that one goes on from, the latest first: at most as many as a peer may have.
    pub(crate) fn followed_by(&self, digest: &Digest) -> Vec<Digest> {
        let before = |digest: &Digest| self.all.get(digest)?.follows;
        core::iter::successors(before(digest), before).take(MAX_PENDING).collect()
    }

    /// Handshake whose early data has this index and comes from there.
    pub(crate) fn by_early(&mut self, index: Index, from: SocketAddr) -> Option<(Digest, &mut Pending)> {
        let digest = *self.early.get(&(index, from))?;
        Some((digest, self.all.get_mut(&digest)?))
    }

    /// Handshake that makes room for another one of its peer: `Ok(None)` if there is room, `Err` if none
    /// gives way. A proven one gives way to all, an unconfirmed one to a fresh one: that which is not fresh
    /// first.
    pub(crate) fn gives_way(&self, peer: PeerId, is_fresh: bool) -> Result<Option<Digest>, ()> {
        let of_peer = || self.all.iter().filter(|(_, pending)| pending.peer == peer);
        if of_peer().count() < MAX_PENDING {
            return Ok(None);
        }
        let oldest = |ready: fn(&Pending) -> bool| {
            let ready = of_peer().filter(|(_, pending)| ready(pending));
            ready.min_by_key(|(_, pending)| pending.expires_at).map(|(digest, _)| *digest)
        };
        let way = oldest(|pending| pending.is_proven);
        let way = way.or_else(|| oldest(|pending| !pending.is_fresh).filter(|_| is_fresh));
        let way = way.or_else(|| oldest(|_| true).filter(|_| is_fresh));
        way.map(Some).ok_or(())
    }

    pub(crate) fn insert(&mut self, digest: Digest, pending: Pending) {
        self.early.insert((pending.opener, pending.from), digest);
        self.expiries.insert((pending.expires_at, digest));
        self.all.insert(digest, pending);
    }

    pub(crate) fn remove(&mut self, digest: &Digest) -> Option<Pending> {
        let pending = self.all.remove(digest)?;
        self.expiries.remove(&(pending.expires_at, *digest));
        let early = (pending.opener, pending.from);
        if self.early.get(&early) == Some(digest) {
            self.early.remove(&early);
        }
        Some(pending)
    }

    /// Removes a handshake that gives way to another one.
    pub(crate) fn displace(&mut self, digest: &Digest) -> Option<Pending> {
        let pending = self.remove(digest)?;
        if pending.is_fresh {
            self.displaced.insert((pending.expires_at, *digest));
        }
        while self.displaced.len() > MAX_DISPLACED {
            self.displaced.pop_first();
        }
        Some(pending)
    }

    /// Whether a fresh handshake with this digest gave way to another one, and its opener may still send it.
    pub(crate) fn was_displaced(&mut self, now: Instant, digest: &Digest) -> bool {
        while self.displaced.first().is_some_and(|&(expires_at, _)| expires_at <= now) {
            self.displaced.pop_first();
        }
        self.displaced.iter().any(|(_, displaced)| displaced == digest)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.expiries.first().map(|&(at, _)| at)
    }

    /// Handshake that is to be forgotten by now.
    pub(crate) fn expired(&self, now: Instant) -> Option<Digest> {
        let &(at, digest) = self.expiries.first()?;
        (at <= now).then_some(digest)
    }

    /// Handshakes whose keys are not in use yet.
    pub(crate) fn unused(&self) -> Vec<Digest> {
        let unused = self.all.iter().filter(|(_, pending)| pending.keys.is_some());
        unused.map(|(digest, _)| *digest).collect()
    }

    /// Handshakes of a peer.
    pub(crate) fn of(&self, peer: PeerId) -> Vec<Digest> {
        self.all.iter().filter(|(_, pending)| pending.peer == peer).map(|(digest, _)| *digest).collect()
    }
}
