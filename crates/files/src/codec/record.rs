//! Records of the sender.

use super::fields::Fields;
use super::head::{BODY_CHECK_BYTES, HEAD_BYTES, Head, RecordKind, check, frame};
use crate::digest::Digest;
use crate::errors::Violation;
use crate::limits::CHUNK_BYTES;
use crate::names::RawName;
use crate::reason::{Code, Reason};

/// Flag of [`RecordKind::File`]: the owner may execute the file.
pub const EXECUTABLE: u8 = 0x01;

/// Flag of [`RecordKind::File`]: its time of modification stands before its name. Not in version 1.
pub const MODIFIED: u8 = 0x02;

/// Octets of a time of modification.
pub(super) const MODIFIED_BYTES: usize = 12;

/// Time at which a file was last modified, as its owner's clock told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modified {
    /// Seconds since the beginning of 1970, less than none before that.
    pub seconds: i64,
    /// Nanoseconds after that, less than a second.
    pub nanos: u32,
}

/// Octets of a chunk's record before its data.
pub const CHUNK_HEAD_BYTES: usize = HEAD_BYTES + 40 + BODY_CHECK_BYTES;

/// Record of a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A file begins.
    File {
        /// Its size.
        size: u64,
        /// True if its owner may execute it.
        executable: bool,
        /// When it was modified, if that is told.
        modified: Option<Modified>,
        /// Its name, not judged yet.
        name: RawName,
    },
    /// A chunk; its data is beside the record.
    Chunk {
        /// Its number in the file.
        number: u32,
        /// Its digest.
        digest: Digest,
    },
    /// All of the file, or all that was asked for again, has been sent.
    End {
        /// The file's digest.
        digest: Digest,
    },
    /// The sender gives the file up.
    Abort {
        /// Why.
        reason: Reason,
    },
}

impl Record {
    /// Encodes the record for `file`; [`Record::Chunk`] needs its data's length and goes by
    /// [`chunk_head`].
    pub fn encode(&self, file: u32) -> Vec<u8> {
        match self {
            Self::File { size, executable, modified, name } => {
                let flags = if *executable { EXECUTABLE } else { 0 } | modified.map_or(0, |_| MODIFIED);
                let time = modified.map_or(Vec::new(), |modified| encode_time(modified).to_vec());
                let body = [&size.to_be_bytes(), &time[..], name.as_bytes()].concat();
                frame(RecordKind::File, flags, file, &body)
            }
            Self::Chunk { number, digest } => chunk_head(file, *number, 0, digest).to_vec(),
            Self::End { digest } => frame(RecordKind::End, 0, file, &digest.0),
            Self::Abort { reason } => frame(RecordKind::Abort, 0, file, &encode_reason(reason)),
        }
    }

    /// Decodes a body whose check was verified.
    pub fn decode(head: &Head, body: &[u8]) -> Result<Self, Violation> {
        let mut fields = Fields(body);
        match head.kind {
            RecordKind::File => decode_file(head.flags, fields),
            RecordKind::Chunk => {
                let (number, _) = (fields.u32()?, fields.u32()?);
                Ok(Self::Chunk { number, digest: Digest(fields.array()?) })
            }
            RecordKind::End => Ok(Self::End { digest: Digest(fields.array()?) }),
            RecordKind::Abort => Ok(Self::Abort { reason: decode_reason(fields)? }),
            other => Err(Violation::RecordKind(other.octet())),
        }
    }
}

fn decode_file(flags: u8, mut fields: Fields<'_>) -> Result<Record, Violation> {
    if flags & !(EXECUTABLE | MODIFIED) != 0 {
        return Err(Violation::Field("the flags of a file"));
    }
    let size = fields.u64()?;
    let modified = if flags & MODIFIED == 0 { None } else { Some(decode_time(&mut fields)?) };
    let executable = flags & EXECUTABLE != 0;
    Ok(Record::File { size, executable, modified, name: RawName::new(fields.rest()) })
}

fn encode_time(time: Modified) -> [u8; MODIFIED_BYTES] {
    let mut octets = [0; MODIFIED_BYTES];
    octets[..8].copy_from_slice(&time.seconds.to_be_bytes());
    octets[8..].copy_from_slice(&time.nanos.to_be_bytes());
    octets
}

fn decode_time(fields: &mut Fields<'_>) -> Result<Modified, Violation> {
    let (seconds, nanos) = (i64::from_be_bytes(fields.array()?), fields.u32()?);
    if nanos >= 1_000_000_000 {
        return Err(Violation::Field("the time of a file"));
    }
    Ok(Modified { seconds, nanos })
}

/// Everything of a chunk's record that stands before its `len` octets of data.
pub fn chunk_head(file: u32, number: u32, len: usize, digest: &Digest) -> [u8; CHUNK_HEAD_BYTES] {
    let mut octets = [0; CHUNK_HEAD_BYTES];
    let head = Head { kind: RecordKind::Chunk, flags: 0, body: 40, file };
    octets[..12].copy_from_slice(&head.encode());
    octets[12..16].copy_from_slice(&number.to_be_bytes());
    octets[16..20].copy_from_slice(&(len as u32).to_be_bytes());
    octets[20..52].copy_from_slice(&digest.0);
    let check = check(&octets[12..52]);
    octets[52..].copy_from_slice(&check);
    octets
}

/// How many octets of data follow a record: none but after a chunk's body, there 1 to
/// [`CHUNK_BYTES`].
pub fn chunk_data_len(head: &Head, body: &[u8]) -> Result<usize, Violation> {
    if head.kind != RecordKind::Chunk {
        return Ok(0);
    }
    let mut fields = Fields(body);
    let (_, length) = (fields.u32()?, fields.u32()?);
    if (1..=CHUNK_BYTES).contains(&(length as usize)) {
        Ok(length as usize)
    } else {
        Err(Violation::Length { kind: RecordKind::Chunk.octet(), length })
    }
}

pub(super) fn encode_reason(reason: &Reason) -> Vec<u8> {
    [&[reason.code.octet()], reason.text().as_bytes()].concat()
}

pub(super) fn decode_reason(mut fields: Fields<'_>) -> Result<Reason, Violation> {
    let code = Code::from_octet(fields.u8()?);
    Ok(Reason::new(code, String::from_utf8_lossy(fields.rest())))
}
