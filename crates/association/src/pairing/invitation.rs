//! Invitation: a code that is shown, and what is left of it.

use super::{Card, Code, Pairing};
use crate::{Identity, Secret};

/// Most connections for one code: strangers that know nothing of it count, too. Beyond it the code is void.
pub const MAX_SESSIONS: u32 = 64;

/// Code that an end shows, for one guess. Connections come one after the other: which of them knows the code
/// is found out by the first that tries one.
#[derive(Debug)]
pub struct Invitation {
    code: Code,
    identity: Identity,
    card: Card,
    sessions_left: u32,
    is_out: bool,
    is_spent: bool,
}

impl Invitation {
    /// Invitation by a fresh code.
    pub fn new(code: Code, identity: Identity, card: Card) -> Self {
        Self { code, identity, card, sessions_left: MAX_SESSIONS, is_out: false, is_spent: false }
    }

    /// Code, to be shown.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Session for a connection; `None` while another one lasts, and when the code is void. `seed` is 32
    /// random octets that are used for nothing else.
    pub fn session(&mut self, seed: &Secret) -> Option<Pairing> {
        if self.is_out || self.is_void() {
            return None;
        }
        self.sessions_left -= 1;
        self.is_out = true;
        Some(Pairing::accept(&self.code, self.identity.clone(), self.card.clone(), seed))
    }

    /// Takes a session back when it is over. One that tried a wrong code makes this one void.
    #[expect(clippy::needless_pass_by_value, reason = "a session that is taken back is over")]
    pub fn take_back(&mut self, session: Pairing) {
        self.is_out = false;
        self.is_spent |= session.is_spent();
    }

    /// Whether nobody can be paired by this code any more.
    pub fn is_void(&self) -> bool {
        self.is_spent || self.sessions_left == 0
    }
}
