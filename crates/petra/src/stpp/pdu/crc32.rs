//! CRC-32/ISO-HDLC (polynomial 0x04C11DB7 reflected, as Ethernet has it). A satellite hop that hands up
//! damaged PDUs makes many: 16 bits would let one of 65 536 pass.

static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0u32; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0xEDB8_8320 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}

/// CRC of the octets of all parts, one behind the other.
pub fn crc32(parts: &[&[u8]]) -> u32 {
    let octets = parts.iter().flat_map(|part| part.iter());
    !octets.fold(u32::MAX, |crc, &octet| (crc >> 8) ^ TABLE[((crc ^ u32::from(octet)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogued_check_value_in_one_part_and_in_several() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
    }
}
