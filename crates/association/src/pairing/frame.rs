//! Frames: how the messages of a pairing are told apart in a stream.

use alloc::vec::Vec;

/// Version of the format. Other ones are refused.
pub const VERSION: u8 = 1;
/// Octets in front of a body: kind and length.
const HEAD_BYTES: usize = 3;
/// Longest body: what is announced as longer is no pairing.
pub const MAX_BODY_BYTES: usize = 256;

/// What a frame has inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Version and element of SPAKE2.
    Hello = 1,
    /// Message of Noise.
    Handshake = 2,
    /// Proof that the other end has kept what was agreed.
    Paired = 3,
    /// Reason why there is no pairing.
    Refusal = 4,
}

pub(super) fn encode(kind: FrameKind, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD_BYTES + body.len());
    frame.push(kind as u8);
    frame.extend((body.len() as u16).to_be_bytes()); // bodies that this end makes are short
    frame.extend(body);
    frame
}

/// Octets that no frame begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoFrame;

/// First frame of what has arrived, with all its octets; `None`: not all of it is there.
pub(super) fn next(octets: &[u8]) -> Result<Option<(FrameKind, Vec<u8>)>, NoFrame> {
    let Some((&[kind, high, low], rest)) = octets.split_first_chunk::<HEAD_BYTES>() else {
        return Ok(None);
    };
    let kinds = [FrameKind::Hello, FrameKind::Handshake, FrameKind::Paired, FrameKind::Refusal];
    let kind = kinds.into_iter().find(|&known| known as u8 == kind).ok_or(NoFrame)?;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > MAX_BODY_BYTES {
        return Err(NoFrame);
    }
    let is_whole = rest.len() >= length;
    Ok(is_whole.then(|| (kind, octets[..HEAD_BYTES + length].to_vec())))
}

/// Body of a whole frame.
pub(super) fn body(frame: &[u8]) -> &[u8] {
    &frame[HEAD_BYTES..]
}
