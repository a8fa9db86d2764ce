//! Pairing: two machines that know nothing of each other but a code of 40 bits learn each other's keys, and
//! get a secret that nobody else has (`docs/spec/protection.md`, section 13). A state machine over any
//! stream: octets that arrived go in, octets to send and one event come out. Time is its owner's:
//! [`PAIRING_NS`], [`SILENCE_NS`], [`CODE_NS`].

mod card;
mod code;
mod errors;
mod frame;
mod invitation;
#[cfg(test)]
mod pairing_tests;
mod spake;
mod steps;

use alloc::vec::Vec;

use skyhaul_core::SECOND;

pub use card::Card;
pub use code::{CODE_BITS, Code, CodeError};
pub use errors::{PairingError, Unkept};
pub use frame::{MAX_BODY_BYTES, VERSION};
pub use invitation::{Invitation, MAX_SESSIONS};
pub use steps::Paired;

use crate::{Identity, Secret};
use steps::Step;

/// Longest pairing: beyond it, its owner ends it.
pub const PAIRING_NS: u64 = 60 * SECOND;
/// Longest silence of an opener, once it is talked to: beyond it, the acceptor's owner turns to the next one.
pub const SILENCE_NS: u64 = 15 * SECOND;
/// Life of a code: beyond it, its owner shows another one.
pub const CODE_NS: u64 = 600 * SECOND;

/// What came of a pairing. There is one, behind [`PairingEvent::Met`] at the opener.
#[derive(Clone, Debug)]
pub enum PairingEvent {
    /// The other end has shown who it is, to the opener, and waits to learn who this one is. The owner calls
    /// [`Pairing::confirm`] if it could keep it, or [`Pairing::decline`]; more comes of it.
    Met(Paired),
    /// The other end is known. The acceptor's owner keeps it and then calls [`Pairing::confirm`], or
    /// [`Pairing::decline`]; the opener's knows that the other end has kept it already.
    Paired(Paired),
    /// There is no pairing.
    Failed(PairingError),
}

/// One end of a pairing. What waits to be sent is a few frames, what waits to be understood less than one.
#[derive(Debug)]
pub struct Pairing {
    step: Step,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    event: Option<PairingEvent>,
    is_spent: bool,
}

impl Pairing {
    /// End at which the code was typed. `seed` is 32 random octets that are used for nothing else.
    pub fn open(code: &Code, identity: Identity, card: Card, seed: &Secret) -> Self {
        let (step, hello) = Step::open(code, identity, card, seed);
        Self { step, inbox: Vec::new(), outbox: hello, event: None, is_spent: false }
    }

    /// End that shows the code: [`Invitation::session`] makes it.
    fn accept(code: &Code, identity: Identity, card: Card, seed: &Secret) -> Self {
        let step = Step::accept(code, identity, card, seed);
        Self { step, inbox: Vec::new(), outbox: Vec::new(), event: None, is_spent: false }
    }

    /// Takes what the stream brought. What comes behind the end is ignored.
    pub fn handle(&mut self, octets: &[u8]) {
        if self.is_over() {
            return;
        }
        self.inbox.extend(octets);
        while !self.is_over() {
            match frame::next(&self.inbox) {
                Ok(Some((kind, whole))) => {
                    self.inbox.drain(..whole.len());
                    self.advance(kind, &whole);
                }
                Ok(None) => return,
                Err(frame::NoFrame) => self.fail(PairingError::Alien),
            }
        }
    }

    fn advance(&mut self, kind: frame::FrameKind, whole: &[u8]) {
        match core::mem::replace(&mut self.step, Step::Over).advance(kind, whole) {
            Ok(progress) => {
                self.step = progress.step;
                self.outbox.extend(progress.reply);
                self.event = progress.event;
            }
            Err(failed) => {
                self.outbox.extend(failed.reply);
                self.fail(failed.error);
            }
        }
    }

    /// Learns that the stream has ended.
    pub fn end(&mut self) {
        if !self.is_over() {
            self.fail(PairingError::Cut);
        }
    }

    /// Octets to send now.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let octets = core::mem::take(&mut self.outbox);
        (!octets.is_empty()).then_some(octets)
    }

    /// What came of it, each once.
    pub fn poll_event(&mut self) -> Option<PairingEvent> {
        self.event.take()
    }

    /// Owner's word that it has kept the other end, as acceptor, which is told and ends the pairing; or that
    /// it could, as opener, which tells the acceptor who this end is. Nothing, where no decision is due.
    pub fn confirm(&mut self) {
        let step = core::mem::replace(&mut self.step, Step::Over);
        let (step, told) = step.confirm();
        self.step = step;
        self.outbox.extend(told);
    }

    /// Owner's word that it cannot keep the other end, which is told why: the pairing is over. Nothing, where
    /// no decision is due.
    pub fn decline(&mut self, why: Unkept) {
        if self.step.is_decision() {
            self.step = Step::Over;
            self.outbox.extend(errors::Refusal::from(why).frame());
        }
    }

    /// Whether there is nothing left to hear, or not before the owner has decided.
    pub fn is_over(&self) -> bool {
        matches!(self.step, Step::Over) || self.step.is_decision()
    }

    /// Whether a wrong code was tried, or the right one has done its work.
    fn is_spent(&self) -> bool {
        self.is_spent
    }

    fn fail(&mut self, error: PairingError) {
        self.step = Step::Over;
        self.is_spent |= error == PairingError::WrongCode;
        self.outbox.extend(error.refusal().map(errors::Refusal::frame).unwrap_or_default());
        self.event = Some(PairingEvent::Failed(error));
    }
}
