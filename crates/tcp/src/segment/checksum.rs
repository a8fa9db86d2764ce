//! The checksum of segment and pseudo-header [RFC 9293 3.1, RFC 8200 8.1, RFC 1071].

use core::net::IpAddr;

use super::Way;

/// Protocol number in the IP header.
const PROTOCOL: u64 = 6;

/// Zero for a segment that carries its right checksum; the checksum to write for one whose field is zero.
pub(super) fn checksum(way: Way, segment: &[u8]) -> u16 {
    let sum =
        address_sum(way.local) + address_sum(way.remote) + PROTOCOL + segment.len() as u64 + sum(segment);
    !fold(sum)
}

fn address_sum(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    }
}

/// Words of 16 bits, the last one filled up with zero. No overflow below 2^48 words.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |&byte| u64::from(byte) << 8);
    words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum::<u64>() + last
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let sum = sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(fold(sum), 0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_if_a_zero_followed() {
        assert_eq!(sum(&[1, 2, 3]), sum(&[1, 2, 3, 0]));
    }
}
