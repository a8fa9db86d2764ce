//! Records: what is sealed and opened.

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::Instant;

use super::{Arrived, AssociationId, Associations, Event, Owner, SealError, Sealed, Secrecy};
use crate::keys::NumbersUsedUp;
use crate::keyset::Part;
use crate::message::{MessageHead, has_room_for};
use crate::pending::{Digest, Early};
use crate::record::{Addressee, Head, OVERHEAD_BYTES, RecordError, text_range};
use crate::word::Word;
use crate::{Index, PeerId};

impl Associations {
    /// Seals a segment in place: `datagram` has [`crate::HEAD_BYTES`] of room in front of it and
    /// [`crate::aead::TAG_BYTES`] behind. Without keys a handshake begins, and the segment rides in its
    /// message or is sealed as early data.
    pub fn seal(
        &mut self,
        now: Instant,
        id: AssociationId,
        datagram: &mut [u8],
    ) -> Result<Sealed, SealError> {
        if datagram.len() < OVERHEAD_BYTES {
            return Err(SealError::NoRoom);
        }
        let entry = self.entries.get_mut(&id).ok_or(SealError::Unknown)?;
        let (wants_keys, has_keys) = (entry.association.wants_keys(now), entry.association.has_keys());
        if wants_keys && self.rides(now, id, has_keys, datagram)? {
            return Ok(Sealed::InMessage);
        }
        self.identify(now, id);
        let entry = self.entries.get_mut(&id).ok_or(SealError::Unknown)?;
        if !entry.association.way_mut().may_send(datagram.len()) {
            return Err(SealError::Unproven);
        }
        let sealed = match entry.association.seal(now, datagram, true) {
            Some(sealed) => sealed,
            None => entry.association.under_way().ok_or(SealError::BadKey)?.seal(now, datagram),
        };
        let address = entry.association.way().address();
        self.retime(id);
        sealed.map_err(|NumbersUsedUp| SealError::NumbersUsedUp)?;
        Ok(Sealed::InPlace(address))
    }

    /// Begins a handshake; whether the segment rides in its message.
    fn rides(
        &mut self,
        now: Instant,
        id: AssociationId,
        has_keys: bool,
        datagram: &[u8],
    ) -> Result<bool, SealError> {
        let segment = &datagram[text_range(datagram.len())];
        let peer = self.entries.get(&id).map(|entry| entry.association.peer());
        let mode = peer.and_then(|peer| self.peers.get(peer)).ok_or(SealError::Unknown)?.mode();
        let rides = !has_keys && !segment.is_empty() && has_room_for(mode, segment.len());
        self.call(now, id, if rides { segment } else { &[] })?;
        Ok(rides)
    }

    /// Takes a datagram. `Some`: a segment was opened in place. Others may wait in
    /// [`Self::poll_released`], answers in [`Self::poll_transmit`].
    pub fn handle(&mut self, now: Instant, from: SocketAddr, datagram: &mut [u8]) -> Option<Arrived> {
        if let Some(head) = MessageHead::decode(datagram) {
            self.handle_message(now, from, head, datagram);
            return None;
        }
        let opened = self.handle_record(now, from, datagram);
        opened.unwrap_or_else(|error| {
            self.count(error);
            None
        })
    }

    fn count(&mut self, error: RecordError) {
        let counters = &mut self.counters;
        *match error {
            RecordError::Envelope(_) | RecordError::Short | RecordError::NoIndex => &mut counters.alien,
            RecordError::UnknownIndex => &mut counters.unknown_index,
            RecordError::Replayed | RecordError::Old => &mut counters.replayed,
            RecordError::Ahead | RecordError::Forged | RecordError::Exhausted => &mut counters.forged,
        } += 1;
    }

    fn handle_record(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &mut [u8],
    ) -> Result<Option<Arrived>, RecordError> {
        let head = Head::decode(datagram)?;
        let local = match head.addressee {
            Addressee::Early(index) => return self.open_early(now, from, index, head, datagram),
            Addressee::Association(local) => local,
        };
        let association = match *self.indices.get(&local).ok_or(RecordError::UnknownIndex)? {
            Owner::Association(id) => self.open_in_use(now, id, (from, local), head, datagram)?,
            Owner::Pending(digest) => self.open_pending(now, from, digest, head, datagram)?,
        };
        if let Some(word) = Word::decode(&datagram[text_range(datagram.len())]) {
            self.take_word(now, association, from, word);
            return Ok(None);
        }
        Ok(arrived(association, datagram.len(), Secrecy::Full))
    }

    fn open_in_use(
        &mut self,
        now: Instant,
        id: AssociationId,
        (from, local): (SocketAddr, Index),
        head: Head,
        datagram: &mut [u8],
    ) -> Result<AssociationId, RecordError> {
        let entry = self.entries.get_mut(&id).ok_or(RecordError::UnknownIndex)?;
        let unheard = entry.association.keys(local).filter(|keys| !keys.is_heard());
        let part = unheard.map(|keys| keys.agreement().part);
        let (_, moves) = entry.association.open(now, (from, local), head, datagram)?;
        if let Some(Part::Acceptor(digest)) = part {
            self.prove(now, id, &digest);
        }
        if moves {
            self.go(now, id, from, datagram.len());
        }
        self.retime(id);
        Ok(id)
    }

    /// Opens a record under keys that nobody proved so far: it proves them.
    fn open_pending(
        &mut self,
        now: Instant,
        from: SocketAddr,
        digest: Digest,
        head: Head,
        datagram: &mut [u8],
    ) -> Result<AssociationId, RecordError> {
        let pending = self.pending.get_mut(&digest).ok_or(RecordError::UnknownIndex)?;
        pending.open(now, head, datagram)?;
        let id = self.destination(now, &digest, from).ok_or(RecordError::UnknownIndex)?;
        self.prove(now, id, &digest);
        Ok(id)
    }

    /// The opener has proven the keys of a handshake: they are taken into use, what was withheld is
    /// released, and the opener is told by an empty record.
    fn prove(&mut self, now: Instant, id: AssociationId, digest: &Digest) {
        let Some(pending) = self.pending.get_mut(digest) else { return };
        let (peer, counter, from): (PeerId, u64, SocketAddr) = (pending.peer, pending.counter, pending.from);
        let (keys, withheld) = pending.prove(id);
        if let Some(keys) = keys {
            let rtt_ns = now.since(keys.agreed_at());
            self.install(now, id, keys, (from, rtt_ns));
        }
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.take_counter(counter);
        }
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.association.way_mut().prove(from);
            entry.association.unproven_mut().settle(digest);
        }
        self.tell(Event::Confirmed { association: id });
        for segment in withheld {
            self.release(id, segment);
        }
        self.send_empty(now, id);
    }

    fn open_early(
        &mut self,
        now: Instant,
        from: SocketAddr,
        index: Index,
        head: Head,
        datagram: &mut [u8],
    ) -> Result<Option<Arrived>, RecordError> {
        let (digest, pending) = self.pending.by_early(index, from).ok_or(RecordError::UnknownIndex)?;
        let opened = pending.open_early(now, head, datagram)?;
        match pending.early() {
            Early::To(id) if self.entries.contains_key(&id) => {
                if !pending.is_proven() {
                    self.doubt(id, digest);
                }
                Ok(arrived(id, datagram.len(), Secrecy::Early))
            }
            Early::To(_) => Err(RecordError::UnknownIndex),
            Early::Withheld => {
                pending.withhold(&datagram[opened.text]);
                Ok(None)
            }
        }
    }

    /// Seals an empty record, which says that this end has the keys.
    pub(super) fn send_empty(&mut self, now: Instant, id: AssociationId) {
        if let Some(to) = self.address(id) {
            self.send_text(now, id, to, &[]);
        }
    }

    /// Seals a text of the association's own, for an address.
    pub(super) fn send_text(&mut self, now: Instant, id: AssociationId, to: SocketAddr, text: &[u8]) {
        self.identify(now, id);
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let mut datagram: Vec<u8> = alloc::vec![0; OVERHEAD_BYTES + text.len()];
        datagram[text_range(OVERHEAD_BYTES + text.len())].copy_from_slice(text);
        let may =
            to != entry.association.way().address() || entry.association.way_mut().may_send(datagram.len());
        if may && let Some(Ok(())) = entry.association.seal(now, &mut datagram, false) {
            self.transmit(to, datagram);
        }
    }
}

/// Segment of a record of so many octets; an empty one is none.
fn arrived(association: AssociationId, length: usize, secrecy: Secrecy) -> Option<Arrived> {
    let segment = text_range(length);
    (!segment.is_empty()).then_some(Arrived { association, segment, secrecy })
}
