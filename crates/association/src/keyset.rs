//! Keyset: what one handshake gave: keys of both directions, and the index by which its records come.

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

use crate::Index;
use crate::aead::{AeadMaker, AeadName};
use crate::keys::{LATE_NS, NumbersUsedUp, Opened, OpeningKeys, Protection, SealingKeys};
use crate::noise::Split;
use crate::pending::Digest;
use crate::record::{Addressee, Head, RecordError};

/// Age at which the opener of keys in use opens new ones beside the flow.
pub const REHANDSHAKE_NS: u64 = 2 * 3600 * SECOND;

/// Time by which the acceptor of keys waits longer than their opener.
const ACCEPTOR_WAITS_NS: u64 = 300 * SECOND;

/// Part of this end in a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Opener,
    /// Acceptor, of the message 1 with this digest.
    Acceptor(Digest),
}

/// What both ends agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    pub(crate) mode: Mode,
    pub(crate) aead: AeadName,
    pub(crate) maker: AeadMaker,
    /// Index that this end gave.
    pub(crate) local: Index,
    /// Index that the peer gave.
    pub(crate) remote: Index,
    pub(crate) part: Part,
    /// Counter of message 1; 0 for none.
    pub(crate) counter: u64,
}

/// Keys of one handshake.
#[derive(Debug)]
pub(crate) struct Keyset {
    agreement: Agreement,
    sealing: SealingKeys,
    opening: OpeningKeys,
    agreed_at: Instant,
    /// Whether a record of the peer was opened: it has the keys.
    is_heard: bool,
}

impl Keyset {
    pub(crate) fn new(agreement: Agreement, secrets: &Split, now: Instant) -> Self {
        let Agreement { mode, aead, maker, remote, part, .. } = agreement;
        let (ours, theirs) = match part {
            Part::Opener => (&secrets.from_opener, &secrets.from_acceptor),
            Part::Acceptor(_) => (&secrets.from_acceptor, &secrets.from_opener),
        };
        let protection = Protection { mode, aead, maker };
        let sealing = SealingKeys::new(protection, Addressee::Association(remote), ours, now);
        let opening = OpeningKeys::new(protection, theirs);
        Self { agreement, sealing, opening, agreed_at: now, is_heard: false }
    }

    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    pub(crate) fn agreed_at(&self) -> Instant {
        self.agreed_at
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard
    }

    pub(crate) fn seal(&mut self, now: Instant, datagram: &mut [u8]) -> Result<(), NumbersUsedUp> {
        self.sealing.seal(now, datagram)
    }

    pub(crate) fn open(
        &mut self,
        now: Instant,
        head: Head,
        datagram: &mut [u8],
    ) -> Result<Opened, RecordError> {
        let opened = self.opening.open(now, head, datagram)?;
        self.is_heard = true;
        Ok(opened)
    }

    /// Whether these keys stay in use beside new ones. Both ends must decide alike, in whatever order
    /// handshakes end: of one opener's the later one wins, of two that crossed that of the end which leads.
    pub(crate) fn outranks(&self, new: &Self, now: Instant, leads: bool) -> bool {
        let ours = |keys: &Self| keys.agreement.part == Part::Opener;
        if ours(self) == ours(new) {
            return new.agreement.counter != 0 && new.agreement.counter < self.agreement.counter;
        }
        // An opener may never have had the answer, and would not know keys that it did not prove.
        let is_shared = ours(self) || self.is_heard;
        is_shared && now.since(self.agreed_at) < LATE_NS && ours(self) == leads
    }

    /// Whether this end is to open new keys, since these have served their time.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let patience_ns = if self.agreement.part == Part::Opener { 0 } else { ACCEPTOR_WAITS_NS };
        now.since(self.agreed_at) >= REHANDSHAKE_NS + patience_ns
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.opening.deadline()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.opening.handle_timeout(now);
    }
}
