//! Bad input over a wire: it is dropped and counted, memory stays bounded, and the host serves others as
//! before.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use etherparse::{IpNumber, PacketBuilder, PacketBuilderStep, TcpHeader};
use rustix::io::Errno;
use skyhaul_net::tun::{TcpListener, TcpStream, TunHost, TunOptions};
use skyhaul_tcp::{AcceleratedOpen, Config, State};

use crate::support::*;
use crate::tap::{Tap, tcp};

const VICTIM: [u8; 4] = [10, 7, 0, 2];
const FRIEND: [u8; 4] = [10, 7, 0, 1];
/// In the middle of nowhere, seen from any number that a connection of these tests comes to.
const FAR_AWAY: u32 = 1 << 30;

/// A host with a friend, and somebody on the wire between them who sees everything and says what he likes.
struct Scene {
    friend: TunHost,
    victim: TunHost,
    listener: TcpListener,
    attacker: OwnedFd,
    /// The friend's last segment.
    heard: Arc<Mutex<Option<TcpHeader>>>,
    _tap: Tap,
}

impl Scene {
    fn new() -> Self {
        Self::with(Config::standard())
    }

    /// The victim accepts by these parameters.
    fn with(accept: Config) -> Self {
        let ((a, near), (far, b)) = (wire(), wire());
        let attacker = far.try_clone().unwrap();
        let heard = Arc::new(Mutex::new(None));
        let last = Arc::clone(&heard);
        let tap = Tap::start([near, far], move |from, packet, out: &mut Vec<_>| {
            if from == crate::tap::From::Kernel {
                *last.lock().unwrap() = tcp(&packet);
            }
            out.push((from, packet));
        });
        let (friend, victim) = (
            TunHost::over(a, options(1)).unwrap(),
            TunHost::over(b, TunOptions { accept, ..options(2) }).unwrap(),
        );
        let listener = victim.listen(PORT, 256).unwrap();
        Self { friend, victim, listener, attacker, heard, _tap: tap }
    }

    /// The friend's end and the victim's.
    async fn connected(&mut self) -> (TcpStream, TcpStream) {
        let connect = self.friend.connect(at(address(2)), Config::standard());
        let (up, down) = soon(async { tokio::join!(connect, self.listener.accept()) }).await;
        (up.unwrap(), down.unwrap())
    }

    async fn say(&self, packet: &[u8]) {
        while let Err(error) = rustix::io::write(&self.attacker, packet) {
            assert_eq!(error, Errno::AGAIN, "the wire is cut");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Last header of the friend, so that a forger knows as much as anybody.
    fn overheard(&self) -> TcpHeader {
        self.heard.lock().unwrap().clone().unwrap()
    }

    /// All is as before: over the connection that there is, and over a new one.
    async fn works(&mut self, pair: Option<(TcpStream, TcpStream)>) {
        let fresh = self.connected().await;
        for (mut up, mut down) in pair.into_iter().chain([fresh]) {
            let (there, back) = (noise(200_000), noise(100_001));
            let ((), got) =
                soon(async { tokio::join!(send_all(&mut up, &there), read_all(&mut down)) }).await;
            let ((), answer) =
                soon(async { tokio::join!(send_all(&mut down, &back), read_all(&mut up)) }).await;
            assert!(got == there && answer == back);
        }
    }
}

/// Waits until it is so.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// A segment to the victim.
fn segment(source: [u8; 4], header: &TcpHeader, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ipv4(source, VICTIM, 64).tcp_header(header.clone());
    written(builder, payload)
}

fn written(builder: PacketBuilderStep<TcpHeader>, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

fn opening(source_port: u16) -> TcpHeader {
    let mut header = TcpHeader::new(source_port, PORT, 1, 1000);
    header.syn = true;
    header
}

#[tokio::test]
async fn a_syn_flood_is_bounded_and_counted_and_over_soon() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    for n in 0..3000u16 {
        let source = [10, 7, 1 + (n >> 8) as u8, n as u8];
        scene.say(&segment(source, &opening(2000 + n), b"")).await;
    }
    let limit = skyhaul_tcp::EndpointConfig::default().max_unproven;
    // Those with room, and a cookie for each of the others.
    until("3000 openings", || scene.victim.stats().cookies_sent + limit as u64 >= 3000).await;
    assert!(scene.victim.connection_count() <= limit + 1, "{}", scene.victim.connection_count());
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn a_flood_of_openings_with_data_is_bounded_and_hands_nobody_out() {
    let fast = Config { accelerated_open: Some(AcceleratedOpen::FastOpen), ..Config::standard() };
    let mut scene = Scene::with(fast);
    let pair = scene.connected().await;
    for n in 0..3000u16 {
        let (source, mut header) = ([10, 7, 1 + (n >> 8) as u8, n as u8], opening(2000 + n));
        // Of 8 octets, or of as many as no cookie has.
        let bytes = if n % 4 == 3 { 5 + usize::from(n % 3) * 10 } else { 8 };
        let mut option = vec![n as u8; bytes + 2];
        (option[0], option[1]) = (34, bytes as u8 + 2);
        option.resize(option.len().next_multiple_of(4), 1);
        header.set_options_raw(&option).unwrap();
        scene.say(&segment(source, &header, &noise(100))).await;
    }
    let limit = skyhaul_tcp::EndpointConfig::default().max_unproven;
    until("3000 openings", || scene.victim.stats().cookies_sent + limit as u64 >= 3000).await;
    let stats = scene.victim.stats();
    assert!(stats.early_refused > 64 && stats.early_taken == 0, "{stats:?}");
    assert!(scene.victim.connection_count() <= limit + 1, "{}", scene.victim.connection_count());
    let handed_out = tokio::time::timeout(Duration::from_millis(20), scene.listener.accept()).await;
    assert!(handed_out.is_err(), "none has shown that it is at its address");
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn forged_resets_end_nothing() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    let known = scene.overheard();
    for n in 1..=200u32 {
        let mut reset = known.clone();
        (reset.rst, reset.ack) = (true, false);
        for off in [n, FAR_AWAY + n] {
            reset.sequence_number = known.sequence_number.wrapping_add(off);
            scene.say(&segment(FRIEND, &reset, b"")).await;
        }
    }
    until("400 resets", || scene.victim.stats().resets_ignored == 400).await;
    let stats = pair.1.stats();
    assert_eq!((pair.1.state(), stats.refused), (State::Established, 400), "{stats:?}");
    assert!((1..400).contains(&stats.challenges), "{stats:?}");
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn forged_icmp_ends_nothing() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    let known = scene.overheard();
    let report = |kind: u8, code: u8, word: u32, quoted: &[u8]| {
        let mut message = [&[kind, code, 0, 0][..], &word.to_be_bytes(), quoted].concat();
        let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut packet = Vec::new();
        PacketBuilder::ipv4([10, 7, 0, 99], VICTIM, 64).write(&mut packet, IpNumber::ICMP, &message).unwrap();
        packet
    };
    let quoted = |source: [u8; 4], port: u16, number: u32| {
        let header = TcpHeader::new(port, known.source_port, number, 1000);
        written(PacketBuilder::ipv4(source, FRIEND, 64).tcp_header(header), b"")
    };
    let not_under_way = quoted(VICTIM, PORT, known.acknowledgment_number.wrapping_add(FAR_AWAY));
    let strange = quoted(VICTIM, PORT + 1, known.acknowledgment_number);
    let foreign = quoted([10, 7, 0, 50], PORT, known.acknowledgment_number);
    for _ in 0..50 {
        for about in [&not_under_way, &strange] {
            scene.say(&report(3, 3, 0, about)).await; // port unreachable
            scene.say(&report(3, 4, 68, about)).await; // too big
        }
        scene.say(&report(3, 3, 0, &foreign)).await;
        scene.say(&report(5, 1, 0x0A07_0063, &not_under_way)).await; // a redirect
        scene.say(&report(3, 3, 0, &not_under_way[..24])).await;
        let mut damaged = report(3, 3, 0, &not_under_way);
        damaged[22] ^= 1;
        scene.say(&damaged).await;
    }
    until("200 reports", || scene.victim.stats().icmp_ignored == 200).await;
    until("150 others", || scene.victim.counters().unheard == 150).await;
    until("50 damaged ones", || scene.victim.counters().malformed == 50).await;
    let (stats, counters) = (scene.victim.stats(), scene.victim.counters());
    assert_eq!((stats.icmp_taken, counters.reports), (0, 200));
    assert_eq!(pair.1.state(), State::Established);
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn malformed_packets_and_fragments_go_no_further() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    let whole = segment(FRIEND, &opening(9), b"payload");
    // The header's checksum is right again.
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = whole.clone();
        change(&mut packet);
        packet[10..12].fill(0);
        let sum = skyhaul_core::internet_checksum(skyhaul_core::internet_sum(&packet[..20]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    let mut damaged = whole.clone();
    damaged[8] ^= 1;
    let malformed = [
        changed(&|packet| packet[0] = 0x55),
        changed(&|packet| packet[0] = 0x44),
        changed(&|packet| packet[0] = 0x4F),
        changed(&|packet| packet[2] = 0xFF),
        changed(&|packet| packet[3] = 19),
        whole[..19].to_vec(),
        vec![0x60; 39],
        vec![0x45],
        damaged,
    ];
    let fragments = [changed(&|packet| packet[6] = 0x20), changed(&|packet| packet[7] = 1)];
    let stray = changed(&|packet| packet[19] = 77);
    let sources = [[127, 0, 0, 1], [224, 0, 0, 1], [255; 4], [0; 4], VICTIM]
        .map(|source| segment(Ipv4Addr::from(source).octets(), &opening(9), b""));
    for _ in 0..100 {
        for packet in malformed.iter().chain(&fragments).chain([&stray]).chain(&sources) {
            scene.say(packet).await;
        }
    }
    until("500 bad sources", || scene.victim.counters().bad_sources == 500).await;
    let counters = scene.victim.counters();
    assert_eq!((counters.malformed, counters.fragments, counters.strays), (900, 200, 100), "{counters:?}");
    assert_eq!(scene.victim.connection_count(), 1);
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn segments_with_broken_headers_are_no_segments() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    let with = |options: [u8; 4]| {
        let mut header = opening(9);
        header.set_options_raw(&options).unwrap();
        segment(FRIEND, &header, b"")
    };
    let flagged = |change: fn(&mut TcpHeader)| {
        let mut header = opening(9);
        change(&mut header);
        segment(FRIEND, &header, b"")
    };
    let mut damaged = segment(FRIEND, &opening(9), b"payload");
    damaged[45] ^= 1;
    let mut offset = segment(FRIEND, &opening(9), b"");
    offset[32] = 0x40;
    let bad = [
        with([2, 0, 0, 0]),  // no length
        with([2, 1, 0, 0]),  // shorter than its own head
        with([2, 3, 1, 0]),  // an MSS of one byte
        with([2, 40, 1, 0]), // beyond the header
        with([1, 1, 1, 8]),  // without a length
        with([5, 4, 1, 1]),  // SACK with half a number
        flagged(|header| header.fin = true),
        flagged(|header| header.rst = true),
        flagged(|header| header.syn = false),
        damaged,
        offset,
    ];
    for _ in 0..100 {
        for packet in &bad {
            scene.say(packet).await;
        }
    }
    until("1100 segments", || scene.victim.stats().undecodable == 1100).await;
    assert_eq!(scene.victim.connection_count(), 1);
    scene.works(Some(pair)).await;
}

#[tokio::test]
async fn what_was_never_sent_or_fits_nowhere_is_refused() {
    let mut scene = Scene::new();
    let pair = scene.connected().await;
    let known = scene.overheard();
    for n in 0..200u32 {
        let mut unsent = known.clone();
        unsent.acknowledgment_number = known.acknowledgment_number.wrapping_add(FAR_AWAY + n);
        scene.say(&segment(FRIEND, &unsent, b"forged")).await;
        let mut beyond = known.clone();
        beyond.sequence_number = known.sequence_number.wrapping_add(FAR_AWAY + n);
        scene.say(&segment(FRIEND, &beyond, &[7; 1000])).await;
    }
    until("400 refusals", || pair.1.stats().refused == 400).await;
    let stats = pair.1.stats();
    assert_eq!((stats.delivered_bytes, scene.victim.connection_count()), (0, 1), "{stats:?}");
    assert!((1..=200).contains(&stats.challenges), "{stats:?}");
    scene.works(Some(pair)).await;
}
