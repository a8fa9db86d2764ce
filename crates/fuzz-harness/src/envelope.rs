//! Target `envelope`: the octets around a segment.

use skyhaul_net::Protection;

/// Any datagram gives a body or an error; the body lies within, and sealing it again gives the same
/// datagram.
///
/// # Panics
/// If that does not hold.
pub fn envelope(bytes: &[u8]) {
    let mut datagram = bytes.to_vec();
    let Ok(body) = Protection::Plain.open(&mut datagram) else { return };
    assert!(body.start == Protection::Plain.head_bytes() as usize && body.end <= bytes.len());
    Protection::Plain.seal(&mut datagram);
    assert_eq!(datagram, bytes);
}
