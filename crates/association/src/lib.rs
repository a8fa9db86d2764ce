//! Protected associations between two machines (`docs/spec/protection.md`): handshake, keys, datagram numbers
//! and replay windows as a state machine. Nothing here reads a clock, opens a socket or has randomness of its
//! own: time and secrets come with the calls.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aead;
mod association;
#[cfg(test)]
mod association_tests;
mod associations;
#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod callsign_tests;
mod cookie;
mod counter;
#[cfg(test)]
mod counter_tests;
#[cfg(test)]
mod exchange_tests;
#[cfg(test)]
mod freshness_tests;
#[cfg(test)]
mod handshake_tests;
mod keys;
#[cfg(test)]
mod keys_tests;
mod keyset;
mod message;
mod mode;
#[cfg(test)]
mod moving_tests;
mod name;
mod noise;
#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod nonces;
mod opening;
#[cfg(test)]
mod pair;
pub mod pairing;
#[cfg(test)]
mod parts_tests;
mod peers;
mod pending;
mod record;
#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod renewing_tests;
mod replay;
#[cfg(test)]
mod replay_tests;
mod sealed;
#[cfg(test)]
mod sealed_tests;
mod secret;
#[cfg(test)]
mod swarm_tests;
mod token;
mod unproven;
mod voice;
mod way;
mod wish;
mod word;
#[cfg(test)]
mod world;

pub use association::{ACKNOWLEDGED_NS, CALLSIGN_NS, GIVE_UP_NS, IDLE_NS, SILENCE_NS};
pub use associations::{
    Arrived, AssociationId, Associations, Config, Counters, Event, MAX_ASSOCIATIONS_PER_PEER, MAX_EVENTS,
    MAX_WAITING, Outgoing, Released, SealError, Sealed, Secrecy,
};
pub use cookie::{COOKIE_NS, MAX_HANDSHAKES_PER_S, MAX_HANDSHAKES_PER_S_AND_ADDRESS};
pub use counter::RESERVATION;
pub use keys::{
    GENERATION_DATAGRAMS, LATE_NS, MAX_GENERATION_NS, MAX_GENERATIONS_AHEAD, NumbersUsedUp, Opened,
    OpeningKeys, Protection, SealingKeys,
};
pub use keyset::REHANDSHAKE_NS;
pub use message::{COOKIE_MESSAGE_BYTES, MAX_MESSAGE_1_BYTES, MESSAGE_1_BYTES, MESSAGE_2_BYTES, Offer};
pub use mode::{mode_of, mode_word};
pub use name::{Callsign, MAX_CALLSIGN_BYTES, MAX_NAME_BYTES, Name, NameError};
pub use noise::{Identity, NOISE_NAME, PAIRING_NOISE_NAME, PUBLIC_KEY_BYTES, PublicKey};
pub use opening::{FIRST_RETRY_NS, MAX_RETRY_NS, MESSAGE_LIFE_NS};
pub use peers::{MAX_PEERS, PeerError, PeerId, PeerSettings};
pub use pending::{MAX_PENDING, MAX_WITHHELD_BYTES, PENDING_NS, UNPROVEN_NS};
pub use record::{
    Addressee, HEAD_BYTES, Head, Index, MAX_INDEX, OVERHEAD_BYTES, RecordError, protected_mode,
};
pub use replay::{REPLAY_WINDOW, Replay, ReplayWindow};
pub use sealed::SealedEngine;
pub use secret::{SECRET_BYTES, Secret};
pub use token::{TOKEN_BYTES, Token};
pub use voice::SPEAK_UP_NS;
