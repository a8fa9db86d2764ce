//! Counters of an endpoint below its connections.

/// Counters of an endpoint below its connections. None of these is fatal: the protocol repairs
/// what was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams received.
    pub received_datagrams: u64,
    /// Their bytes, envelope included, IP and UDP headers not.
    pub received_bytes: u64,
    /// System calls that received something.
    pub receive_calls: u64,
    /// Datagrams whose envelope was refused: alien, damaged, or of another protection mode.
    pub bad_envelopes: u64,
    /// Datagrams handed to the operating system.
    pub sent_datagrams: u64,
    /// Their bytes, envelope included, IP and UDP headers not.
    pub sent_bytes: u64,
    /// System calls that sent something.
    pub send_calls: u64,
    /// Times at which the socket could not take a datagram at once.
    pub send_waits: u64,
    /// Datagrams lost here because they exceed what the interface carries (`EMSGSIZE`): the MTU of
    /// the options is too large.
    pub too_large: u64,
    /// Datagrams lost here for any other reason: no buffers, no route, forbidden by a firewall.
    pub send_failures: u64,
    /// Times at which receiving failed.
    pub receive_failures: u64,
    /// Datagrams dropped by the system since this socket's receive buffer was full; 0 where it says nothing.
    pub socket_drops: u64,
    /// Reports (ICMP) that nobody receives at the peer's address.
    pub refusals: u64,
}
