//! Handshakes that this end opens.

use core::net::SocketAddr;

use skyhaul_core::Instant;

use super::{AssociationId, Associations, Event, Owner, SealError};
use crate::cookie::has_mac1;
use crate::keyset::{Agreement, Keyset, Part};
use crate::message::MessageHead;
use crate::opening::{Occasion, Opening};

impl Associations {
    /// Opens a handshake for an association, with the first segment in its message if that is not empty.
    pub(super) fn call(&mut self, now: Instant, id: AssociationId, segment: &[u8]) -> Result<(), SealError> {
        let entry = self.entries.get(&id).ok_or(SealError::Unknown)?;
        let (peer_id, continues) = (entry.association.peer(), entry.association.remote());
        // The acceptor knows by it what a message takes the place of.
        let index = entry.association.called().unwrap_or_else(|| self.free_index());
        let random = self.entropy.draw();
        let peer = self.peers.get_mut(peer_id).ok_or(SealError::Unknown)?;
        let (token, counter) = peer.take_own();
        let occasion = Occasion {
            identity: &self.identity,
            peer: peer.key(),
            psk: peer.psk(),
            mode: peer.mode(),
            offer: self.config.offer,
            maker: self.config.maker,
            index,
            continues,
            token,
            counter,
            callsign: self.callsign,
            segment,
        };
        let opening = Opening::new(now, &occasion, &random).map_err(|_| SealError::BadKey)?;
        self.ask(peer_id);
        self.transmit_to(id, opening.datagram());
        self.dial(now, id, opening);
        Ok(())
    }

    fn dial(&mut self, now: Instant, id: AssociationId, opening: Opening) {
        self.indices.insert(opening.index(), Owner::Association(id));
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.association.call(now, opening);
        self.retime(id);
    }

    /// Ends a handshake of this end without a result.
    pub(super) fn hang_up(&mut self, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if let Some(opening) = entry.association.under_way() {
            self.indices.remove(&opening.index());
        }
        entry.association.hang_up();
    }

    /// Handshake of this end that a message is an answer to.
    fn answered(&mut self, head: MessageHead) -> Option<(AssociationId, &mut Opening)> {
        let Some(&Owner::Association(id)) = self.indices.get(&head.opener) else { return None };
        Some((id, self.entries.get_mut(&id)?.association.opening(head.opener)?))
    }

    pub(super) fn handle_cookie(&mut self, head: MessageHead, message: &[u8]) {
        let Some((id, opening)) = self.answered(head) else {
            self.counters.refused += 1;
            return;
        };
        if opening.take_cookie(head, message) {
            let datagram = opening.datagram();
            self.transmit_to(id, datagram);
        } else {
            self.counters.refused += 1;
        }
    }

    pub(super) fn handle_second(&mut self, now: Instant, head: MessageHead, message: &[u8]) {
        if !has_mac1(self.identity.public(), message, message.len()) {
            self.counters.strangers += 1;
        } else if self.take_second(now, head, message).is_none() {
            self.counters.refused += 1;
        }
    }

    fn take_second(&mut self, now: Instant, head: MessageHead, message: &[u8]) -> Option<()> {
        let (id, opening) = self.answered(head)?;
        let (payload, secrets) = opening.read(head, message).ok()?;
        let (counter, rtt_ns) = (opening.counter(), now.since(opening.begun_at()));
        let agreement = Agreement {
            mode: head.mode,
            aead: payload.aead,
            maker: self.config.maker,
            local: head.opener,
            remote: payload.acceptor,
            part: Part::Opener,
            counter,
        };
        let entry = self.entries.get_mut(&id)?;
        let (peer_id, address) = (entry.association.peer(), entry.association.way().address());
        entry.association.hang_up();
        self.install(now, id, Keyset::new(agreement, &secrets, now), (address, rtt_ns));
        self.tell(Event::Confirmed { association: id });
        if self.peers.get_mut(peer_id)?.learn(payload.token, payload.counter) {
            self.tell(Event::Token { peer: peer_id, token: payload.token });
        }
        self.ask(peer_id);
        self.send_empty(now, id);
        Some(())
    }

    /// Takes keys into use, by their local index. The handshake took a round trip of `rtt_ns`, 0 if that is
    /// not known.
    pub(super) fn install(
        &mut self,
        now: Instant,
        id: AssociationId,
        keys: Keyset,
        (address, rtt_ns): (SocketAddr, u64),
    ) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        self.indices.insert(keys.agreement().local, Owner::Association(id));
        let peer = self.peers.get(entry.association.peer());
        let leads = peer.is_some_and(|peer| self.identity.public() < peer.key());
        if let Some(freed) = entry.association.install(now, keys, address, (leads, rtt_ns)) {
            self.indices.remove(&freed);
        }
        self.retime(id);
    }
}
