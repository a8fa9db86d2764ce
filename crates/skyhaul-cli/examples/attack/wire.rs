//! Datagrams that an attacker makes himself, and the sockets that they leave by.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};

use skyhaul_net::Protection;
use skyhaul_stp::segment::{Opening, Segment, decode, encode};

/// STP's port of receivers.
pub(crate) const FILES_PORT: u16 = 2;
/// Headers around a datagram's body, over IPv4.
const IP_UDP_BYTES: usize = 28;

/// Datagram of a segment.
pub(crate) fn datagram(segment: &Segment<'_>) -> Vec<u8> {
    let mut datagram = vec![0; Protection::Plain.head_bytes() as usize];
    encode(segment, &mut datagram);
    Protection::Plain.seal(&mut datagram);
    datagram
}

/// Segment of a datagram, if it is one.
pub(crate) fn segment(datagram: &[u8]) -> Option<Segment<'_>> {
    decode(datagram.get(Protection::Plain.head_bytes() as usize..)?).ok()
}

/// IP octets of a datagram.
pub(crate) fn ip_bytes(datagram: &[u8]) -> u64 {
    (datagram.len() + IP_UDP_BYTES) as u64
}

/// Segment of a connection to the receiver without anything.
pub(crate) fn blank(port: u16) -> Segment<'static> {
    Segment { source_port: port, destination_port: FILES_PORT, instance: port, ..Segment::default() }
}

/// BGN number `i` of this process: its nonce was never seen.
pub(crate) fn opening(i: u32) -> Opening {
    let nonce = 0x5EED << 48 | u64::from(std::process::id()) << 32 | u64::from(i);
    Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce, ..Opening::default() }
}

/// A socket at a loopback address of its own; nothing that is sent there need be heard.
pub(crate) fn socket(host: [u8; 3]) -> io::Result<UdpSocket> {
    UdpSocket::bind((Ipv4Addr::new(127, host[0], host[1], host[2]), 0))
}

/// So many of them.
pub(crate) fn sockets(count: u16) -> io::Result<Vec<UdpSocket>> {
    (0..count).map(|i| socket([66, (i >> 8) as u8, i as u8])).collect()
}
