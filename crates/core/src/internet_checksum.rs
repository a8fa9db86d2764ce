//! Checksum of IP, ICMP and TCP: the ones' complement of a ones' complement sum of words of 16 bits [RFC
//! 1071]. Sums are plain numbers, so those of parts (at even places) may be added before they are folded.

use core::net::IpAddr;

/// Sum of `bytes`, an odd last one filled up with zero. At most 0xFFFF.
///
/// Which end of a word comes first does not matter before the end [RFC 1071 2(B)], nor does its width [2(C)].
pub fn internet_sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let wide: u64 = words.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum();
    u64::from(u16::from_be(fold(wide + u64::from(u32::from_ne_bytes(last)))))
}

/// Sum of the pseudo-header in front of `body_bytes` of `protocol` [RFC 9293 3.1, RFC 8200 8.1].
pub fn pseudo_header_sum(source: IpAddr, destination: IpAddr, protocol: u8, body_bytes: usize) -> u64 {
    address_sum(source) + address_sum(destination) + u64::from(protocol) + body_bytes as u64
}

/// Sum of an address. A word of 32 bits is worth the sum of its halves.
fn address_sum(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            [96, 64, 32, 0].map(|shift| u64::from((bits >> shift) as u32)).iter().sum()
        }
    }
}

/// Checksum that belongs to a sum: zero, if the sum was taken over a checksum that is right.
pub fn internet_checksum(sum: u64) -> u16 {
    !fold(sum)
}

/// Carries added, until there are none: each step takes the number below the next bound.
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32); // at most 2^33 - 2
    let sum = (sum & 0xFFFF) + (sum >> 16); // at most 0x2_FFFD
    let sum = (sum & 0xFFFF) + (sum >> 16); // at most 0x1_0000
    ((sum & 0xFFFF) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(internet_sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_if_a_zero_followed() {
        assert_eq!(internet_sum(&[1, 2, 3]), internet_sum(&[1, 2, 3, 0]));
    }

    #[test]
    fn sums_at_the_bounds_of_each_step_are_folded_whole() {
        let by_definition = |mut sum: u64| {
            while sum > 0xFFFF {
                sum = (sum & 0xFFFF) + (sum >> 16);
            }
            sum as u16
        };
        for bits in 0..64 {
            for near in [0u64.wrapping_sub(1), 0, 1] {
                let sum = (1u64 << bits).wrapping_add(near);
                assert_eq!(fold(sum), by_definition(sum), "{sum:#x}");
            }
        }
        assert_eq!(fold(u64::MAX), by_definition(u64::MAX));
    }

    #[test]
    fn the_sum_of_an_address_is_worth_that_of_its_octets() {
        for address in ["192.0.2.7", "255.255.255.255", "2001:db8::ffff:7", "::1"] {
            let address: IpAddr = address.parse().unwrap();
            let octets = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            assert_eq!(fold(address_sum(address)), fold(internet_sum(&octets)), "{address}");
        }
    }

    proptest! {
        #[test]
        fn wide_words_agree_with_the_definition(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
            let plain: u64 = bytes.chunks(2).map(word).sum();
            prop_assert_eq!(fold(plain), fold(internet_sum(&bytes)));
        }

        #[test]
        fn what_carries_its_checksum_sums_up_to_zero(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let sum = internet_sum(&bytes);
            prop_assert_eq!(internet_checksum(sum + u64::from(internet_checksum(sum))), 0);
        }
    }
}
