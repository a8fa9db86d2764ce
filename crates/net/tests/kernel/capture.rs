//! tshark reads what went over the wire, and finds nothing malformed.

use std::sync::{Arc, Mutex};

use skyhaul_tcp::Config;
use tokio::io::AsyncReadExt;

use crate::lab::{exchange, in_a_namespace, ours, sysctl};
use crate::pcap::Pcap;
use crate::socket::{connect, from_kernel, to_kernel};
use crate::tshark::{is_missing, matching};

#[test]
fn tshark_finds_nothing_malformed() {
    if is_missing() {
        return;
    }
    in_a_namespace(async |lab| {
        sysctl("tcp_ecn", "1");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wire.pcap");
        let file = Arc::new(Mutex::new(Pcap::new(&path)));
        let inside = Arc::clone(&file);
        let mut place = 0u32;
        let (host, tap) = lab.tapped(move |from, packet: Vec<u8>, out: &mut Vec<_>| {
            // Data that is lost here and there makes SACK blocks and repeats. A lost reset would make
            // somebody wait for ever.
            let has_data = packet.len() > 500;
            place += u32::from(has_data);
            inside.lock().unwrap().write(&packet);
            if !(has_data && place.is_multiple_of(61)) {
                out.push((from, packet));
            }
        });
        for family in [0, 1] {
            let (ours, kernel) = to_kernel(&host, family, None, Config::standard()).await;
            exchange(ours, kernel, 300_000, 300_000).await;
            let (ours, kernel) = from_kernel(&host, family, None).await;
            exchange(ours, kernel, 300_000, 300_000).await;
            let (stream, mut kernel) = from_kernel(&host, family, None).await;
            drop(stream); // a reset
            let _ = kernel.read(&mut [0; 1]).await;
            let refused = connect(ours_elsewhere(family), None, |_| {}).await;
            assert!(refused.is_err());
            let socket = std::net::UdpSocket::bind(if family == 0 { "0.0.0.0:0" } else { "[::]:0" }).unwrap();
            socket.send_to(b"anybody?", ours_elsewhere(family)).unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        drop((tap, file));
        let path = path.to_str().unwrap();
        let bad = matching(path, "_ws.malformed or _ws.expert.severity == error");
        // The kernel leaves the checksums of what it sends to the device, which has no need of them.
        let ours_bad = "(ip.src == 10.77.0.2 or ipv6.src == fd77::2) and \
            (tcp.checksum.status == 0 or ip.checksum.status == 0 or icmp.checksum.status == 0 or icmpv6.checksum.status == 0)";
        let wrong = matching(path, ours_bad);
        assert!(bad.is_empty() && wrong.is_empty(), "malformed: {bad:#?}\nwrong checksums: {wrong:#?}");
        assert!(matching(path, "tcp").len() > 1000, "the capture was read");
        assert!(
            !matching(path, "tcp.options.sack_le and ip.src == 10.77.0.2").is_empty(),
            "with SACK blocks of ours"
        );
        assert!(!matching(path, "icmp.type == 3 or icmpv6.type == 1").is_empty(), "with ICMP of ours");
    });
}

/// The beginning of a call of Thrift, as far as tshark looks, and no more of it.
#[test]
fn a_payload_that_looks_like_another_protocol_is_not_malformed() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.pcap");
    let mut file = Pcap::new(&path);
    let payload = [b"\x82\x21\x01\x04ping\x18\xff\xff\xff\xff\x7f".as_slice(), &[b'a'; 10]].concat();
    let segment = etherparse::PacketBuilder::ipv4([10, 77, 0, 2], [10, 77, 0, 1], 64);
    let segment = segment.tcp(4000, 5000, 1, 8192).ack(1);
    let mut packet = Vec::new();
    segment.write(&mut packet, &payload).unwrap();
    file.write(&packet);
    drop(file);
    let path = path.to_str().unwrap();
    assert_eq!(matching(path, "tcp.len > 0").len(), 1);
    assert_eq!(matching(path, "_ws.malformed or _ws.expert.severity == error"), Vec::<String>::new());
}

/// A port at which nobody listens.
fn ours_elsewhere(family: usize) -> std::net::SocketAddr {
    std::net::SocketAddr::new(ours(family).ip(), 99)
}
