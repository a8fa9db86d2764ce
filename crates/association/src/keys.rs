//! Keys of one direction, and their steps (`docs/spec/protection.md`, section 3). The *generation* of a key
//! is the number of a datagram divided by 2^23, so that a datagram names its key by its number alone. A
//! sender that steps by the hour leaves out the numbers that the generation still had.

use alloc::boxed::Box;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND, nearest};

use crate::Secret;
use crate::aead::{Aead, AeadMaker, AeadName, Forged, NONCE_BYTES, TAG_BYTES};
use crate::record::{Addressee, HEAD_BYTES, Head, NUMBER_MODULUS, OVERHEAD_BYTES, RecordError, text_range};
use crate::replay::{Replay, ReplayWindow};

/// Datagrams of a generation: what AES-128-GCM may seal with one key [RFC 9001 B.1].
pub const GENERATION_DATAGRAMS: u64 = 1 << 23;

/// Time after which a sender steps to the next generation, however little it sent.
pub const MAX_GENERATION_NS: u64 = 3600 * SECOND;

/// Time for which late datagrams of the last generation still open. Then its key is wiped.
pub const LATE_NS: u64 = 60 * SECOND;

/// Generations ahead of the receiver's that a datagram may be of: an outage of 16 hours, or 2^27 datagrams
/// lost in a row. It bounds the hashing that a forged number can ask for.
pub const MAX_GENERATIONS_AHEAD: u64 = 16;

/// Generations of the keys of one handshake. Handshakes every two hours leave most of them unused.
const MAX_GENERATIONS: u64 = 1 << 16;

/// Kind of protection: what both directions of an association have in common.
#[derive(Clone, Copy, Debug)]
pub struct Protection {
    /// Whether the text can be read by all.
    pub mode: Mode,
    /// AEAD of both directions.
    pub aead: AeadName,
    /// Maker of AEADs.
    pub maker: AeadMaker,
}

/// Key of one generation.
#[derive(Debug)]
struct Key {
    generation: u64,
    aead: Box<dyn Aead>,
    iv: [u8; NONCE_BYTES],
    /// Secret of the next generation.
    next: Secret,
}

impl Key {
    fn new(protection: Protection, generation: u64, secret: &Secret) -> Self {
        let mut iv = [0; NONCE_BYTES];
        iv.copy_from_slice(&secret.derive("skyhaul iv").octets()[..NONCE_BYTES]);
        let aead = (protection.maker)(protection.aead, &secret.derive("skyhaul key"));
        Self { generation, aead, iv, next: secret.derive("skyhaul step") }
    }

    /// Key of a later generation.
    fn ahead(&self, protection: Protection, generation: u64) -> Self {
        let mut secret = self.next.clone();
        for _ in self.generation + 1..generation {
            secret = secret.derive("skyhaul step");
        }
        Self::new(protection, generation, &secret)
    }

    /// Nonce of a number: no other number of this key has it.
    fn nonce(&self, number: u64) -> [u8; NONCE_BYTES] {
        let mut nonce = self.iv;
        for (place, octet) in nonce[NONCE_BYTES - 8..].iter_mut().zip(number.to_be_bytes()) {
            *place ^= octet;
        }
        nonce
    }

    /// Seals a datagram with its head in front and room for the tag behind.
    fn seal(&self, mode: Mode, number: u64, datagram: &mut [u8]) {
        let (body, tag) = datagram.split_at_mut(datagram.len() - TAG_BYTES);
        let (associated, text) = body.split_at_mut(clear_bytes(mode, body.len()));
        tag.copy_from_slice(&self.aead.seal(self.nonce(number), associated, text));
    }

    /// Opens a datagram of at least [`OVERHEAD_BYTES`].
    fn open(&self, mode: Mode, number: u64, datagram: &mut [u8]) -> Result<(), Forged> {
        let (body, tag) = datagram.split_last_chunk_mut::<TAG_BYTES>().ok_or(Forged)?;
        let (associated, text) = body.split_at_mut(clear_bytes(mode, body.len()));
        self.aead.open(self.nonce(number), associated, text, *tag)
    }
}

/// Octets at the front that are proven but not hidden, of a body of `length` with its head.
fn clear_bytes(mode: Mode, length: usize) -> usize {
    if mode == Mode::Encrypted { HEAD_BYTES.min(length) } else { length }
}

/// Keys and numbers of what this end sends.
#[derive(Debug)]
pub struct SealingKeys {
    protection: Protection,
    addressee: Addressee,
    key: Key,
    next_number: u64,
    stepped_at: Instant,
}

/// Refusal to seal: every number of these keys was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumbersUsedUp;

impl SealingKeys {
    /// Keys from a secret that was never used before; `now` is when it was agreed on.
    pub fn new(protection: Protection, addressee: Addressee, secret: &Secret, now: Instant) -> Self {
        let key = Key::new(protection, 0, secret);
        Self { protection, addressee, key, next_number: 0, stepped_at: now }
    }

    /// Datagrams sealed so far, those counted that a step left out.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Keys of generation 0 that have used all numbers below this one, which a test cannot wait for.
    #[cfg(test)]
    pub(crate) fn at_number(mut self, number: u64) -> Self {
        self.next_number = number;
        self
    }

    /// Keys that have no further generation.
    #[cfg(test)]
    pub(crate) fn at_last_generation(mut self) -> Self {
        self.key.generation = MAX_GENERATIONS - 1;
        self.at_number((MAX_GENERATIONS - 1) * GENERATION_DATAGRAMS)
    }

    /// Seals a datagram that has [`HEAD_BYTES`] of room in front of its text and [`TAG_BYTES`] behind.
    ///
    /// # Panics
    /// If there is no such room.
    pub fn seal(&mut self, now: Instant, datagram: &mut [u8]) -> Result<(), NumbersUsedUp> {
        assert!(datagram.len() >= OVERHEAD_BYTES, "the caller keeps room for head and tag");
        self.step(now)?;
        let number = self.next_number;
        self.next_number += 1;
        let head = Head {
            mode: self.protection.mode,
            addressee: self.addressee,
            truncated_number: (number % NUMBER_MODULUS) as u32,
        };
        datagram[..HEAD_BYTES].copy_from_slice(&head.encode());
        self.key.seal(self.protection.mode, number, datagram);
        Ok(())
    }

    /// Steps on by one generation where numbers or time of this one are over.
    fn step(&mut self, now: Instant) -> Result<(), NumbersUsedUp> {
        let next = self.key.generation + 1;
        let is_used = self.next_number > self.key.generation * GENERATION_DATAGRAMS;
        let is_old = is_used && now.since(self.stepped_at) >= MAX_GENERATION_NS;
        if !is_old && self.next_number < next * GENERATION_DATAGRAMS {
            return Ok(());
        }
        if next >= MAX_GENERATIONS {
            return Err(NumbersUsedUp);
        }
        self.next_number = next * GENERATION_DATAGRAMS;
        self.key = self.key.ahead(self.protection, next);
        self.stepped_at = now;
        Ok(())
    }
}

/// Generation of a receiver: its key and what arrived of it.
#[derive(Debug)]
struct Incoming {
    key: Key,
    window: ReplayWindow,
}

impl Incoming {
    fn new(key: Key) -> Self {
        Self { key, window: ReplayWindow::new() }
    }

    /// Opens a datagram with a number of this generation, once.
    fn open(&mut self, mode: Mode, number: u64, datagram: &mut [u8]) -> Result<(), RecordError> {
        let within = number % GENERATION_DATAGRAMS;
        self.window.check(within).map_err(refusal)?;
        self.key.open(mode, number, datagram).map_err(|Forged| RecordError::Forged)?;
        self.window.take(within).map_err(refusal)
    }

    /// Highest number that arrived, at least the first of the generation.
    fn highest(&self) -> u64 {
        self.key.generation * GENERATION_DATAGRAMS + self.window.next().saturating_sub(1)
    }
}

fn refusal(replay: Replay) -> RecordError {
    match replay {
        Replay::Copy => RecordError::Replayed,
        Replay::Old => RecordError::Old,
    }
}

/// Datagram that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Place of the text in the datagram.
    pub text: core::ops::Range<usize>,
    /// Full number of the datagram.
    pub number: u64,
    /// Whether no datagram with a higher number arrived before.
    pub is_highest: bool,
}

/// Keys, windows and forgeries of what this end receives.
#[derive(Debug)]
pub struct OpeningKeys {
    protection: Protection,
    current: Incoming,
    /// Last generation, and when it is wiped.
    late: Option<Box<(Incoming, Instant)>>,
    forgeries: u64,
}

impl OpeningKeys {
    /// Keys from a secret that was never used before.
    pub fn new(protection: Protection, secret: &Secret) -> Self {
        let current = Incoming::new(Key::new(protection, 0, secret));
        Self { protection, current, late: None, forgeries: 0 }
    }

    /// Opens a datagram whose head was decoded, once. What is refused leaves no trace but a count.
    pub fn open(&mut self, now: Instant, head: Head, datagram: &mut [u8]) -> Result<Opened, RecordError> {
        if head.mode != self.protection.mode || datagram.len() < OVERHEAD_BYTES {
            return Err(RecordError::Forged);
        }
        if self.forgeries >= self.protection.aead.max_forgeries() {
            return Err(RecordError::Exhausted);
        }
        self.handle_timeout(now);
        let highest = self.current.highest();
        let number = nearest(u64::from(head.truncated_number), highest, NUMBER_MODULUS);
        let opened = self.open_number(now, number, datagram);
        self.forgeries += u64::from(opened == Err(RecordError::Forged));
        opened?;
        Ok(Opened { text: text_range(datagram.len()), number, is_highest: number >= highest })
    }

    fn open_number(&mut self, now: Instant, number: u64, datagram: &mut [u8]) -> Result<(), RecordError> {
        let (mode, generation) = (self.protection.mode, number / GENERATION_DATAGRAMS);
        let current = self.current.key.generation;
        if generation == current {
            return self.current.open(mode, number, datagram);
        }
        if generation < current {
            let late = self.late.as_deref_mut().filter(|(late, _)| late.key.generation == generation);
            return late.ok_or(RecordError::Old)?.0.open(mode, number, datagram);
        }
        if generation - current > MAX_GENERATIONS_AHEAD {
            return Err(RecordError::Ahead);
        }
        let mut next = Incoming::new(self.current.key.ahead(self.protection, generation));
        next.open(mode, number, datagram)?;
        let late = core::mem::replace(&mut self.current, next);
        self.late = Some(Box::new((late, now.after(LATE_NS))));
        Ok(())
    }

    /// Keys that met so many forgeries, which nobody can wait for in a test.
    #[cfg(test)]
    pub(crate) fn with_forgeries(mut self, forgeries: u64) -> Self {
        self.forgeries = forgeries;
        self
    }

    /// Time at which a key is to be wiped.
    pub fn deadline(&self) -> Option<Instant> {
        self.late.as_deref().map(|(_, wiped_at)| *wiped_at)
    }

    /// Wipes the key whose time is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.deadline().is_some_and(|wiped_at| wiped_at <= now) {
            self.late = None;
        }
    }
}
