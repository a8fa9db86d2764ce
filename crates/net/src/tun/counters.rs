//! Counters of a host below its connections.

/// Counters of a host on a device below its connections. Nothing of this is fatal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunCounters {
    /// Packets that the device gave.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets that the device took.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets lost here: the device did not take them.
    pub send_failures: u64,
    /// Times at which the device took nothing more.
    pub send_waits: u64,
    /// Packets dropped: wrong version, length or checksum.
    pub malformed: u64,
    /// Packets dropped: pieces of a larger one.
    pub fragments: u64,
    /// Packets dropped: IPv6 options, routing, or too many extension headers.
    pub unsupported: u64,
    /// Packets dropped: for another address than this host's.
    pub strays: u64,
    /// Packets dropped: from an address that no host may have.
    pub bad_sources: u64,
    /// Echo requests answered.
    pub echoes: u64,
    /// Packets of other protocols than TCP, with compressed headers where they are taken, and ICMP.
    pub unknown_protocols: u64,
    /// Reports sent that nobody takes a packet.
    pub unreachable_sent: u64,
    /// Reports not sent, since there were many already, and answers for which there was no room.
    pub unreachable_withheld: u64,
    /// Reports of routers and peers about segments of ours.
    pub reports: u64,
    /// Messages of ICMP dropped: about what this host did not send, cut short, or of a kind that is not
    /// heard.
    pub unheard: u64,
}
