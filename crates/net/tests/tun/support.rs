//! Two hosts on one wire.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use skyhaul_link::LinkConfig;
use skyhaul_net::tun::{PacketLink, TunHost, TunOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(crate) const PORT: u16 = 7;

pub(crate) fn address(number: u8) -> IpAddr {
    IpAddr::from([10, 7, 0, number])
}

pub(crate) fn address6(number: u16) -> IpAddr {
    IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, number])
}

pub(crate) fn at(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, PORT)
}

/// Two ends that keep packets apart.
pub(crate) fn wire() -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (a, b) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    for end in [&a, &b] {
        sockopt::set_socket_send_buffer_size(end, 4 << 20).unwrap();
    }
    (a, b)
}

pub(crate) fn options(number: u8) -> TunOptions {
    let addresses = vec![address(number), address6(number.into())];
    TunOptions { seed: Some(number.into()), ..TunOptions::new(addresses) }
}

/// Hosts 1 and 2 with nothing in between.
pub(crate) fn two_hosts() -> (TunHost, TunHost) {
    let (a, b) = wire();
    (TunHost::over(a, options(1)).unwrap(), TunHost::over(b, options(2)).unwrap())
}

/// Hosts 1 and 2 at the ends of a link.
pub(crate) fn linked_hosts(config: LinkConfig) -> (TunHost, PacketLink, TunHost) {
    let ((a, near), (far, b)) = (wire(), wire());
    let link = PacketLink::start(config, 7, [near, far]).unwrap();
    (TunHost::over(a, options(1)).unwrap(), link, TunHost::over(b, options(2)).unwrap())
}

/// Bytes without a pattern that a repeat or a gap would keep.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut random = skyhaul_core::Stream::new(bytes as u64, "noise");
    (0..bytes).map(|_| random.next_u64() as u8).collect()
}

pub(crate) async fn send_all(stream: &mut (impl AsyncWriteExt + Unpin), data: &[u8]) {
    stream.write_all(data).await.unwrap();
    stream.shutdown().await.unwrap();
}

pub(crate) async fn read_all(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await.unwrap();
    read
}

/// Result of work that does not take too long.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.expect("it takes too long")
}
