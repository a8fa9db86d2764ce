//! Network namespaces, which not every machine has.

use crate::common::skipped;

/// True if the emulation did not even start, since this machine has no namespaces: said aloud.
pub fn is_impossible(err: &str) -> bool {
    let reasons = ["need root, or user namespaces", "/dev/net/tun", "command `ip`"];
    let is = reasons.iter().any(|reason| err.contains(reason));
    if is {
        skipped("network namespaces with TUN devices need root or user namespaces, /dev/net/tun and `ip`");
    }
    is
}
