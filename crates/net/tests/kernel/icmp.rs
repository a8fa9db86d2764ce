//! ICMP between our host and the kernel, and routers that say what the path carries.

use std::io::{ErrorKind, Read as _};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder, icmpv4};
use skyhaul_tcp::Config;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;

use crate::lab::{KERNEL, OURS, exchange, in_a_namespace, kernel_knows, ours};
use crate::socket::to_kernel;
use crate::tap::{From, Out, Watcher};

/// Largest packet that the narrow part of the path carries.
const NARROW_BYTES: usize = 1300;

/// An echo request by the kernel.
async fn ping(family: usize) -> bool {
    let (domain, protocol, request, reply) = match family {
        0 => (Domain::IPV4, Protocol::ICMPV4, 8, 0),
        _ => (Domain::IPV6, Protocol::ICMPV6, 128, 129),
    };
    let socket = Socket::new(domain, Type::RAW, Some(protocol)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let to = SocketAddr::new(OURS[family], 0);
    let mut message = [request, 0, 0, 0, 1, 2, 3, 4, b'h', b'e', b'y', b'!'];
    if family == 0 {
        let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    socket.send_to(&message, &to.into()).unwrap();
    for _ in 0..2000 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut room = [0; 100];
        let Ok(length) = (&socket).read(&mut room) else { continue };
        // Raw sockets of IPv4 are given the IP header, too.
        let message = &room[if family == 0 { 20 } else { 0 }..length];
        if message[0] == reply && message[4..] == [1, 2, 3, 4, b'h', b'e', b'y', b'!'] {
            return true;
        }
    }
    false
}

#[test]
fn our_host_answers_echo_requests() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        assert!(ping(0).await && ping(1).await, "{:?}", host.counters());
        assert_eq!(host.counters().echoes, 2);
    });
}

#[test]
fn a_udp_socket_of_the_kernel_hears_that_nobody_listens() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        for family in [0, 1] {
            let socket = UdpSocket::bind(SocketAddr::new(KERNEL[family], 0)).unwrap();
            socket.connect(ours(family)).unwrap();
            socket.set_nonblocking(true).unwrap();
            let mut error = ErrorKind::WouldBlock;
            while error == ErrorKind::WouldBlock {
                // The report of a send is an error of the next call; not every packet is reported.
                error = socket.send(b"anybody?").err().map_or(error, |error| error.kind());
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            assert_eq!(error, ErrorKind::ConnectionRefused);
        }
        assert!(host.counters().unreachable_sent >= 2, "{:?}", host.counters());
    });
}

/// A router's word, to the sender of `packet`, that it is too large.
fn too_big(packet: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    if packet[0] >> 4 == 4 {
        let (source, destination) = (packet[12..16].try_into().unwrap(), packet[16..20].try_into().unwrap());
        let header = icmpv4::DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: NARROW_BYTES as u16 };
        PacketBuilder::ipv4(destination, source, 60)
            .icmpv4(Icmpv4Type::DestinationUnreachable(header))
            .write(&mut message, &packet[..28])
            .unwrap();
    } else {
        let (source, destination) = (packet[8..24].try_into().unwrap(), packet[24..40].try_into().unwrap());
        PacketBuilder::ipv6(destination, source, 60)
            .icmpv6(Icmpv6Type::PacketTooBig { mtu: NARROW_BYTES as u32 })
            .write(&mut message, &packet[..1000])
            .unwrap();
    }
    message
}

/// A router in the middle of the path takes nothing larger, and says so.
fn narrow(dropped: Arc<AtomicU64>) -> impl Watcher {
    move |from, packet: Vec<u8>, out: &mut Out| {
        if packet.len() <= NARROW_BYTES {
            return out.push((from, packet));
        }
        dropped.fetch_add(1, Ordering::Relaxed);
        let other = if from == From::Ours { From::Kernel } else { From::Ours };
        out.push((other, too_big(&packet)));
    }
}

#[test]
fn either_learns_what_the_path_carries() {
    for family in [0, 1] {
        in_a_namespace(async move |lab| {
            let dropped = Arc::new(AtomicU64::new(0));
            let (host, _tap) = lab.tapped(narrow(Arc::clone(&dropped)));
            let (ours, kernel) = to_kernel(&host, family, None, Config::standard()).await;
            exchange(ours, kernel, 1_000_000, 1_000_000).await;
            let dropped = dropped.load(Ordering::Relaxed);
            assert!((2..200).contains(&dropped), "{dropped} packets were too large");
            assert!(host.stats().icmp_taken > 0, "{:?}", host.stats());
        });
    }
}

/// A router in the middle of the path takes nothing larger of ours, and says nothing.
#[test]
fn a_silent_black_hole_before_the_kernel_is_found() {
    for family in [0, 1] {
        in_a_namespace(async move |lab| {
            let dropped = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&dropped);
            let (host, _tap) = lab.tapped(move |from, packet: Vec<u8>, out: &mut Vec<_>| {
                if from == From::Ours && packet.len() > NARROW_BYTES {
                    counter.fetch_add(1, Ordering::Relaxed);
                } else {
                    out.push((from, packet));
                }
            });
            let config = Config { discover_mtu: true, ..Config::standard() };
            let (mut ours, kernel) = to_kernel(&host, family, None, config).await;
            exchange(&mut ours, kernel, 5_000_000, 1000).await;
            let found_bytes = ours.stats().path_mtu_bytes;
            assert!(found_bytes.is_some_and(|bytes| (1280..=1300).contains(&bytes)), "{found_bytes:?}");
            let dropped = dropped.load(Ordering::Relaxed);
            assert!((2..200).contains(&dropped), "{dropped} packets were too large");
        });
    }
}

/// A host that was told a smaller MTU believes in what is smaller.
#[test]
fn what_nobody_sent_cannot_be_reported() {
    in_a_namespace(async |lab| {
        let (host, _tap) = lab.tapped(|from, packet: Vec<u8>, out: &mut Vec<_>| {
            // Each data packet of ours is answered with a lie about one with another number.
            if from == From::Ours && packet.len() > NARROW_BYTES {
                let mut forged = packet.clone();
                forged[24] ^= 0x40; // sequence number, beyond any window
                out.push((From::Kernel, too_big(&forged)));
            }
            out.push((from, packet));
        });
        let (ours, kernel): (_, TcpStream) = to_kernel(&host, 0, None, Config::standard()).await;
        exchange(ours, kernel, 300_000, 1000).await;
        let stats = host.stats();
        assert!(stats.icmp_ignored > 0 && stats.icmp_taken == 0, "{stats:?} {}", kernel_knows());
    });
}
