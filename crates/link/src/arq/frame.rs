//! Frames: what the link carries where a link layer repeats.
//!
//! Both ends are in one process, so that a frame names its packet and has none of its octets: its size on the
//! wire is that of the PDU. Numbers are big endian, of 8 octets, counts of 4.

use alloc::vec::Vec;

use bytes::{Buf, BufMut, Bytes};

/// Ranges that an acknowledgement tells at most.
pub(super) const MAX_RANGES: usize = 64;
/// Octets on the wire of a range.
pub(super) const RANGE_BYTES: u32 = 8;

const DATA: u8 = 0;
const NACK: u8 = 1;
const ACK: u8 = 2;

/// A PDU, in one of its sendings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// Number of the sending: one more than that of the sending before.
    pub(super) sending: u64,
    /// Number of the PDU.
    pub(super) pdu: u64,
    /// Number of the packet that it is a part of.
    pub(super) packet: u64,
    /// PDUs of that packet.
    pub(super) parts: u32,
}

/// What the receiver has of a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// First PDU that has not arrived.
    pub(super) next: u64,
    /// One past the newest sending that arrived.
    pub(super) sendings_end: u64,
    /// First PDU that this says nothing of.
    pub(super) silent_from: u64,
    /// PDUs that arrived behind `next`, as half-open ranges.
    pub(super) arrived: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Data(Data),
    /// The sending with this number was lost.
    Nack(u64),
    Ack(Acknowledgement),
}

impl Frame {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(32);
        match self {
            Self::Data(data) => {
                out.put_u8(DATA);
                out.put_u64(data.sending);
                out.put_u64(data.pdu);
                out.put_u64(data.packet);
                out.put_u32(data.parts);
            }
            Self::Nack(sending) => {
                out.put_u8(NACK);
                out.put_u64(*sending);
            }
            Self::Ack(ack) => {
                out.put_u8(ACK);
                out.put_u64(ack.next);
                out.put_u64(ack.sendings_end);
                out.put_u64(ack.silent_from);
                out.put_u32(ack.arrived.len() as u32);
                for &(first, end) in &ack.arrived {
                    out.put_u64(first);
                    out.put_u64(end);
                }
            }
        }
        out.into()
    }

    /// The frame of these octets; `None`: it is none.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        Some(match bytes.try_get_u8().ok()? {
            DATA => Self::Data(Data {
                sending: bytes.try_get_u64().ok()?,
                pdu: bytes.try_get_u64().ok()?,
                packet: bytes.try_get_u64().ok()?,
                parts: bytes.try_get_u32().ok()?,
            }),
            NACK => Self::Nack(bytes.try_get_u64().ok()?),
            ACK => {
                let next = bytes.try_get_u64().ok()?;
                let sendings_end = bytes.try_get_u64().ok()?;
                let silent_from = bytes.try_get_u64().ok()?;
                let count = bytes.try_get_u32().ok()? as usize;
                if count > MAX_RANGES {
                    return None;
                }
                let mut range = |_| Some((bytes.try_get_u64().ok()?, bytes.try_get_u64().ok()?));
                let arrived = (0..count).map(&mut range).collect::<Option<_>>()?;
                Self::Ack(Acknowledgement { next, sendings_end, silent_from, arrived })
            }
            _ => return None,
        })
    }
}
