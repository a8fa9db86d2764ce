//! Counters of the kernel, of all TCP connections of this network namespace.

/// Segments sent again since the namespace was made.
pub(super) fn retransmitted_segments() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/self/net/snmp").ok()?, "RetransSegs")
}

/// Two lines `Tcp:`, of names and of values.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let place = lines.next()?.split_whitespace().position(|word| word == name)?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_stands_below_its_name() {
        let text = "Ip: A B\nIp: 1 2\nTcp: MaxConn RetransSegs InErrs\nTcp: -1 17 3\nUdp: X\nUdp: 1\n";
        assert_eq!(field(text, "RetransSegs"), Some(17));
        assert_eq!((field(text, "MaxConn"), field(text, "Nothing"), field("", "X")), (None, None, None));
    }
}
