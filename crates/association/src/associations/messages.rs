//! Handshakes that peers open.

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::Instant;

use super::{AssociationId, Associations, Event, Owner};
use crate::Secret;
use crate::cookie::{Admission, Cookie, has_mac1, mac1, sealed_cookie};
use crate::keys::OpeningKeys;
use crate::keyset::{Agreement, Keyset, Part};
use crate::message::{
    COOKIE_NONCE_BYTES, Kind, MAC_BYTES, MessageHead, Payload1, Payload2, callsign_bytes, first_bytes, front,
    front_bytes, prologue, second_bytes,
};
use crate::noise::Acceptor;
use crate::opening::early_protection;
use crate::peers::{Freshness, PeerId};
use crate::pending::{Beginning, Digest, Early, Pending, digest};
use crate::way::Way;

/// Message 1 that was read, and what is known of it.
struct First<'a> {
    head: MessageHead,
    from: SocketAddr,
    digest: Digest,
    peer: PeerId,
    payload: Payload1<'a>,
    freshness: Freshness,
}

impl First<'_> {
    fn is_fresh(&self) -> bool {
        matches!(self.freshness, Freshness::Fresh { .. })
    }
}

impl Associations {
    pub(super) fn handle_message(
        &mut self,
        now: Instant,
        from: SocketAddr,
        head: MessageHead,
        message: &[u8],
    ) {
        match head.kind {
            Kind::First => self.handle_first(now, from, head, message),
            Kind::Second => self.handle_second(now, head, message),
            Kind::Cookie => self.handle_cookie(head, message),
        }
    }

    /// Takes message 1: cheap proofs first, then copies, then the limits, then the handshake.
    fn handle_first(&mut self, now: Instant, from: SocketAddr, head: MessageHead, message: &[u8]) {
        let (proven, mac2) = message.split_at(message.len() - MAC_BYTES);
        if !has_mac1(self.identity.public(), proven, proven.len()) {
            self.counters.strangers += 1;
            return;
        }
        let (first, mac1) = proven.split_at(proven.len() - MAC_BYTES);
        let digest = digest(first);
        if self.is_copy(now, from, &digest) {
            self.counters.copies += 1;
            return;
        }
        match self.doorkeeper.admit(now, from, proven, mac2) {
            Admission::Dropped => self.counters.dropped += 1,
            Admission::Cookie(cookie) => self.send_cookie(from, head, mac1, cookie),
            Admission::Computed => {
                self.counters.computed += 1;
                if self.compute(now, from, head, digest, first).is_none() {
                    self.counters.refused += 1;
                }
            }
        }
    }

    /// Gives the same answer to a copy of message 1, unless its opener has proven the keys. One that gave
    /// way gets none: its opener sends another message before it is forgotten.
    fn is_copy(&mut self, now: Instant, from: SocketAddr, digest: &Digest) -> bool {
        let Some(pending) = self.pending.get_mut(digest) else {
            return self.pending.was_displaced(now, digest);
        };
        if !pending.is_proven() {
            let answer = pending.answer.clone();
            self.transmit(from, answer);
        }
        true
    }

    fn send_cookie(&mut self, to: SocketAddr, head: MessageHead, mac1: &[u8], cookie: Cookie) {
        self.counters.cookies += 1;
        let mut nonce = [0; COOKIE_NONCE_BYTES];
        nonce.copy_from_slice(&self.entropy.draw().octets()[..COOKIE_NONCE_BYTES]);
        let (maker, key) = (self.config.maker, self.identity.public());
        let message = sealed_cookie(maker, key, (head.mode, head.opener), nonce, mac1, cookie);
        self.transmit(to, message.to_vec());
    }

    /// Computes a handshake; `None` if it is none of a peer, or not in its mode.
    fn compute(
        &mut self,
        now: Instant,
        from: SocketAddr,
        head: MessageHead,
        digest: Digest,
        first: &[u8],
    ) -> Option<()> {
        let (front, sealed) = first.split_at_checked(front_bytes(head.mode))?;
        let prologue = prologue(front);
        let mut noise = Acceptor::new(&self.identity, &prologue, self.entropy.draw(), sealed).ok()?;
        let payload = core::mem::take(&mut noise.payload);
        let payload = Payload1::decode(&payload)?;
        let (peer_id, peer) = self.peers.by_key(noise.opener)?;
        if peer.mode() != head.mode {
            return None;
        }
        let freshness = peer.judge(payload.token, payload.counter, from.ip());
        let first = First { head, from, digest, peer: peer_id, payload, freshness };
        let Ok(way) = self.pending.gives_way(peer_id, first.is_fresh()) else {
            self.counters.crowded += 1;
            return Some(());
        };
        // Not of those that find no room, which nothing bounds.
        if freshness == Freshness::Taken {
            self.tell(Event::CounterTaken { peer: peer_id });
        }
        if let Some(way) = way {
            let displaced = self.pending.displace(&way);
            self.bury(displaced);
        }
        self.answer(now, &first, noise)
    }

    /// Answers a handshake, and keeps what is needed until it is proven.
    fn answer(&mut self, now: Instant, first: &First<'_>, noise: Acceptor) -> Option<()> {
        let local = self.free_index();
        let aead = self.config.offer.choose(first.payload.offer);
        let peer = self.peers.get(first.peer)?;
        let (token, counter) = peer.next_handshake(first.from.ip());
        let payload = Payload2 { counter, token, acceptor: local, aead };
        let opener = noise.opener;
        let callsign = &self.callsign[..callsign_bytes(first.head.mode)];
        let payload = [&payload.encode()[..], callsign].concat();
        let (sealed, secrets) = noise.answer(peer.psk(), &payload).ok()?;
        let head = MessageHead { kind: Kind::Second, ..first.head };
        let mut answer = [front(head, &self.callsign), sealed].concat();
        answer.extend(mac1(opener, &answer));
        let agreement = Agreement {
            mode: first.head.mode,
            aead,
            maker: self.config.maker,
            local,
            remote: first.head.opener,
            part: Part::Acceptor(first.digest),
            counter: first.payload.counter,
        };
        self.transmit(first.from, answer.clone());
        let keys = Keyset::new(agreement, &secrets, now);
        self.hold(now, first, answer, keys);
        Some(())
    }

    /// Holds a handshake. A fresh one that goes on from nothing begins an association at once.
    fn hold(&mut self, now: Instant, first: &First<'_>, answer: Vec<u8>, keys: Keyset) {
        let (continues, follows) = (self.continued(first), self.followed(first));
        let early_keys = OpeningKeys::new(
            early_protection(first.head.mode, self.config.maker),
            &Secret::new(first.payload.early),
        );
        let beginning = Beginning {
            peer: first.peer,
            from: first.from,
            opener: first.head.opener,
            counter: first.payload.counter,
            answer,
            is_fresh: first.is_fresh(),
            continues,
            follows,
            early_keys,
        };
        let pending = match (first.freshness, continues) {
            (Freshness::Fresh { .. }, Some(id)) => Pending::new(now, beginning, Early::To(id), Some(keys)),
            // Its counter was never used, and nobody but the peer knows its token: it may displace what a
            // proven one may.
            (Freshness::Fresh { is_here }, None) if follows.is_none() => {
                self.make_room(first.peer);
                let id = self.begin(now, first, keys, is_here);
                Pending::new(now, beginning, Early::To(id), None)
            }
            _ => Pending::new(now, beginning, Early::Withheld, Some(keys)),
        };
        self.keep(first, pending);
    }

    fn begin(&mut self, now: Instant, first: &First<'_>, keys: Keyset, is_here: bool) -> AssociationId {
        let mode = first.head.mode;
        let asked = (first_bytes(mode) + first.payload.segment.len()) as u64;
        let way = if is_here {
            Way::new(first.from)
        } else {
            Way::unproven(first.from, asked, second_bytes(mode) as u64)
        };
        let id = self.create(now, first.peer, way, false);
        self.install(now, id, keys, (first.from, 0));
        let (peer, address) = (first.peer, first.from);
        self.tell(Event::Accepted { association: id, peer, address, is_address_proven: is_here });
        id
    }

    fn keep(&mut self, first: &First<'_>, mut pending: Pending) {
        match pending.early() {
            Early::To(_) if first.payload.segment.is_empty() => {}
            Early::To(id) => {
                self.doubt(id, first.digest);
                self.release(id, first.payload.segment.to_vec());
            }
            Early::Withheld => pending.withhold(first.payload.segment),
        }
        if let Some(local) = pending.local() {
            self.indices.insert(local, Owner::Pending(first.digest));
        }
        self.pending.insert(first.digest, pending);
    }

    /// Association of the opener's that a handshake continues: by an index that this end gave, or by that of
    /// the opener, which a message has that takes the place of another one.
    fn continued(&self, first: &First<'_>) -> Option<AssociationId> {
        let of_peer = |id: &AssociationId| {
            self.entries.get(id).is_some_and(|entry| entry.association.peer() == first.peer)
        };
        let by_ours = first.payload.continues.and_then(|index| match self.indices.get(&index) {
            Some(&Owner::Association(id)) => Some(id).filter(of_peer),
            _ => None,
        });
        let by_theirs = || {
            let remote = Some(first.head.opener);
            let mut entries = self.entries.iter();
            let found = entries.find(|(id, entry)| entry.association.remote() == remote && of_peer(id));
            found.map(|(&id, _)| id)
        };
        by_ours.or_else(by_theirs)
    }

    /// Handshake of the opener's that this one goes on from, whose keys are not proven: the opener has read
    /// the answer to it, and then heard nothing.
    fn followed(&self, first: &First<'_>) -> Option<Digest> {
        let index = first.payload.continues?;
        let Some(&Owner::Pending(digest)) = self.indices.get(&index) else { return None };
        self.pending.get(&digest).filter(|pending| pending.peer == first.peer).map(|_| digest)
    }

    /// Association that proven keys go to: the one that they continue, that of the handshake that they go on
    /// from, or a new one, to which the keys of that handshake go, too.
    pub(super) fn destination(
        &mut self,
        now: Instant,
        digest: &Digest,
        from: SocketAddr,
    ) -> Option<AssociationId> {
        let pending = self.pending.get(digest)?;
        let (peer, followed) = (pending.peer, self.pending.followed_by(digest));
        let mut all = [*digest].into_iter().chain(followed.iter().copied());
        let is_there = |id: &AssociationId| self.entries.contains_key(id);
        if let Some(id) = all.find_map(|digest| self.pending.get(&digest)?.continues().filter(is_there)) {
            return Some(id);
        }
        self.make_room(peer);
        let id = self.create(now, peer, Way::new(from), false);
        for digest in followed {
            if let Some(pending) = self.pending.get_mut(&digest) {
                pending.go_on(id);
            }
        }
        self.tell(Event::Accepted { association: id, peer, address: from, is_address_proven: true });
        Some(id)
    }
}
