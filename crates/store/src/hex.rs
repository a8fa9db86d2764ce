//! Octets as hexadecimal digits.

use std::fmt::Write as _;

/// Two small digits for each octet.
pub fn to_hex(octets: &[u8]) -> String {
    let mut text = String::with_capacity(2 * octets.len());
    for octet in octets {
        // A string takes everything.
        let _ = write!(text, "{octet:02x}");
    }
    text
}

/// Octets of exactly so many digits; `None` if the text is something else.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut octets = [0; N];
    for (octet, digits) in octets.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = [digits[0], digits[1]].map(|digit| char::from(digit).to_digit(16));
        *octet = (high? << 4 | low?) as u8;
    }
    Some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_back_and_nothing_else_is_octets() {
        assert_eq!(to_hex(&[0, 0x7f, 0xff]), "007fff");
        assert_eq!(from_hex("007fff"), Some([0, 0x7f, 0xff]));
        assert_eq!(from_hex("007FFF"), Some([0, 0x7f, 0xff]));
        for bad in ["", "007ff", "007fff00", "007ffg", "+07fff", "\u{e9}007f"] {
            assert_eq!(from_hex::<3>(bad), None, "{bad}");
        }
    }
}
