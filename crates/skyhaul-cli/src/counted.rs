//! Numbers of things in words.

/// Number of things of this name, which forms its plural by an `s`.
pub(crate) fn counted(count: u64, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// Number of packets.
pub(crate) fn packets(count: u64) -> String {
    counted(count, "packet")
}
