//! What a STAT costs a receiver that was made hungry: `cargo bench -p skyhaul-stp --bench hungry_stat`. A
//! peer sends
//! 262,000 packets of one octet with gaps between them, then POLLs. A line says what a POLL costs with all
//! of its STATs, and what each of these does, where gaps have so many packets. The budget that holds STATs
//! back is waited for, by the engine's clock. `-- --polls N` sends N POLLs in each case (300 unless said):
//! with
//! `valgrind
//! --tool=callgrind`, the difference between two counts is what STATs cost, whatever else the machine does.
#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

use std::net::SocketAddr;
use std::time::Instant as Clock;

use skyhaul_core::{Connections, Engine, Instant, MS, NetworkFields, NullSink, Stream};
use skyhaul_stp::segment::{Opening, Poll, Segment, encode};
use skyhaul_stp::{Endpoint, EndpointConfig};

const PACKETS: u32 = 262_000;
/// Packets beyond the next expected one are not taken.
const MAX_AHEAD: u32 = 1 << 22;

fn main() {
    let polls = std::env::args().skip_while(|arg| arg != "--polls").nth(1);
    let polls = polls.map_or(300, |polls| polls.parse().expect("a number of POLLs"));
    println!("gap  STATs a POLL  us a POLL  us a STAT");
    for gap in [1, 2, 15, 100, 127] {
        let (stats, poll_us) = cost(gap, polls);
        println!("{gap:3}  {stats:12.1}  {poll_us:9.1}  {:9.1}", poll_us / stats);
    }
}

/// A receiver, and what its peer says.
struct Peer {
    endpoint: Endpoint,
    address: SocketAddr,
    now: Instant,
    blank: Segment<'static>,
}

impl Peer {
    fn new() -> Self {
        let mut endpoint = Endpoint::new(EndpointConfig::default(), Stream::new(1, "hungry"));
        endpoint.listen(1);
        let blank = Segment { source_port: 2, destination_port: 1, instance: 3, ..Segment::default() };
        Self { endpoint, address: ([10, 0, 0, 2], 9).into(), now: Instant::from_ns(1), blank }
    }

    fn say(&mut self, segment: &Segment<'_>) {
        let mut bytes = Vec::new();
        encode(segment, &mut bytes);
        self.endpoint.handle(self.now, self.address, NetworkFields::default(), &bytes, &mut NullSink);
    }

    /// Segments that leave now.
    fn listen(&mut self, buffer: &mut Vec<u8>) -> u32 {
        let mut segments = 0;
        while let Some(sent) = self.endpoint.poll_transmit(self.now, buffer, 1, &mut NullSink) {
            segments += u32::from(sent.segment_bytes > 0);
        }
        segments
    }
}

/// STATs for a POLL, and what they cost in microseconds.
fn cost(gap: u32, polls: u32) -> (f64, f64) {
    let mut peer = Peer::new();
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce: 4, ..Opening::default() };
    peer.say(&Segment { bgn: Some(opening), ..peer.blank.clone() });
    let packets = PACKETS.min((MAX_AHEAD - 1) / (gap + 1));
    for i in 0..packets {
        peer.say(&Segment { number: gap + i * (gap + 1), data: Some((b"x", b"")), ..peer.blank.clone() });
    }
    let mut buffer = Vec::with_capacity(1 << 16);
    peer.listen(&mut buffer);
    let (mut stats, mut spent_ns) = (0, 0);
    for timestamp in 0..polls {
        peer.now = peer.now.after(100 * MS);
        let poll = Poll { timestamp, next: packets * (gap + 1), ..Poll::default() };
        let begun = Clock::now();
        peer.say(&Segment { poll: Some(poll), ..peer.blank.clone() });
        stats += peer.listen(&mut buffer);
        spent_ns += begun.elapsed().as_nanos();
    }
    (f64::from(stats) / f64::from(polls), spent_ns as f64 / f64::from(polls) / 1e3)
}
