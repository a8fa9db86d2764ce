//! SCPS-TP between two hosts: what they agree on, compressed headers on the wire, and whole transfers over
//! losses, reordering, an outage and a router that takes no large packets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use etherparse::{Icmpv4Type, PacketBuilder, icmpv4};
use skyhaul_core::packet::ip_protocol::{COMPRESSED_TCP, TCP};
use skyhaul_core::{Instant, MS, SECOND, Verdict};
use skyhaul_link::{BurstLoss, DirectionConfig, LinkConfig, Outage, QueueLimit, Reordering};
use skyhaul_net::tun::{PacketLink, TcpStream, TunHost, TunOptions};
use skyhaul_tcp::scps::{Agreement, Scps, Snack};
use skyhaul_tcp::{Config, ControllerKind};

use crate::support::*;
use crate::tap::{From, Out, Tap, Watcher};

const AGREED: Agreement = Agreement { snack: Snack::Vector, compression: false, best_effort: false };

/// SCPS-TP with compressed headers, if they are wanted.
fn speaking(compression: bool) -> Config {
    Config { scps: Some(Scps { compression, ..Scps::standard() }), ..Config::standard() }
}

fn host(number: u8, end: std::os::fd::OwnedFd, accept: Config) -> TunHost {
    TunHost::over(end, TunOptions { accept, ..options(number) }).unwrap()
}

/// Hosts 1 and 2 that accept by these parameters, with somebody on the wire. `From::Ours` is host 1.
fn tapped(accept: [Config; 2], watcher: impl Watcher + 'static) -> (TunHost, Tap, TunHost) {
    let ((a, near), (far, b)) = (wire(), wire());
    let tap = Tap::start([far, near], watcher);
    let [first, second] = accept;
    (host(1, a, first), tap, host(2, b, second))
}

fn agreement(host: &TunHost, stream: &TcpStream) -> Option<Agreement> {
    host.scps_agreement(stream.monitor().id().unwrap())
}

/// Agreements of both ends of a connection by `config`, over which so many bytes went each way, and the end
/// that opened it.
async fn exchange(
    [a, b]: [&TunHost; 2],
    config: Config,
    peer: std::net::IpAddr,
    [up_bytes, down_bytes]: [usize; 2],
) -> ([Option<Agreement>; 2], TcpStream) {
    let mut listener = b.listen(PORT, 8).unwrap();
    let (up, down) = tokio::join!(a.connect(at(peer), config), listener.accept());
    let (mut up, mut down) = (up.unwrap(), down.unwrap());
    let (there, back) = (noise(up_bytes), noise(down_bytes));
    let ((), got) = soon(async { tokio::join!(send_all(&mut up, &there), read_all(&mut down)) }).await;
    let ((), answer) = soon(async { tokio::join!(send_all(&mut down, &back), read_all(&mut up)) }).await;
    assert!(got == there && answer == back, "{peer}");
    ([agreement(a, &up), agreement(b, &down)], up)
}

/// Protocol of a packet.
fn protocol(packet: &[u8]) -> u8 {
    packet[if packet[0] >> 4 == 4 { 9 } else { 6 }]
}

#[tokio::test]
async fn compressed_headers_cross_the_wire_both_ways_where_both_want_them() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    let watcher = move |from, packet: Vec<u8>, out: &mut Out| {
        seen.lock().unwrap().push((from, protocol(&packet), packet.len()));
        out.push((from, packet));
    };
    let (a, _tap, b) = tapped([speaking(true), speaking(true)], watcher);
    for peer in [address(2), address6(2)] {
        let (agreed, _) = exchange([&a, &b], speaking(true), peer, [500_000, 300_000]).await;
        assert_eq!(agreed, [Some(Agreement { compression: true, ..AGREED }); 2], "{peer}");
        let sent: Vec<_> = sent.lock().unwrap().drain(..).collect();
        for (from, least) in [(From::Ours, 500_000 / 1480), (From::Kernel, 300_000 / 1480)] {
            let count =
                |of: u8| sent.iter().filter(|&&(by, protocol, _)| by == from && protocol == of).count();
            assert!(count(COMPRESSED_TCP) > least, "{peer} {from:?}: {}", count(COMPRESSED_TCP));
            assert!(10 * count(TCP) < count(COMPRESSED_TCP), "{peer} {from:?}: an opening, and little else");
        }
        assert_eq!(
            sent.iter().map(|&(.., bytes)| bytes).max(),
            Some(1500),
            "full packets are as long as ever"
        );
    }
    assert_eq!([&a, &b].map(|host| (host.counters().unknown_protocols, host.stats().unknown)), [(0, 0); 2]);
}

#[tokio::test]
async fn what_one_end_does_not_offer_is_not_used() {
    let plain = Config::standard();
    for (opens, accepts, expected) in [
        (speaking(true), speaking(false), Some(AGREED)),
        (speaking(true), plain.clone(), None),
        (plain, speaking(true), None),
    ] {
        let compressed = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&compressed);
        let watcher = move |from, packet: Vec<u8>, out: &mut Out| {
            count.fetch_add(u64::from(protocol(&packet) == COMPRESSED_TCP), Ordering::Relaxed);
            out.push((from, packet));
        };
        let (a, _tap, b) = tapped([opens.clone(), accepts], watcher);
        let (agreed, up) = exchange([&a, &b], opens, address(2), [300_000, 200_000]).await;
        assert_eq!((agreed, compressed.load(Ordering::Relaxed)), ([expected; 2], 0));
        let controller = if expected.is_some() { "vegas" } else { "cubic" };
        assert_eq!(up.stats().controller, controller);
    }
}

/// A host that accepts plain TCP alone takes answers to what it opened itself.
#[tokio::test]
async fn who_opens_with_compressed_headers_takes_them_whatever_it_accepts() {
    let (a, _tap, b) = tapped([Config::standard(), speaking(true)], |from, packet, out: &mut Out| {
        out.push((from, packet));
    });
    let (agreed, _) = exchange([&a, &b], speaking(true), address(2), [100_000, 100_000]).await;
    assert_eq!(agreed, [Some(Agreement { compression: true, ..AGREED }); 2]);
    assert_eq!(a.counters().unknown_protocols, 0);
}

/// What the declared rate alone decides, over a link whose losses are damage.
async fn over(config: LinkConfig, compression: bool) -> (skyhaul_core::Stats, skyhaul_net::LinkReport) {
    let scps = Scps {
        controller: ControllerKind::Off,
        pacing_percent: None,
        loss_cause: Verdict::Corruption,
        compression,
        ..Scps::standard()
    };
    let sending = Config { rate_bps: Some(16_000_000), scps: Some(scps), ..Config::standard() };
    let ((a, near), (far, b)) = (wire(), wire());
    let link = PacketLink::start(config, 7, [near, far]).unwrap();
    let (a, b) = (host(1, a, speaking(compression)), host(2, b, speaking(compression)));
    let (agreed, up) = exchange([&a, &b], sending, address(2), [2_000_000, 100_000]).await;
    assert_eq!(agreed, [Some(Agreement { compression, ..AGREED }); 2]);
    (up.stats(), link.stop())
}

fn satellite(direction: DirectionConfig) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(20_000_000),
        delay_ns: 25 * MS,
        queue: QueueLimit::Packets(200),
        ..direction
    };
    LinkConfig {
        name: "test".into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    }
}

#[tokio::test]
async fn losses_and_reordering_cost_repeats_and_no_rate() {
    let burst_loss = BurstLoss { good_to_bad: 0.01, bad_to_good: 0.3, loss_good: 0.01, loss_bad: 0.5 };
    let reordering = Reordering { probability: 0.02, extra_delay_ns: 10 * MS };
    for compression in [false, true] {
        let link = satellite(DirectionConfig { burst_loss, reordering, ..DirectionConfig::default() });
        let (stats, report) = over(link, compression).await;
        let lost = report.forward.counters.dropped.random_loss;
        assert!(lost > 10 && report.forward.counters.reordered_packets > 0, "{report:?}");
        // A hole that is late, and not lost, goes again, too.
        assert!(10 * stats.retransmitted_packets >= 9 * lost, "{lost}: {stats:?}");
        assert_eq!(stats.controller, "none");
    }
}

#[tokio::test]
async fn a_transfer_survives_an_outage() {
    let outages = vec![Outage { from: Instant::from_ns(400 * MS), to: Instant::from_ns(2 * SECOND) }];
    let link = LinkConfig { outages, ..satellite(DirectionConfig::default()) };
    let (_, report) = over(link, true).await;
    assert!(report.forward.counters.dropped.outage > 0, "{report:?}");
}

/// Largest packet of the narrow part of the path.
const NARROW_BYTES: usize = 1000;

#[tokio::test]
async fn a_router_s_word_about_a_large_compressed_packet_is_heard() {
    let dropped = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&dropped);
    let watcher = move |from, packet: Vec<u8>, out: &mut Out| {
        if packet.len() <= NARROW_BYTES {
            return out.push((from, packet));
        }
        count.fetch_add(u64::from(protocol(&packet) == COMPRESSED_TCP), Ordering::Relaxed);
        let (source, destination) = (packet[12..16].try_into().unwrap(), packet[16..20].try_into().unwrap());
        let header = icmpv4::DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: NARROW_BYTES as u16 };
        let mut message = Vec::new();
        PacketBuilder::ipv4(destination, source, 60)
            .icmpv4(Icmpv4Type::DestinationUnreachable(header))
            .write(&mut message, &packet[..48])
            .unwrap();
        let back = if from == From::Ours { From::Kernel } else { From::Ours };
        out.push((back, message));
    };
    let (a, _tap, b) = tapped([speaking(true), speaking(true)], watcher);
    let (_, up) = exchange([&a, &b], speaking(true), address(2), [500_000, 100_000]).await;
    let dropped = dropped.load(Ordering::Relaxed);
    assert!((1..100).contains(&dropped), "{dropped} packets were too large");
    let (stats, host) = (up.stats(), a.stats());
    assert!(host.icmp_taken > 0 && stats.black_holes == 0, "{host:?} {stats:?}");
}

/// A spacecraft's packets [SCPS-TP 6.3]: with SCPS-TP in either form of headers, and in plain TCP where the
/// peer speaks that alone.
#[tokio::test]
async fn packets_of_ninety_octets_carry_a_transfer() {
    const SMALL_BYTES: u32 = 90;
    for (compression, accept) in [
        (false, speaking(false)),
        (true, speaking(true)),
        (false, Config { mss_bytes: 50, ..Config::standard() }),
    ] {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        let watcher = move |from, packet: Vec<u8>, out: &mut Out| {
            seen.lock().unwrap().push((from, packet.len()));
            out.push((from, packet));
        };
        let ((a, near), (far, b)) = (wire(), wire());
        let _tap = Tap::start([far, near], watcher);
        let small = |number, end, accept| {
            let options = TunOptions { mtu_bytes: SMALL_BYTES, accept, ..options(number) };
            TunHost::over(end, options).unwrap()
        };
        let is_plain = accept.scps.is_none();
        let (a, b) = (small(1, a, speaking(compression)), small(2, b, accept));
        let (agreed, _) = exchange([&a, &b], speaking(compression), address(2), [50_000, 20_000]).await;
        let expected = (!is_plain).then_some(Agreement { compression, ..AGREED });
        assert_eq!(agreed, [expected; 2]);
        let longest =
            |of| sizes.lock().unwrap().iter().filter(|(from, _)| *from == of).map(|&(_, bytes)| bytes).max();
        assert_eq!(longest(From::Ours), Some(SMALL_BYTES as usize), "{expected:?}");
    }
}

/// A link loses each 40th packet with data of host 1; its far end says so to host 2, if it `tells`. Packets
/// that the sender took for lost, by congestion and by corruption.
async fn lossy(tells: bool) -> [u64; 2] {
    let mut count = 0;
    let watcher = move |from, packet: Vec<u8>, out: &mut Out| {
        count += u32::from(from == From::Ours && packet.len() > 1000);
        if from != From::Ours || packet.len() <= 1000 || count % 40 != 0 {
            return out.push((from, packet));
        }
        if tells {
            let destination = packet[16..20].try_into().unwrap();
            let quoted = [&[19, 0, 0, 0, 0, 0, 0, 0][..], &packet[..48]].concat();
            let mut message = Vec::new();
            PacketBuilder::ipv4([10, 7, 0, 99], destination, 60)
                .write(&mut message, etherparse::IpNumber::ICMP, &with_checksum(quoted))
                .unwrap();
            out.push((From::Ours, message)); // it goes where the packet was to go
        }
    };
    let (a, _tap, b) = tapped([speaking(false), speaking(false)], watcher);
    let (_, up) = exchange([&a, &b], speaking(false), address(2), [1_000_000, 1000]).await;
    assert_eq!(b.stats().icmp_taken > 0, tells, "{:?}", b.stats());
    let [congestion, corruption, ..] = up.stats().lost_packets;
    [congestion, corruption]
}

fn with_checksum(mut message: Vec<u8>) -> Vec<u8> {
    let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&message));
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

#[tokio::test]
async fn a_router_s_word_of_damage_reaches_the_sender_by_option_23() {
    let [congestion, corruption] = lossy(false).await;
    assert!(congestion > 5 && corruption == 0, "{congestion}, {corruption}");
    let [congestion, corruption] = lossy(true).await;
    assert!(corruption > 5 && corruption > congestion, "{congestion}, {corruption}");
}

#[tokio::test]
async fn streams_that_have_no_word_for_gaps_refuse_them() {
    let scps = Scps { best_effort_ns: Some(SECOND), ..Scps::standard() };
    let leaving = Config { scps: Some(scps), ..Config::standard() };
    let ((a, _near), (b, _far)) = (wire(), wire());
    let refused = TunHost::over(a, TunOptions { accept: leaving.clone(), ..options(1) }).err().unwrap();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    let host = host(2, b, speaking(false));
    let refused = host.open(at(address(1)), leaving).err().unwrap();
    assert!(refused.to_string().contains("best_effort_ns"), "{refused}");
}
