//! Randomness of the operating system.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use skyhaul_association::Secret;

/// Octets of the operating system's randomness, at most 256 of them.
pub fn random_octets<const N: usize>() -> io::Result<[u8; N]> {
    const { assert!(N <= 256, "larger requests may be answered in part") };
    let mut octets = [0; N];
    getrandom(&mut octets, GetRandomFlags::empty())?;
    Ok(octets)
}

/// Secret that nobody else has.
pub fn random_secret() -> io::Result<Secret> {
    Ok(Secret::new(random_octets()?))
}
