//! Peers that move: a record with the highest number comes from another address.

use core::net::SocketAddr;

use skyhaul_core::Instant;

use super::{AssociationId, Associations, Event};
use crate::way::Way;
use crate::word::{ChallengeOctets, Word};

impl Associations {
    /// Goes to the address that a genuine record of so many octets came from, and asks whether the peer
    /// receives there.
    pub(super) fn go(&mut self, now: Instant, id: AssociationId, address: SocketAddr, bytes: usize) {
        let challenge = self.draw_challenge();
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.association.go(Way::moved(now, address, challenge, bytes));
        self.moved.insert(id);
        self.tell(Event::Moved { association: id, address });
        self.send_challenge(now, id);
    }

    fn draw_challenge(&mut self) -> ChallengeOctets {
        let drawn = self.entropy.draw();
        *drawn.octets().first_chunk().expect("a secret has more octets than a challenge")
    }

    /// Sends the challenge that waits for its answer.
    pub(super) fn send_challenge(&mut self, now: Instant, id: AssociationId) {
        let Some(entry) = self.entries.get(&id) else { return };
        let way = entry.association.way();
        if let (Some(challenge), to) = (way.challenge(), way.address()) {
            self.send_text(now, id, to, &Word::Challenge(challenge).encode());
        }
    }

    /// Takes a word of the peer. A challenge is answered to where it came from, by as many octets.
    pub(super) fn take_word(&mut self, now: Instant, id: AssociationId, from: SocketAddr, word: Word) {
        match word {
            Word::Challenge(challenge) => self.send_text(now, id, from, &Word::Answer(challenge).encode()),
            Word::CallsignBegins(_) | Word::CallsignEnds(_) => {} // for others who listen
            Word::Answer(answer) => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.association.way_mut().answered(from, answer);
                }
            }
        }
        self.retime(id);
    }
}
