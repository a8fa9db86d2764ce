//! Way to a peer: its address, and whether the peer has shown that it receives there
//! (`docs/spec/protection.md`, section 11).

use core::net::SocketAddr;

use skyhaul_core::Instant;

use crate::opening::Retry;
use crate::word::ChallengeOctets;

/// Octets that go to an address for each that came from there, at most, until it is proven.
const AMPLIFICATION: u64 = 3;

/// Doubt whether a peer receives at its address.
#[derive(Debug)]
struct Doubt {
    /// Question that only who receives there can answer, and when it goes again; `None`: the proof of keys
    /// settles the doubt.
    challenge: Option<(ChallengeOctets, Retry)>,
    /// Octets that came from there, and that went there.
    received: u64,
    sent: u64,
}

/// Way to a peer.
#[derive(Debug)]
pub(crate) struct Way {
    address: SocketAddr,
    doubt: Option<Doubt>,
}

impl Way {
    /// Way to an address that nobody doubts: proven, or of this end's choice.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, doubt: None }
    }

    /// Way to who sent so many octets from there, and got so many; who proves the keys proves it.
    pub(crate) fn unproven(address: SocketAddr, received: u64, sent: u64) -> Self {
        Self { address, doubt: Some(Doubt { challenge: None, received, sent }) }
    }

    /// Way to an address from which a record of `bytes` came, until it answers the challenge.
    pub(crate) fn moved(now: Instant, address: SocketAddr, challenge: ChallengeOctets, bytes: usize) -> Self {
        let challenge = Some((challenge, Retry::new(now)));
        Self { address, doubt: Some(Doubt { challenge, received: bytes as u64, sent: 0 }) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// True if who sends from `from` has another address of the family.
    pub(crate) fn leads_elsewhere(&self, from: SocketAddr) -> bool {
        self.address != from && self.address.is_ipv4() == from.is_ipv4()
    }

    /// A genuine record of so many octets came.
    pub(crate) fn heard(&mut self, from: SocketAddr, bytes: usize) {
        if let Some(doubt) = self.doubt.as_mut().filter(|_| from == self.address) {
            doubt.received += bytes as u64;
        }
    }

    /// Counts a datagram of so many octets that is to leave; false if it may not.
    pub(crate) fn may_send(&mut self, bytes: usize) -> bool {
        let Some(doubt) = &mut self.doubt else { return true };
        let sent = doubt.sent + bytes as u64;
        let may = sent <= AMPLIFICATION * doubt.received;
        if may {
            doubt.sent = sent;
        }
        may
    }

    /// The keys of a handshake from there are proven.
    pub(crate) fn prove(&mut self, from: SocketAddr) {
        if from == self.address {
            self.doubt = None;
        }
    }

    /// An answer to a challenge came.
    pub(crate) fn answered(&mut self, from: SocketAddr, answer: ChallengeOctets) {
        if self.challenge() == Some(answer) {
            self.prove(from);
        }
    }

    /// Challenge that waits for its answer.
    pub(crate) fn challenge(&self) -> Option<ChallengeOctets> {
        let (octets, _) = self.doubt.as_ref()?.challenge.as_ref()?;
        Some(*octets)
    }

    /// Time at which the challenge goes again.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let (_, retry) = self.doubt.as_ref()?.challenge.as_ref()?;
        Some(retry.at())
    }

    /// True if the challenge is to go again now.
    pub(crate) fn fire(&mut self, now: Instant) -> bool {
        let challenge = self.doubt.as_mut().and_then(|doubt| doubt.challenge.as_mut());
        challenge.is_some_and(|(_, retry)| retry.fire(now))
    }
}
