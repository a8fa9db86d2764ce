//! The bytes of the protocol: encoders and total decoders, no input or output. `docs/spec/files.md`.
//!
//! Every record is a head of 12 octets, a body, and for a chunk its data. The head and the body each
//! end in a check of four octets, so no length is believed before it was verified. The data of a chunk
//! is verified by the digest in its body, and comes in portions from version 3 on.

mod fields;
mod head;
mod opening;
mod portions;
mod record;
mod reply;

pub use head::{BODY_CHECK_BYTES, CHECK_BYTES, HEAD_BYTES, Head, RecordKind, check, frame};
pub use opening::{MAGIC, OPENING_BYTES, SessionOpening, Version};
pub use portions::{CUT, MORE, PORTION_BYTES, portion, portioned_bytes};
pub use record::{CHUNK_HEAD_BYTES, EXECUTABLE, MODIFIED, Modified, Record, chunk_data_len, chunk_head};
pub use reply::{ChunkRange, Reply, receipt};

pub(crate) use head::open_body;
pub(crate) use portions::{cut_bytes, is_cut, portions_until_cut};

#[cfg(test)]
#[path = "codec/codec_tests.rs"]
mod tests;
