//! What a datagram of a stranger costs: `cargo bench -p skyhaul-stp --bench stranger`. An endpoint with
//! established connections (1 and 1000) hears 200,000 datagrams of each kind that belong to none of them,
//! 40,000 a second of the engine's time, with their answers made and thrown away. A line says how many
//! microseconds one took: the median of five rounds, and the longest round.
#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

use std::net::SocketAddr;
use std::time::Instant as Clock;

use skyhaul_core::{Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_stp::segment::{Opening, Poll, Report, Segment, Stat, encode};
use skyhaul_stp::{Config, Endpoint, EndpointConfig, EndpointStats};

const DATAGRAMS: u32 = 200_000;
const ROUNDS: usize = 5;
const PORT: u16 = 1;

fn main() {
    println!("connections  datagram                         us each (longest round)");
    for connections in [1, 1000] {
        let scene = Scene::new(connections);
        for (name, refused, junk) in KINDS {
            let mut each_us: Vec<f64> = (0..ROUNDS).map(|_| scene.cost(*junk, *refused)).collect();
            each_us.sort_by(f64::total_cmp);
            println!("{connections:11}  {name:32} {:5.2} ({:.2})", each_us[ROUNDS / 2], each_us[ROUNDS - 1]);
        }
    }
}

/// The `i`th datagram of a kind, and where it comes from; `port` is that of the first connection's peer.
type Junk = fn(i: u32, port: u16) -> (SocketAddr, Vec<u8>);
/// Counter that such datagrams are to be found in.
type Refused = fn(EndpointStats) -> u64;

const KINDS: &[(&str, Refused, Junk)] = &[
    ("too short", |stats| stats.undecodable, |i, _| (stranger(i), vec![0xC0; i as usize % 12])),
    (
        "1400 octets, sum wrong",
        |stats| stats.undecodable,
        |i, _| (stranger(i), damaged(i, data(2, 5, &[1; 1400]))),
    ),
    (
        "20 octets, sum wrong",
        |stats| stats.undecodable,
        |i, _| (stranger(i), damaged(i, data(2, 5, &[1; 20]))),
    ),
    ("data of no connection", |stats| stats.unknown, |i, _| (stranger(i), data(2, 5, &[1; 1400]))),
    ("STAT of no connection", |stats| stats.unknown, |i, _| (stranger(i), stat(2, 5))),
    ("POLL of no connection", |stats| stats.unknown, |i, _| (stranger(i), poll(2, 5))),
    ("BGN, no such port", |stats| stats.unknown, |i, _| (stranger(i), begin(i, 2, 7))),
    (
        "BGN, forged",
        |stats| stats.full + stats.cookies_sent + stats.unanswered,
        |i, _| (stranger(i), begin(i, 2, PORT)),
    ),
    (
        "data, another instance",
        |stats| stats.wrong_instance,
        |i, port| (friend(0), data(port, i as u16, &[1; 1400])),
    ),
    ("STAT, another instance", |stats| stats.wrong_instance, |i, port| (friend(0), stat(port, i as u16))),
    ("BGN, another instance", |stats| stats.wrong_instance, |i, port| (friend(0), begin(i, port, PORT))),
];

fn friend(n: u32) -> SocketAddr {
    SocketAddr::from(((0x0A00_0000 + n).to_be_bytes(), 9))
}

fn stranger(i: u32) -> SocketAddr {
    SocketAddr::from(((0x0B00_0000 + i).to_be_bytes(), 9))
}

fn blank(source_port: u16, instance: u16) -> Segment<'static> {
    Segment { source_port, destination_port: PORT, instance, ..Segment::default() }
}

fn segment(segment: &Segment<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(segment, &mut bytes);
    bytes
}

fn data(port: u16, instance: u16, payload: &[u8]) -> Vec<u8> {
    segment(&Segment { data: Some((payload, &[])), ..blank(port, instance) })
}

fn stat(port: u16, instance: u16) -> Vec<u8> {
    let stat = Stat { echo: 1, report: Report::default(), ..Stat::default() };
    segment(&Segment { stat: Some(stat), ..blank(port, instance) })
}

fn poll(port: u16, instance: u16) -> Vec<u8> {
    segment(&Segment { poll: Some(Poll::default()), ..blank(port, instance) })
}

fn begin(i: u32, port: u16, destination_port: u16) -> Vec<u8> {
    let nonce = 1_000_000 + u64::from(i);
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce, ..Opening::default() };
    segment(&Segment { bgn: Some(opening), destination_port, ..blank(port, i as u16) })
}

fn damaged(i: u32, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = 12 + i as usize % (bytes.len() - 12);
    bytes[at] ^= 1;
    bytes
}

/// An endpoint that accepted connections of as many peers, all of which are proven.
struct Scene {
    server: Endpoint,
    now: Instant,
    /// Port of the first connection at its peer.
    port: u16,
}

impl Scene {
    fn new(connections: u32) -> Self {
        let config = EndpointConfig { max_connections: 2048, ..EndpointConfig::default() };
        let mut server = Endpoint::new(config.clone(), Stream::new(1, "server"));
        server.listen(PORT);
        let here = SocketAddr::from(([10, 9, 9, 9], 9));
        let (mut now, mut port) = (Instant::from_ns(1), 0);
        for n in 0..connections {
            let mut client = Endpoint::new(config.clone(), Stream::new(u64::from(n), "client"));
            let id = client.connect(now, here, PORT, Config::standard(), true).expect("there is room");
            client.write(id, b"here I am").expect("it is open");
            for _ in 0..20 {
                exchange(&mut client, &mut server, now, (friend(n), here));
                now = now.after(MS);
                client.handle_timeout(now, &mut NullSink);
                server.handle_timeout(now, &mut NullSink);
            }
            if n == 0 {
                port = client.local_port(id).expect("it has one");
            }
            while server.poll_event().is_some() {}
        }
        assert_eq!(std::iter::from_fn(|| server.accept()).count(), connections as usize);
        Self { server, now, port }
    }

    /// Microseconds that a datagram of this kind takes, its answer included.
    fn cost(&self, junk: Junk, refused: Refused) -> f64 {
        let heard: Vec<(SocketAddr, Vec<u8>)> = (0..DATAGRAMS).map(|i| junk(i, self.port)).collect();
        let (mut server, mut now) = (self.server.clone(), self.now);
        let mut buffer = Vec::with_capacity(1 << 16);
        let begun = Clock::now();
        for (from, bytes) in &heard {
            now = now.after(SECOND / 40_000);
            server.handle_timeout(now, &mut NullSink);
            server.handle(now, *from, NetworkFields::default(), bytes, &mut NullSink);
            while server.poll_transmit(now, &mut buffer, 8, &mut NullSink).is_some() {}
        }
        let each_us = begun.elapsed().as_secs_f64() * 1e6 / f64::from(DATAGRAMS);
        // Some openings find a place and keep it, and a few guesses are right.
        let refused = refused(server.endpoint_stats());
        assert!(refused + 2048 >= u64::from(DATAGRAMS), "{refused}: not what the line says");
        each_us
    }
}

/// What both say until neither says more; the addresses are those of the client and of the server.
fn exchange(
    client: &mut Endpoint,
    server: &mut Endpoint,
    now: Instant,
    (there, here): (SocketAddr, SocketAddr),
) {
    let mut buffer = Vec::new();
    for _ in 0..4 {
        while let Some(sent) = client.poll_transmit(now, &mut buffer, 8, &mut NullSink) {
            for bytes in buffer.chunks(sent.segment_bytes) {
                server.handle(now, there, NetworkFields::default(), bytes, &mut NullSink);
            }
        }
        while let Some(sent) = server.poll_transmit(now, &mut buffer, 8, &mut NullSink) {
            for bytes in buffer.chunks(sent.segment_bytes) {
                client.handle(now, here, NetworkFields::default(), bytes, &mut NullSink);
            }
        }
    }
}
