//! Blocks of pcapng (draft-ietf-opsawg-pcapng), each appended whole to a buffer. All that is needed of it,
//! little-endian, so that equal packets give equal octets on every machine.

use crate::comment::comments;
use crate::{Direction, Record};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// Packets begin with their IP header, of either version.
const LINKTYPE_RAW: u16 = 101;
/// Time stamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const EPB_DROPCOUNT: u16 = 4;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

/// Longest value of an option: its length has 16 bits.
const MAX_OPTION_BYTES: usize = 0xFFFF;

/// Section header: the capture begins. `remark` is its comment.
pub(crate) fn section(remark: &str, out: &mut Vec<u8>) {
    block(SECTION_HEADER, out, |out| {
        out.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        out.extend_from_slice(&[1, 0, 0, 0]); // version 1.0
        out.extend_from_slice(&u64::MAX.to_le_bytes()); // its length is not told
        option(OPT_COMMENT, remark.as_bytes(), out);
        option(SHB_USERAPPL, concat!("skyhaul ", env!("CARGO_PKG_VERSION")).as_bytes(), out);
        option(OPT_END, &[], out);
    });
}

/// Interface description. Interfaces are numbered as they are written.
pub(crate) fn interface(name: &str, out: &mut Vec<u8>) {
    block(INTERFACE_DESCRIPTION, out, |out| {
        out.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        out.extend_from_slice(&[0; 6]); // reserved; packets are whole
        option(IF_NAME, name.as_bytes(), out);
        option(IF_TSRESOL, &[NANOSECONDS], out);
        option(OPT_END, &[], out);
    });
}

/// Enhanced packet, with its events as comments. `missed`: records that were left out since the last one.
pub(crate) fn packet(record: &Record, missed: u64, out: &mut Vec<u8>) {
    block(ENHANCED_PACKET, out, |out| {
        out.extend_from_slice(&record.interface.to_le_bytes());
        time(record.at_ns, out);
        let bytes = (record.heads.map_or(0, |heads| heads.bytes()) + record.bytes.len()) as u32;
        out.extend_from_slice(&bytes.to_le_bytes());
        out.extend_from_slice(&bytes.to_le_bytes());
        match &record.heads {
            Some(heads) => heads.put(&record.bytes, out),
            None => out.extend_from_slice(&record.bytes),
        }
        pad(bytes as usize, out);
        let direction: u32 = match record.direction {
            Direction::Inbound => 0b01,
            Direction::Outbound => 0b10,
        };
        option(EPB_FLAGS, &direction.to_le_bytes(), out);
        if missed > 0 {
            option(EPB_DROPCOUNT, &missed.to_le_bytes(), out);
        }
        for comment in comments(&record.events, record.number_bits()) {
            option(OPT_COMMENT, comment.as_bytes(), out);
        }
        option(OPT_END, &[], out);
    });
}

/// Interface statistics, at the end: packets written, and packets left out.
pub(crate) fn statistics(interface: u32, at_ns: u64, written: u64, missed: u64, out: &mut Vec<u8>) {
    block(INTERFACE_STATISTICS, out, |out| {
        out.extend_from_slice(&interface.to_le_bytes());
        time(at_ns, out);
        option(ISB_IFRECV, &(written + missed).to_le_bytes(), out);
        option(ISB_IFDROP, &missed.to_le_bytes(), out);
        option(OPT_END, &[], out);
    });
}

/// A block: type, length, what `body` writes (a multiple of 4 octets), length once more.
fn block(kind: u32, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let bytes = (out.len() - start + 4) as u32;
    out[start + 4..start + 8].copy_from_slice(&bytes.to_le_bytes());
    out.extend_from_slice(&bytes.to_le_bytes());
}

fn option(code: u16, value: &[u8], out: &mut Vec<u8>) {
    let value = &value[..value.len().min(MAX_OPTION_BYTES)];
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(value.len(), out);
}

/// Fills up with zeros what is `bytes` long, to a multiple of 4.
fn pad(bytes: usize, out: &mut Vec<u8>) {
    out.extend(std::iter::repeat_n(0, bytes.next_multiple_of(4) - bytes));
}

/// Upper half, then lower half.
fn time(at_ns: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&((at_ns >> 32) as u32).to_le_bytes());
    out.extend_from_slice(&(at_ns as u32).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn an_interface_has_these_octets() {
        let mut out = Vec::new();
        interface("a", &mut out);
        let expected = [
            1, 0, 0, 0, 40, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, // type, length, link type, whole packets
            2, 0, 1, 0, b'a', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, // name, ns, end
            40, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn a_packet_has_its_length_twice_and_is_filled_up() {
        let mut out = Vec::new();
        let record = Record {
            at_ns: (5 << 32) + 7,
            interface: 1,
            direction: Direction::Inbound,
            heads: None,
            bytes: Bytes::from_static(&[0x45; 21]),
            events: Vec::new(),
        };
        packet(&record, 3, &mut out);
        assert_eq!(
            out[..28],
            [6, 0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 21, 0, 0, 0, 21, 0, 0, 0]
        );
        assert_eq!(out[49..60], [0, 0, 0, 2, 0, 4, 0, 1, 0, 0, 0], "filling, then the direction");
        assert_eq!(out[60..72], [4, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0], "three were left out");
        assert_eq!((out.len(), &out[76..]), (80, &[80, 0, 0, 0][..]));
    }
}
