//! What exchanges and transfers cost over satellite links under a seal, beside plain ones. With `--nocapture`
//! each test prints what it measured.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::println;
use std::vec;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{
    ConnectionId, Connections as _, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream,
};
use skyhaul_stp::{Config, Endpoint, EndpointConfig};

use crate::nonces::forget;
use crate::pair::{Host, Making, PORT, StpEngine, address, endpoint_config};
use crate::world::{A, B};

/// Octets of IP and UDP around a datagram; and of a plain one's envelope.
const CARRIER_BYTES: usize = 28;
const ENVELOPE_BYTES: usize = 1;
const DELAY_NS: u64 = 275 * MS;
/// Rates there and back, in bit/s, of `scenarios/geo.toml` and `thin-return.toml`.
const GEO: [u64; 2] = [10_000_000, 10_000_000];
const THIN_RETURN: [u64; 2] = [10_000_000, 10_000];

/// Two ends, and a link with a rate each way and a delay.
struct Line<'a, E> {
    now: Instant,
    ends: [&'a mut E; 2],
    rates_bps: [u64; 2],
    /// Octets around what the ends emit.
    carrier_bytes: usize,
    free_at: [Instant; 2],
    under_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    sent: u64,
    /// Octets of IP packets that left each end.
    wire_bytes: [u64; 2],
    /// Connection at B.
    there: Option<ConnectionId>,
}

impl<'a, E: Engine<Peer = SocketAddr>> Line<'a, E> {
    fn new(now: Instant, ends: [&'a mut E; 2], rates_bps: [u64; 2], carrier_bytes: usize) -> Self {
        let (under_way, free_at) = (BTreeMap::new(), [now; 2]);
        Self {
            now,
            ends,
            rates_bps,
            carrier_bytes,
            free_at,
            under_way,
            sent: 0,
            wire_bytes: [0; 2],
            there: None,
        }
    }

    fn transmit(&mut self) {
        let mut buffer = Vec::new();
        for end in [A, B] {
            while let Some(transmit) = self.ends[end].poll_transmit(self.now, &mut buffer, 17, &mut NullSink)
            {
                for datagram in buffer.chunks(transmit.segment_bytes) {
                    self.launch(end, datagram.to_vec());
                }
            }
        }
    }

    fn launch(&mut self, from: usize, datagram: Vec<u8>) {
        let bytes = (datagram.len() + self.carrier_bytes) as u64;
        self.wire_bytes[from] += bytes;
        let leaves_at = self.free_at[from].max(self.now).after(bytes * 8 * SECOND / self.rates_bps[from]);
        self.free_at[from] = leaves_at;
        self.sent += 1;
        self.under_way.insert((leaves_at.after(DELAY_NS), self.sent), (1 - from, datagram));
    }

    /// Next moment at which anything happens.
    fn next(&self) -> Option<Instant> {
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let timers = self.ends.iter().filter_map(|end| end.deadline()).min();
        arrival.into_iter().chain(timers).min()
    }

    /// Goes on to that; false if nothing ever happens.
    fn step(&mut self) -> bool {
        self.transmit();
        let Some(next) = self.next() else { return false };
        self.now = self.now.max(next);
        while self.under_way.first_key_value().is_some_and(|(&(at, _), _)| at <= self.now) {
            let (_, (to, datagram)) = self.under_way.pop_first().expect("it was there");
            let fields = NetworkFields::default();
            self.ends[to].handle(self.now, address(1 - to), fields, &datagram, &mut NullSink);
        }
        for end in &mut self.ends {
            if end.deadline().is_some_and(|at| at <= self.now) {
                end.handle_timeout(self.now, &mut NullSink);
            }
        }
        true
    }

    /// Reads what is there; whether it makes `wanted` octets in all.
    fn reads(&mut self, end: usize, id: ConnectionId, read: &mut usize, wanted: usize) -> bool {
        let mut room = [0; 4096];
        while let Ok(Some(bytes @ 1..)) = self.ends[end].read(id, &mut room) {
            *read += bytes;
        }
        *read >= wanted
    }

    fn until(&mut self, mut is_done: impl FnMut(&mut Self) -> bool) {
        let patience = self.now.after(1000 * SECOND);
        while !is_done(self) {
            assert!(self.step() && self.now < patience, "nothing happens any more");
        }
    }

    /// Asks by 350 octets over `id` and waits for an answer of so many. Result: ns.
    fn exchange(&mut self, id: ConnectionId, answer_bytes: usize) -> u64 {
        let begun = self.now;
        self.ends[A].write(id, &[1; 350]).unwrap();
        self.until(|line| {
            line.there = line.ends[B].accept();
            line.there.is_some()
        });
        let there = self.there.expect("just accepted");
        let mut read = 0;
        self.until(|line| line.reads(B, there, &mut read, 350));
        assert_eq!(self.ends[B].write(there, &vec![2; answer_bytes]), Ok(answer_bytes));
        let mut read = 0;
        self.until(|line| line.reads(A, id, &mut read, answer_bytes));
        self.now.since(begun)
    }

    /// Ends the connection at both ends, and lets half a minute pass.
    fn part(&mut self, id: ConnectionId) {
        for (end, id) in [(A, Some(id)), (B, self.there)] {
            let id = id.expect("there was an exchange");
            self.ends[end].finish(id);
            self.ends[end].release(self.now, id);
        }
        let until = self.now.after(30 * SECOND);
        self.transmit();
        while self.next().is_some_and(|next| next <= until) {
            self.step();
            self.transmit();
        }
        self.now = until;
    }

    /// Carries so many octets from A over `id`.
    fn carry(&mut self, id: ConnectionId, bytes: usize) {
        let mut left = bytes;
        let (mut there, mut read) = (None, 0);
        self.until(|line| {
            left -= line.ends[A].write(id, &vec![3; left.min(1 << 20)]).unwrap();
            there = there.or_else(|| line.ends[B].accept());
            there.is_some_and(|there| line.reads(B, there, &mut read, bytes))
        });
    }
}

fn stp(rate_bps: Option<u64>) -> Config {
    Config { discover_mtu: true, rate_bps, ..Config::standard() }
}

/// Plain ends with a connection, at work.
fn plain<T>(
    stp: &Config,
    rates_bps: [u64; 2],
    work: impl FnOnce(&mut Line<'_, Endpoint<SocketAddr>>, ConnectionId) -> T,
) -> T {
    let mut ends = [A, B].map(|end| {
        let config = EndpointConfig {
            carrier_bytes: |_| (CARRIER_BYTES + ENVELOPE_BYTES) as u32,
            ..endpoint_config(stp, 0, 0)
        };
        Endpoint::new(config, Stream::new(end as u64, "plain"))
    });
    ends[B].listen(PORT);
    let now = Instant::from_ns(SECOND);
    let id = ends[A].connect(now, address(B), PORT, stp.clone(), false).unwrap();
    let [a, b] = &mut ends;
    work(&mut Line::new(now, [a, b], rates_bps, CARRIER_BYTES + ENVELOPE_BYTES), id)
}

/// Sealed ends with a connection, at work. `is_known`: they talked before, so that A has a token; nothing of
/// that is open.
fn sealed<T>(
    stp: &Config,
    rates_bps: [u64; 2],
    is_known: bool,
    work: impl FnOnce(&mut Line<'_, StpEngine>, ConnectionId) -> T,
) -> T {
    forget();
    let mut hosts =
        [A, B].map(|end| Host::new(Making { end, mode: Mode::Encrypted, stp: stp.clone(), life: 0 }));
    hosts.iter_mut().for_each(Host::write_down);
    let mut now = Instant::from_ns(SECOND);
    if is_known {
        now = on_line(now, &mut hosts, stp, GEO, |line, id| {
            line.exchange(id, 100);
            line.part(id);
            line.now.after(SECOND)
        });
        hosts.iter_mut().for_each(Host::write_down);
        hosts[A].restart();
        hosts.iter_mut().for_each(Host::write_down);
    }
    on_line(now, &mut hosts, stp, rates_bps, work)
}

fn on_line<T>(
    now: Instant,
    hosts: &mut [Host; 2],
    stp: &Config,
    rates_bps: [u64; 2],
    work: impl FnOnce(&mut Line<'_, StpEngine>, ConnectionId) -> T,
) -> T {
    let [a, b] = hosts;
    let association = a.engine.associations_mut().open(now, a.peer, address(B)).unwrap();
    let id = a.engine.inner_mut().connect(now, association, PORT, stp.clone(), false).unwrap();
    work(&mut Line::new(now, [&mut a.engine, &mut b.engine], rates_bps, CARRIER_BYTES), id)
}

/// Time of an exchange with an answer of so many octets, plain and sealed, in ns.
fn exchanges(rates_bps: [u64; 2], answer_bytes: usize, is_known: bool) -> [u64; 2] {
    let stp = &stp(None);
    [
        plain(stp, rates_bps, |line, id| line.exchange(id, answer_bytes)),
        sealed(stp, rates_bps, is_known, |line, id| line.exchange(id, answer_bytes)),
    ]
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[test]
fn a_fresh_exchange_of_peers_that_know_each_other_costs_little_more_than_a_plain_one() {
    for (name, rates_bps, most) in [("geo", GEO, 1.03), ("thin-return", THIN_RETURN, 1.15)] {
        let [plain_ns, sealed_ns] = exchanges(rates_bps, 1000, true);
        let ratio = sealed_ns as f64 / plain_ns as f64;
        println!("{name}: plain {:.1} ms, sealed {:.1} ms: {ratio:.3}", ms(plain_ns), ms(sealed_ns));
        assert!(ratio <= most, "{name}: {ratio}");
    }
}

#[test]
fn an_answer_of_10_kb_over_geo_takes_a_round_trip_with_a_token_and_two_without() {
    // Nothing is faster: the request, 10 kB in packets of 1500, and the way there and back.
    let floor_ns = 2 * DELAY_NS + (350 + 10_000 + 8 * 60) * 8 * SECOND / GEO[0];
    for (is_known, most) in [(true, 1.05), (false, 2.05)] {
        let [plain_ns, sealed_ns] = exchanges(GEO, 10_000, is_known);
        let ratio = sealed_ns as f64 / floor_ns as f64;
        println!(
            "10 kB, token {is_known}: floor {:.1} ms, plain {:.1} ms, sealed {:.1} ms: {ratio:.3} of the floor",
            ms(floor_ns),
            ms(plain_ns),
            ms(sealed_ns),
        );
        assert!(ratio <= most, "token {is_known}: {ratio}");
    }
}

#[test]
fn a_sealed_megabyte_over_geo_costs_at_most_400_octets_back() {
    let stp = &stp(Some(GEO[0]));
    let bytes = 10_000_000;
    let plain_bytes = plain(stp, GEO, |line, id| {
        line.carry(id, bytes);
        line.wire_bytes[B]
    });
    let sealed_bytes = sealed(stp, GEO, true, |line, id| {
        line.carry(id, bytes);
        line.wire_bytes[B]
    });
    println!("octets back per MB over geo: plain {}, sealed {}", plain_bytes / 10, sealed_bytes / 10);
    assert!(sealed_bytes <= 400 * 10, "{sealed_bytes} octets for 10 MB");
}
