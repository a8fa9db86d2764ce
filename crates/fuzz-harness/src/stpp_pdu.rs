//! Any bytes at the decoder of the satellite hop's PDUs.

use skyhaul_petra::stpp::pdu::{Body, HEADER_BYTES, MAX_MASK_PDUS, Pdu, decode, encode};

use crate::input::with_crc32;

/// Any bytes give a value or an error; a value has its bounds, and is encoded to the bytes that it came from.
///
/// # Panics
///
/// If that does not hold.
pub fn stpp_pdu(bytes: &[u8]) {
    one(bytes);
    one(&with_crc32(bytes));
}

fn one(bytes: &[u8]) {
    let Ok(pdu) = decode(bytes) else { return };
    check(&pdu, bytes.len());
    let mut again = Vec::new();
    encode(&pdu, &mut again);
    assert_eq!(again, bytes, "{pdu:?}");
}

fn check(pdu: &Pdu<'_>, bytes: usize) {
    assert!(pdu.payload_bytes() + HEADER_BYTES <= bytes);
    let Body::Status(status) = &pdu.body else { return };
    let span = status.last_seq_no.wrapping_sub(status.last_io);
    assert!(span <= MAX_MASK_PDUS && status.mask.missing().len() <= span as usize);
    assert!(status.mask.missing().iter().all(|&distance| (1..=span).contains(&u32::from(distance))));
}
