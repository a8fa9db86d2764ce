//! skyhaul's file transfer over any reliable byte stream.
//!
//! [`send`] and [`receive`] move files over a pair of [`tokio::io::AsyncRead`] and
//! [`tokio::io::AsyncWrite`] halves: an STP stream over a satellite, a TCP connection, a pipe in
//! memory. The sender starts at once and never waits for a round trip; the receiver answers with a
//! few dozen bytes a file. Every 256 KiB chunk carries its digest, damaged chunks are fetched again,
//! and a file appears under its name only when all of it was verified and is safely on the disk.
//!
//! The protocol is written down in `docs/spec/files.md`; [`codec`] is its encoder and decoder.
//!
//! ```
//! use skyhaul_files::{Destination, ReceiveOptions, Source, receive, send, silent};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let (ground, craft) = tokio::io::duplex(64 * 1024);
//! let (ground_in, ground_out) = tokio::io::split(ground);
//! let (craft_in, craft_out) = tokio::io::split(craft);
//! let destination = Destination::open(folder.path())?;
//! let options = ReceiveOptions::default();
//! let files = vec![Source::from_bytes("hello.txt", "hello, orbit")?];
//! let (sent, received) = tokio::join!(
//!     send(ground_in, ground_out, files, silent),
//!     receive(craft_in, craft_out, &destination, &options, silent),
//! );
//! assert!(sent?.all_delivered() && received?.all_delivered());
//! assert_eq!(std::fs::read(folder.path().join("hello.txt"))?, b"hello, orbit");
//! # Ok(())
//! # }
//! ```
//!
//! Both futures keep all their state inside, and may be dropped at any time: the
//! receiver's unfinished files are removed then. They need a tokio runtime with its timer enabled.
#![forbid(unsafe_code)]

mod arriving;
pub mod codec;
mod destination;
mod digest;
mod errors;
mod escape;
mod fetching;
mod finisher;
mod frames;
mod incoming;
mod ledger;
mod limits;
mod names;
mod observe;
mod outbox;
mod outgoing;
mod part;
mod reason;
mod receive;
mod replies;
mod report;
mod send;
mod sending;
mod source;
mod storing;

pub use codec::Version;
pub use destination::{Destination, DestinationError};
pub use digest::{Digest, Tree, chunk_digest};
pub use errors::{Fault, ReceiveError, SendError, Violation};
pub use escape::escaped;
pub use incoming::{MIN_OPEN_FILES, ReceiveOptions};
pub use limits::{
    CHUNK_BYTES, MAX_DAMAGED_CHUNKS, MAX_FILE_BYTES, MAX_FILES, MAX_NAME_BYTES, MAX_ROUNDS, MAX_TEXT_BYTES,
    PART_SUFFIX, WIDE_WINDOW_FILES, WINDOW_FILES, chunk_count, chunk_len,
};
pub use names::{FileName, NameError, RawName};
pub use observe::{Event, silent};
pub use reason::{Code, Reason};
pub use receive::{receive, turn_away};
pub use report::{Failure, FileOutcome, FileReport, SessionReport, Side};
pub use send::{send, send_as};
pub use source::{Source, SourceError};
