//! Numbers that wrap in packets: 64 bits inside, 24 in a packet [STP 5.1.1], or as many as another protocol
//! has.

/// Modulus of packet numbers as packets carry them.
pub const NUMBER_MODULUS: u64 = 1 << 24;

/// Lowest 24 bits of a full packet number, as packets carry it.
pub const fn truncate_number(number: u64) -> u32 {
    (number % NUMBER_MODULUS) as u32
}

/// Full number nearest to `reference` of which packets carry `truncated`. Correct while sender and
/// receiver are less than 2^23 numbers apart, which windows guarantee. Numbers below zero do not
/// exist: the next one up is taken.
pub const fn expand(truncated: u32, reference: u64) -> u64 {
    nearest(truncated as u64, reference, NUMBER_MODULUS)
}

/// Number nearest to `reference` that is `truncated` modulo `modulus` (a power of two; `reference` at
/// most half the range of `u64`). Of two equally near ones the higher is taken, and so is the next one up
/// where the nearest would lie below zero.
pub const fn nearest(truncated: u64, reference: u64, modulus: u64) -> u64 {
    let half = modulus / 2;
    let candidate = (reference & !(modulus - 1)) | (truncated % modulus);
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
                assert_eq!(expand(truncate_number(ahead), reference), ahead);
                if reference >= distance {
                    let behind = reference - distance;
                    assert_eq!(expand(truncate_number(behind), reference), behind);
                }
            }
        }
    }
}
