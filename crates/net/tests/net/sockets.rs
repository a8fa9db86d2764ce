//! Addresses, families and sizes.

use std::io::ErrorKind;
use std::net::SocketAddr;

use skyhaul_net::{Endpoint, EndpointOptions};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PORT, loopback, pattern, receive, send, server, server_at, skipped, within};

/// True if this machine has IPv6; says so if not.
fn has_ipv6() -> bool {
    let found = std::net::UdpSocket::bind("[::1]:0").is_ok();
    if !found {
        skipped("this machine has no IPv6");
    }
    found
}

async fn transfer(server: Endpoint, mut listener: skyhaul_net::Listener, peer: SocketAddr) -> SocketAddr {
    let client = Endpoint::client(peer, EndpointOptions::default()).unwrap();
    let mut near = client.open(peer, PORT, Config::standard()).unwrap();
    let data = pattern(6, 300_000);
    let ((), (received, seen)) = tokio::join!(send(&mut near, &data), async {
        let mut far = listener.accept().await.unwrap();
        (receive(&mut far).await, far.peer_addr())
    });
    assert!(received == data);
    assert_eq!(seen.port(), client.local_addr().port());
    drop(server);
    seen
}

#[tokio::test]
async fn ipv6() {
    if !has_ipv6() {
        return;
    }
    within(30, async {
        let (server, listener) = server_at("[::1]:0".parse().unwrap(), EndpointOptions::default());
        let peer = server.local_addr();
        let seen = transfer(server, listener, peer).await;
        assert!(seen.is_ipv6());
    })
    .await;
}

#[tokio::test]
async fn both_families_on_one_socket() {
    if !has_ipv6() {
        return;
    }
    within(30, async {
        for host in ["127.0.0.1", "127.0.0.2", "::1"] {
            let (server, listener) = server_at("[::]:0".parse().unwrap(), EndpointOptions::default());
            let peer = SocketAddr::new(host.parse().unwrap(), server.local_addr().port());
            let seen = transfer(server, listener, peer).await;
            assert_eq!(seen.is_ipv4(), peer.is_ipv4(), "mapped addresses do not show");
        }
    })
    .await;
}

/// The client is connected to 127.0.0.2 and would not hear an answer from 127.0.0.1.
#[tokio::test]
async fn answers_leave_from_the_address_that_was_written_to() {
    within(30, async {
        let (server, listener) = server_at("0.0.0.0:0".parse().unwrap(), EndpointOptions::default());
        let peer = SocketAddr::new([127, 0, 0, 2].into(), server.local_addr().port());
        transfer(server, listener, peer).await;
    })
    .await;
}

#[tokio::test]
async fn a_port_that_is_taken() {
    let (server, _listener) = server(EndpointOptions::default());
    let address = server.local_addr();
    let error = Endpoint::bind(address, EndpointOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    let expected = format!("another program uses UDP port {} on 127.0.0.1", address.port());
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn an_address_of_another_machine() {
    let error = Endpoint::bind("192.0.2.1:0".parse().unwrap(), EndpointOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "192.0.2.1 is no address of this machine");
}

#[tokio::test]
async fn a_client_is_for_its_peer_only() {
    let (server, _listener) = server(EndpointOptions::default());
    let client = Endpoint::client(server.local_addr(), EndpointOptions::default()).unwrap();
    let error = client.open(loopback(), PORT, Config::standard()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
}

#[tokio::test]
async fn datagrams_may_be_large_or_small() {
    within(60, async {
        for mtu_bytes in [296, 576, 9000, 65_535] {
            let options = || EndpointOptions { mtu_bytes: Some(mtu_bytes), ..Default::default() };
            let (server, mut listener) = server(options());
            let client = Endpoint::client(server.local_addr(), options()).unwrap();
            let mut near = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
            let data = pattern(8, 400_000);
            let serving = async { receive(&mut listener.accept().await.unwrap()).await };
            let ((), received) = tokio::join!(send(&mut near, &data), serving);
            assert!(received == data, "with {mtu_bytes} bytes");
            let counters = client.counters();
            assert_eq!((counters.too_large, counters.send_failures), (0, 0));
            let mean = counters.sent_bytes / counters.sent_datagrams;
            assert!(mean < u64::from(mtu_bytes), "{mean} bytes a datagram of {mtu_bytes}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_kernel_cuts_batches_into_datagrams_where_it_can() {
    let socket = std::net::UdpSocket::bind(loopback()).unwrap();
    let kernel = quinn_udp::UdpSocketState::new((&socket).into()).unwrap();
    if kernel.max_gso_segments() == 1 {
        return skipped("this kernel cannot cut batches (UDP_SEGMENT)");
    }
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = Endpoint::client(server.local_addr(), EndpointOptions::default()).unwrap();
        // A measured rate may be too low for batches, where the machine is busy.
        let declared = Config { rate_bps: Some(5_000_000_000), ..Config::standard() };
        let mut near = client.open(server.local_addr(), PORT, declared).unwrap();
        let data = pattern(9, 4_000_000);
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        assert!(received == data);
        let counters = client.counters();
        assert!(counters.sent_datagrams > 3 * counters.send_calls, "{counters:?}");
    })
    .await;
}

#[tokio::test]
async fn equal_seeds_give_equal_ports_of_the_protocol() {
    within(30, async {
        let options = || EndpointOptions { seed: Some(5), ..Default::default() };
        let mut first_datagrams = Vec::new();
        for _ in 0..2 {
            let ear = std::net::UdpSocket::bind(loopback()).unwrap();
            let client = Endpoint::client(ear.local_addr().unwrap(), options()).unwrap();
            let mut stream = client.open(ear.local_addr().unwrap(), PORT, Config::standard()).unwrap();
            stream.write_all(b"hello").await.unwrap();
            // The stream is not read: the driver works while this task waits.
            let waiting = tokio::time::timeout(std::time::Duration::from_millis(50), stream.read_u8());
            waiting.await.unwrap_err();
            let mut datagram = [0; 2000];
            let bytes = ear.recv(&mut datagram).unwrap();
            assert_eq!(datagram[0], 0x20, "the envelope");
            first_datagrams.push(datagram[1..5].to_vec());
            assert!(bytes > 5);
        }
        assert_eq!(first_datagrams[0], first_datagrams[1]);
    })
    .await;
}
