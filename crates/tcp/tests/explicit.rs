//! Explicit rate control over TCP: what segments carry, and what becomes of what routers write on them.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use common::{PORT, plain, way};
use skyhaul_core::{
    ConnectionId, Connections, Engine, HeaderFormat, HeaderTime, Instant, MS, NetworkFields, NullSink,
    PathHeader, Stats, Stream,
};
use skyhaul_tcp::{
    AckPolicy, Asks, Config, ControllerKind, Endpoint, EndpointConfig, ExplicitConfig, Recovery,
};

const MSS: u64 = 1000;
const ONE_WAY_NS: u64 = 40 * MS;

/// Two ends, one of which sends; each packet takes as long.
struct Ends {
    ends: [Endpoint; 2],
    now: Instant,
    id: ConnectionId,
}

impl Ends {
    fn new(config: &Config) -> Self {
        let accept = Config { controller: ControllerKind::Reno, ..config.clone() };
        let end = |name| {
            Endpoint::new(
                EndpointConfig { accept: accept.clone(), ..EndpointConfig::default() },
                Stream::new(1, name),
            )
        };
        let mut ends = [end("a"), end("b")];
        ends[1].listen(PORT);
        let now = Instant::from_ns(1);
        let id = ends[0].connect(now, way(), PORT, None, config.clone()).expect("the port is free");
        let mut ends = Self { ends, now, id };
        for side in [0, 1, 0] {
            ends.pass(side, |_| {});
        }
        ends
    }

    /// What an end sends now crosses the path, where `route` may write on headers. Headers as they left.
    fn pass(&mut self, side: usize, route: impl FnMut(&mut PathHeader)) -> Vec<Option<PathHeader>> {
        self.pass_but(&[], side, route)
    }

    /// Likewise, but for the packets with these places in the order of leaving, which are lost.
    fn pass_but(
        &mut self,
        lost: &[usize],
        side: usize,
        mut route: impl FnMut(&mut PathHeader),
    ) -> Vec<Option<PathHeader>> {
        let (mut buffer, mut sent) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.ends[side].poll_transmit(self.now, &mut buffer, 1, &mut NullSink) {
            sent.push((transmit.fields, buffer.clone()));
        }
        self.now = self.now.after(ONE_WAY_NS);
        let way = if side == 0 { way().reversed() } else { way() };
        let arriving = sent.iter().enumerate().filter(|(place, _)| !lost.contains(place));
        for (_, (fields, bytes)) in arriving {
            let mut path_header = fields.path_header;
            path_header.iter_mut().for_each(&mut route);
            let fields = NetworkFields { path_header, ..*fields };
            self.ends[1 - side].handle(self.now, way, fields, bytes, &mut NullSink);
        }
        sent.iter().map(|(fields, _)| fields.path_header).collect()
    }

    fn cwnd_bytes(&self) -> u64 {
        self.stats().cwnd_bytes
    }

    fn stats(&self) -> Stats {
        self.ends[0].stats(self.id).expect("it is there")
    }

    /// A round trip over a router that takes and grants nothing; these packets with data are lost.
    fn round_trip_but(&mut self, lost: &[usize]) {
        let route = |header: &mut PathHeader| (header.delta_bytes_per_s, header.routers) = (0, 1);
        self.pass_but(lost, 0, route);
        self.pass(1, |_| {});
    }
}

fn config(asks: Asks) -> Config {
    Config {
        controller: ControllerKind::Xcp,
        initial_window_packets: Some(4),
        ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 200 * MS },
        explicit: ExplicitConfig { asks, header_bytes: 0 },
        mss_bytes: MSS as u16,
        timestamps: false,
        ..plain()
    }
}

/// The sender asks for what is there to be sent, each packet for an equal part, and follows the sum of what
/// the router left of it, which one acknowledgement of all four tells.
#[test]
fn a_window_follows_what_routers_grant() {
    let mut ends = Ends::new(&config(Asks::Window));
    assert!(ends.ends[0].write(ends.id, &vec![0; 20 * MSS as usize]).unwrap() > 0);
    let grant = |header: &mut PathHeader| {
        header.delta_bytes_per_s = 12_500;
        header.routers += 1;
    };
    let data = ends.pass(0, grant);
    // Four segments of a window of four, 80 ms: X is 20 ms. 16 000 octets more a round trip are 200 000 a
    // second.
    let asked = PathHeader {
        inter_packet: HeaderTime::from_ns(20 * MS),
        rtt: HeaderTime::from_ns(80 * MS),
        delta_bytes_per_s: 50_000,
        wire_bytes: 0,
        ..PathHeader::default()
    };
    assert_eq!(data, [Some(asked); 4]);
    let told = PathHeader {
        reverse_bytes_per_s: 50_000,
        reverse_routers: 1,
        format: HeaderFormat::Minimal,
        wire_bytes: 0,
        ..PathHeader::default()
    };
    assert_eq!(ends.pass(1, |_| {}), [Some(told)]);
    // 50 000 octets a second, 4000 a round trip.
    assert_eq!(ends.cwnd_bytes(), 8 * MSS);
}

/// Nobody can make a sender faster than it asked to be.
#[test]
fn a_receiver_that_tells_more_than_was_asked_for_is_not_believed() {
    let mut ends = Ends::new(&config(Asks::Window));
    assert!(ends.ends[0].write(ends.id, &vec![0; 6 * MSS as usize]).unwrap() > 0);
    ends.pass(0, |header| header.routers = 1);
    ends.pass(1, |header| header.reverse_bytes_per_s = i32::MAX);
    // Two segments more than the four were asked for.
    assert_eq!(ends.cwnd_bytes(), 6 * MSS);
}

#[test]
fn who_always_asks_asks_for_all_that_there_is() {
    let mut ends = Ends::new(&config(Asks::Always));
    assert!(ends.ends[0].write(ends.id, &[0; 10]).unwrap() > 0);
    assert_eq!(ends.pass(0, |_| {})[0].unwrap().delta_bytes_per_s, i32::MAX);
}

/// An end that asks for nothing tells of grants beside its own data: a header that counts takes its room.
#[test]
fn a_segment_that_tells_of_grants_is_no_longer_than_the_path_takes() {
    let explicit = ExplicitConfig { asks: Asks::Window, header_bytes: 20 };
    let mut ends = Ends::new(&Config { explicit, ..config(Asks::Window) });
    assert!(ends.ends[0].write(ends.id, &[0; 10]).unwrap() > 0);
    ends.pass(0, |header| header.routers = 1);
    let other = ends.ends[1].accept().unwrap();
    assert!(ends.ends[1].write(other, &vec![0; 3 * MSS as usize]).unwrap() > 0);
    let mut buffer = Vec::new();
    let first = ends.ends[1].poll_transmit(ends.now, &mut buffer, 1, &mut NullSink).unwrap();
    assert_eq!(first.fields.path_header.unwrap().format, HeaderFormat::Minimal);
    assert_eq!(first.fields.whole_bytes(buffer.len()), 20 + MSS as usize);
}

/// Where sizes are told with the header, an acknowledgement is as long on the wire as papers say, SACK blocks
/// or not, and a header or not; else its own octets and those of the header count.
#[test]
fn an_acknowledgement_has_one_size_where_sizes_are_told_with_the_header() {
    use ControllerKind::{Reno, Xcp};
    let cases = [(Xcp, 0, [20, 20]), (Xcp, 20, [40, 52]), (Reno, 0, [20, 20]), (Reno, 20, [20, 32])];
    for (controller, header_bytes, sizes) in cases {
        let explicit = ExplicitConfig { asks: Asks::Window, header_bytes };
        let mut ends = Ends::new(&Config { controller, explicit, ..config(Asks::Window) });
        assert!(ends.ends[0].write(ends.id, &vec![0; 4 * MSS as usize]).unwrap() > 0);
        let mut segments = Vec::new();
        let mut buffer = Vec::new();
        while let Some(transmit) = ends.ends[0].poll_transmit(ends.now, &mut buffer, 1, &mut NullSink) {
            segments.push((transmit.fields, buffer.clone()));
        }
        let mut answer_to = |(fields, bytes): &(NetworkFields, Vec<u8>)| {
            ends.ends[1].handle(ends.now, way().reversed(), *fields, bytes, &mut NullSink);
            let transmit = ends.ends[1].poll_transmit(ends.now, &mut buffer, 1, &mut NullSink);
            transmit.map(|transmit| (transmit.fields.whole_bytes(buffer.len()), buffer.len()))
        };
        // Two in sequence, and the fourth, behind a hole.
        let [first, second, fourth] = [0, 1, 3].map(|index| answer_to(&segments[index]));
        assert_eq!(first, None);
        assert_eq!(second, Some((sizes[0], 20)));
        assert_eq!(fourth, Some((sizes[1], 32)), "its SACK block is there");
    }
}

#[test]
fn without_a_controller_that_follows_routers_there_is_no_header() {
    let mut ends = Ends::new(&Config { controller: ControllerKind::Reno, ..config(Asks::Window) });
    assert!(ends.ends[0].write(ends.id, &vec![0; 4 * MSS as usize]).unwrap() > 0);
    assert_eq!(ends.pass(0, |_| {}), [None; 4]);
    assert_eq!(ends.pass(1, |_| {}), [None]);
}

/// Sixteen segments are under way, the first is lost, then its repeat and the third of what leaves with it,
/// then nothing. Windows, in segments, after each round trip of these, and timeouts.
fn windows_while_a_repeat_is_lost(controller: ControllerKind, rate_reduction: bool) -> ([u64; 3], u64) {
    let repairs = Config { recovery: Recovery::Rack, rate_reduction, ..config(Asks::Window) };
    let config =
        Config { controller, initial_window_packets: Some(16), receive_limit_bytes: 60_000, ..repairs };
    let mut ends = Ends::new(&config);
    assert!(ends.ends[0].write(ends.id, &vec![0; 16 * MSS as usize]).unwrap() > 0);
    ends.round_trip_but(&[]);
    assert_eq!(ends.cwnd_bytes(), 16 * MSS, "the router grants nothing");
    assert!(ends.ends[0].write(ends.id, &vec![0; 60 * MSS as usize]).unwrap() > 0);
    let windows = [&[0][..], &[0, 2], &[]].map(|lost| {
        ends.round_trip_but(lost);
        ends.cwnd_bytes() / MSS
    });
    (windows, ends.stats().timeouts)
}

/// [RFC 5681 4.3, RFC 8985 9.3]: the loss of a repeat, which RACK finds without the timer, is a further sign
/// of congestion to XCP, once a window of data. Where what leaves goes by what arrives, the event is one;
/// P-XCP keeps its window in all.
#[test]
fn rfc_8985_9_3_a_lost_repeat_is_a_further_sign_of_congestion_to_xcp() {
    use ControllerKind::{PXcp, PXcpLiteral, Xcp};
    assert_eq!(windows_while_a_repeat_is_lost(Xcp, false), ([8, 4, 4], 0));
    assert_eq!(windows_while_a_repeat_is_lost(Xcp, true), ([8, 8, 8], 0));
    for controller in [PXcp, PXcpLiteral] {
        assert_eq!(windows_while_a_repeat_is_lost(controller, false), ([16, 16, 16], 0));
    }
}
