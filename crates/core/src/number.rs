//! Numbers that wrap on the wire: 64 bits inside, 24 on the wire for packets [STP 5.1.1], or as many as
//! another protocol has.

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
    nearest(wire24 as u64, reference, NUMBER_MODULUS)
}

/// The number nearest to `reference` that is `wire` modulo `modulus` (a power of two; `reference` at
/// most half the range of `u64`). Of two equally near ones the higher is taken, and so is the next one up
/// where the nearest would lie below zero.
pub const fn nearest(wire: u64, reference: u64, modulus: u64) -> u64 {
    let half = modulus / 2;
    let candidate = (reference & !(modulus - 1)) | (wire % modulus);
    if candidate + half <= reference {
        candidate + modulus
    } else if candidate > reference + half && candidate >= modulus {
        candidate - modulus
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
