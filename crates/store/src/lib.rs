//! What stays on a machine's disk from one run to the next: its identity, the peers that it knows, the
//! counters of its handshakes (`docs/spec/protection.md`, section 10); and how such files are read, written
//! and told from those of others.
#![forbid(unsafe_code)]

mod book;
mod clerk;
mod counters;
mod enter;
mod errors;
mod file;
mod folders;
mod hex;
mod lock;
mod machine;
mod random;
mod roster;
mod store;
mod table;

pub use book::{Book, KnownPeer, MAX_ADDRESS_BYTES};
pub use clerk::{Clerk, MAX_REQUESTS};
pub use counters::{Counters, Remembered};
pub use enter::{Entered, Whom, enter};
pub use errors::{Kind, StoreError};
pub use file::{FileError, Others, read, write};
pub use folders::{CONFIG, Folder, STATE};
pub use hex::{from_hex, to_hex};
pub use lock::{Lock, MAX_LOCK_WAIT_MS};
pub use machine::Machine;
pub use random::{random_octets, random_secret};
pub use roster::{Changes, Roster};
pub use store::Store;
pub use table::Table;
