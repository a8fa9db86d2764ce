//! 24-bit packet numbers [STP 5.1.1]: 64 bits inside, 24 on the wire.

/// Packet numbers on the wire are modulo this.
pub const NUMBER_MODULUS: u64 = 1 << 24;

/// The 24-bit wire form of a full packet number.
pub const fn wire(number: u64) -> u32 {
    (number % NUMBER_MODULUS) as u32
}

/// The full number nearest to `reference` whose wire form is `wire24`. Correct while sender and
/// receiver are less than 2^23 numbers apart, which windows guarantee. Numbers below zero do not
/// exist: the next one up is taken.
pub const fn expand(wire24: u32, reference: u64) -> u64 {
    let half = NUMBER_MODULUS / 2;
    let candidate = (reference & !(NUMBER_MODULUS - 1)) | (wire24 as u64 % NUMBER_MODULUS);
    if candidate + half <= reference {
        candidate + NUMBER_MODULUS
    } else if candidate > reference + half && candidate >= NUMBER_MODULUS {
        candidate - NUMBER_MODULUS
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_wrap() {
        for reference in [0u64, 5, NUMBER_MODULUS - 3, NUMBER_MODULUS, 7 * NUMBER_MODULUS + 9] {
            for distance in [0u64, 1, 1000, NUMBER_MODULUS / 2 - 1] {
                let ahead = reference + distance;
                assert_eq!(expand(wire(ahead), reference), ahead);
                if reference >= distance {
                    let behind = reference - distance;
                    assert_eq!(expand(wire(behind), reference), behind);
                }
            }
        }
    }
}
