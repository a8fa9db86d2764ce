//! The embedded link: right times, right counts.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, carried_packets};
use skyhaul_net::{Clock, DirectionReport, EmbeddedLink, Endpoint, EndpointOptions, LinkReport};
use skyhaul_stp::Config;
use tokio::io::AsyncWriteExt;

use crate::support::{PORT, loopback, pattern, receive, send, server, server_at, within};

const RATE_BPS: u64 = 10_000_000;
const DELAY_NS: u64 = 20 * MS;

/// 10 Mbit/s there, 1 Mbit/s back, 20 ms each way.
fn config() -> LinkConfig {
    let direction = |rate_bps| DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: DELAY_NS,
        ..DirectionConfig::default()
    };
    LinkConfig {
        name: "test".into(),
        forward: direction(RATE_BPS),
        reverse: direction(RATE_BPS / 10),
        ..LinkConfig::default()
    }
}

fn conserves(direction: &DirectionReport) {
    let counters = direction.counters;
    let accounted = counters.delivered_packets + counters.dropped.total() + direction.packets_inside as u64;
    assert_eq!(counters.entered_packets, accounted);
    assert_eq!(counters.delivered_packets, direction.lateness.packets + direction.send_failures);
    let late = direction.lateness;
    assert!(late.p50_ns <= late.p99_ns && late.p99_ns <= late.max_ns, "{late:?}");
    assert!(late.late_packets <= late.packets);
}

/// Sends `data` over `link` at its rate; gives the seconds and the final report.
async fn transfer(config: LinkConfig, data: &[u8]) -> (f64, LinkReport) {
    let (server, mut listener) = server(EndpointOptions::default());
    let link = EmbeddedLink::start(config, 1, server.local_addr()).unwrap();
    let client = Endpoint::client(link.front_addr(), EndpointOptions::default()).unwrap();
    let rate = Config { rate_bps: Some(RATE_BPS), ..Config::standard() };
    let start = link.now();
    let mut near = client.open(link.front_addr(), PORT, rate).unwrap();
    let serving = async {
        let mut far = listener.accept().await.unwrap();
        assert_eq!(far.peer_addr(), link.back_addr());
        let received = (receive(&mut far).await, link.now());
        far.shutdown().await.unwrap(); // to drop it now would reset what is not confirmed yet
        received
    };
    let ((), (received, end)) = tokio::join!(send(&mut near, data), serving);
    assert!(received == data);
    assert!(near.stats().rtt_min_ns.unwrap() >= 2 * DELAY_NS, "{:?}", near.stats());
    let report = link.report();
    assert!(report.at <= link.now());
    ((end.since(start)) as f64 / SECOND as f64, link.stop())
}

#[tokio::test]
async fn a_megabyte_takes_its_time() {
    within(60, async {
        let data = pattern(1, 1_000_000);
        let (seconds, report) = transfer(config(), &data).await;
        let physics = data.len() as f64 * 8.0 / RATE_BPS as f64 + DELAY_NS as f64 / SECOND as f64;
        assert!(seconds > physics, "{seconds} s for what takes {physics} s");
        assert!(seconds < 10.0 * physics, "{seconds} s for what takes {physics} s");
        conserves(&report.forward);
        conserves(&report.reverse);
        assert_eq!(report.forward.counters.dropped.total(), 0);
        assert!(report.forward.counters.delivered_bytes > data.len() as u64);
        assert_eq!(report.remark().is_some(), too_late(&report), "{:?}", report.remark());
        let first = report.forward.first_packet.unwrap();
        let limit = carried_packets(&config(), 1, 0, first, report.at, 1500).unwrap();
        assert!(limit * 1500 >= report.forward.counters.delivered_bytes - 1500);
    })
    .await;
}

fn too_late(report: &LinkReport) -> bool {
    [report.forward, report.reverse].iter().any(|d| d.lateness.late_share() > 0.001)
}

#[tokio::test]
async fn an_outage_takes_what_is_under_way() {
    within(60, async {
        let outage = Outage { from: Instant::from_ns(200 * MS), to: Instant::from_ns(500 * MS) };
        let config = LinkConfig { outages: vec![outage], ..config() };
        let data = pattern(2, 500_000);
        let (_, report) = transfer(config, &data).await;
        conserves(&report.forward);
        conserves(&report.reverse);
        assert!(report.forward.counters.dropped.outage > 50, "{:?}", report.forward.counters);
        assert!(report.is_up);
    })
    .await;
}

/// A link and the sockets at its ends.
fn bare(config: LinkConfig, far: SocketAddr) -> (EmbeddedLink, UdpSocket, UdpSocket) {
    let far = UdpSocket::bind(far).unwrap();
    let near = UdpSocket::bind(far.local_addr().map(|a| SocketAddr::new(a.ip(), 0)).unwrap()).unwrap();
    let link = EmbeddedLink::start(config, 1, far.local_addr().unwrap()).unwrap();
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    }
    (link, near, far)
}

/// Waits until something holds.
fn until(holds: impl Fn() -> bool) {
    let clock = Clock::start();
    while !holds() {
        assert!(clock.now().as_ns() < 5 * SECOND, "it takes too long");
    }
}

#[test]
fn a_packet_is_not_early_and_finds_its_way_back() {
    let (link, near, far) = bare(config(), loopback());
    let clock = Clock::start();
    let mut room = [0; 100];
    assert_eq!(link.report().forward.first_packet, None);
    let before = link.now();
    near.send_to(b"there", link.front_addr()).unwrap();
    assert_eq!(far.recv_from(&mut room).unwrap(), (5, link.back_addr()));
    assert!(clock.now().as_ns() >= DELAY_NS);
    assert!(link.report().forward.first_packet.unwrap() >= before);
    far.send_to(b"and back", link.back_addr()).unwrap();
    assert_eq!(near.recv_from(&mut room).unwrap(), (8, link.front_addr()));
    assert!(clock.now().as_ns() >= 2 * DELAY_NS);
    let report = link.stop();
    assert_eq!(report.forward.counters.entered_bytes, 5 + 28);
    assert_eq!(report.reverse.counters.entered_bytes, 8 + 28);
}

#[test]
fn strangers_do_not_get_into_the_link() {
    let (link, near, far) = bare(config(), loopback());
    far.send_to(b"nobody wrote yet", link.back_addr()).unwrap();
    until(|| link.report().reverse.strays == 1);
    let stranger = UdpSocket::bind(loopback()).unwrap();
    near.send_to(b"hello", link.front_addr()).unwrap();
    far.recv(&mut [0; 10]).unwrap();
    stranger.send_to(b"me too", link.back_addr()).unwrap();
    far.send_to(b"hello", link.back_addr()).unwrap();
    near.recv(&mut [0; 10]).unwrap();
    let report = link.stop();
    assert_eq!((report.forward.strays, report.reverse.strays), (0, 2));
    assert_eq!(report.reverse.counters.entered_packets, 1);
}

#[test]
fn packets_over_ipv6_are_larger() {
    let (link, near, far) = bare(config(), "[::1]:0".parse().unwrap());
    near.send_to(b"hello", link.front_addr()).unwrap();
    far.recv(&mut [0; 10]).unwrap();
    assert_eq!(link.stop().forward.counters.delivered_bytes, 5 + 48);
}

#[tokio::test]
async fn a_transfer_over_ipv6() {
    within(60, async {
        let (server, mut listener) = server_at("[::1]:0".parse().unwrap(), EndpointOptions::default());
        let link = EmbeddedLink::start(config(), 1, server.local_addr()).unwrap();
        let client = Endpoint::client(link.front_addr(), EndpointOptions::default()).unwrap();
        let mut near = client.open(link.front_addr(), PORT, Config::standard()).unwrap();
        let data = pattern(3, 50_000);
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        assert!(received == data);
    })
    .await;
}

#[test]
fn a_link_that_is_down_says_so_and_delivers_nothing() {
    let outage = Outage { from: Instant::ZERO, to: Instant::from_ns(3600 * SECOND) };
    let (link, near, far) = bare(LinkConfig { outages: vec![outage], ..config() }, loopback());
    far.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    near.send_to(b"hello?", link.front_addr()).unwrap();
    far.recv(&mut [0; 10]).unwrap_err();
    assert!(!link.is_up());
    let report = link.stop();
    assert!(!report.is_up);
    assert_eq!(report.forward.counters.dropped.outage, 1);
    assert_eq!(report.forward.lateness.packets, 0);
}

#[test]
fn the_queue_can_be_watched_and_a_dropped_link_stops() {
    let slow = DirectionConfig { rate_bps: Some(8000), ..DirectionConfig::default() };
    let (link, near, _far) = bare(LinkConfig { forward: slow, ..config() }, loopback());
    for _ in 0..10 {
        near.send_to(&[0; 972], link.front_addr()).unwrap();
    }
    until(|| link.report().forward.counters.queue_bytes >= 9000);
    let front = link.front_addr();
    assert!(UdpSocket::bind(front).is_err());
    drop(link);
    UdpSocket::bind(front).expect("the port is free");
}

#[test]
fn an_impossible_link_is_an_error() {
    let lossy = DirectionConfig { loss: 2.0, ..DirectionConfig::default() };
    let error = EmbeddedLink::start(LinkConfig { forward: lossy, ..config() }, 1, loopback()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
}
