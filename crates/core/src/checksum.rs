//! CRC-16/IBM-3740 ("CCITT-FALSE": polynomial 0x1021, start 0xFFFF), sixteen bytes a step.

const LANES: usize = 16;
static TABLES: [[u16; 256]; LANES] = tables();

const fn tables() -> [[u16; 256]; LANES] {
    let mut t = [[0u16; 256]; LANES];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        t[0][i] = crc;
        i += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut i = 0;
        while i < 256 {
            let crc = t[lane - 1][i];
            t[lane][i] = (crc << 8) ^ t[0][(crc >> 8) as usize];
            i += 1;
        }
        lane += 1;
    }
    t
}

/// The start value of [`crc16`].
pub const START: u16 = 0xFFFF;

/// Continues a CRC-16 over `bytes` from `crc` ([`START`] for the first part).
pub fn crc16(mut crc: u16, bytes: &[u8]) -> u16 {
    let mut blocks = bytes.chunks_exact(LANES);
    for block in &mut blocks {
        let high = block[0] ^ (crc >> 8) as u8;
        let low = block[1] ^ crc as u8;
        let mut next = TABLES[LANES - 1][high as usize] ^ TABLES[LANES - 2][low as usize];
        for (i, &byte) in block.iter().enumerate().skip(2) {
            next ^= TABLES[LANES - 1 - i][byte as usize];
        }
        crc = next;
    }
    for &byte in blocks.remainder() {
        crc = (crc << 8) ^ TABLES[0][((crc >> 8) as u8 ^ byte) as usize];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit_by_bit(mut crc: u16, bytes: &[u8]) -> u16 {
        for &byte in bytes {
            crc ^= u16::from(byte) << 8;
            for _ in 0..8 {
                crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            }
        }
        crc
    }

    #[test]
    fn the_catalogued_check_value() {
        assert_eq!(crc16(START, b"123456789"), 0x29B1);
    }

    proptest! {
        #[test]
        fn the_tables_agree_with_the_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), split in 0usize..200,
        ) {
            let split = split.min(bytes.len());
            let parts = crc16(crc16(START, &bytes[..split]), &bytes[split..]);
            prop_assert_eq!(parts, bit_by_bit(START, &bytes));
        }
    }
}
