//! Packets that became too large for the path cross in parts, each a record of its own, and are joined inside
//! the seal (`docs/spec/protection.md`, section 9).

use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Connections, Engine, MS, NetworkFields, NullSink};
use skyhaul_stp::Config;

use crate::pair::{Pair, content};
use crate::world::{A, B};
use crate::{Counters, HEAD_BYTES, OVERHEAD_BYTES};

/// Flow of 8 Mbit/s over GEO that has found out that the path takes 1500, to a path that takes 1300 from now
/// on, cuts nothing and carries no fragments.
struct Fall {
    pair: Pair,
    data: Vec<u8>,
    written: usize,
    id: u64,
}

impl Fall {
    fn new(seed: u64, mode: Mode, bytes: usize) -> Self {
        let stp = Config { discover_mtu: true, rate_bps: Some(8_000_000), ..Config::standard() };
        let mut pair = Pair::speaking(seed, mode, &stp);
        (pair.way.loss_percent, pair.way.copies_percent) = (0, 0);
        (pair.way.delay_ms, pair.way.jitter_ms) = (275, 1);
        let id = pair.connect(A);
        let mut fall = Self { pair, data: content(seed, bytes), written: 0, id };
        fall.run(60);
        let mtu_bytes = fall.pair.hosts[A].engine.stats(id).unwrap().path_mtu_bytes;
        assert_eq!(mtu_bytes, Some(1500), "seed {seed}");
        assert_eq!(fall.pair.may_be_cut, 0, "nothing was too large so far");
        fall.pair.path_bytes = 1300;
        fall
    }

    /// Writes and runs for so many tenths of a second.
    fn run(&mut self, tenths: u64) {
        for _ in 0..tenths {
            if self.written < self.data.len() {
                let rest = &self.data[self.written..];
                self.written += self.pair.hosts[A].engine.write(self.id, rest).unwrap();
            } else {
                self.pair.hosts[A].engine.finish(self.id);
            }
            self.pair.transmit();
            self.pair.run(100 * MS);
        }
    }

    fn received(&self) -> &[u8] {
        self.pair.hosts[B].received.values().next().expect("a connection")
    }

    fn finish(&mut self) {
        for _ in 0..1200 {
            if self.received().len() == self.data.len() {
                break;
            }
            self.run(1);
        }
        assert!(self.received() == self.data, "{} of {}", self.received().len(), self.data.len());
    }
}

#[test]
fn a_path_of_geo_that_falls_in_mid_flow_carries_sealed_data_again_within_five_seconds() {
    for seed in 0..3 {
        let mode = if seed % 2 == 0 { Mode::Encrypted } else { Mode::Authenticated };
        let mut fall = Fall::new(seed, mode, 12_000_000);
        fall.run(3); // what was under way has arrived
        let before = fall.received().len();
        fall.run(50);
        // In order: the first packet that was too large has crossed by then.
        let after = fall.received().len();
        assert!(after > before + 500_000, "seed {seed}: {before} to {after}");
        fall.finish();
    }
}

#[test]
fn under_a_seal_nothing_is_left_to_ip_to_cut() {
    for loss_percent in [0, 3] {
        let mut fall = Fall::new(7, Mode::Encrypted, 12_000_000);
        fall.pair.way.loss_percent = loss_percent;
        fall.finish();
        assert_eq!(fall.pair.may_be_cut, 0, "{loss_percent} % lost");
        let stats = fall.pair.hosts[A].engine.stats(fall.id).unwrap();
        assert!(stats.path_mtu_bytes.unwrap() < 1500, "{loss_percent} % lost");
    }
}

/// Type of a segment that is a PIECE (`docs/spec/stp.md`, section 3), and its place in a record.
const PIECE: u8 = 0x1C;
const TYPE_AT: usize = HEAD_BYTES + 4;

/// A part that is under way to B, where all can read it.
fn part_under_way(fall: &mut Fall) -> Vec<u8> {
    for _ in 0..100 {
        let under_way = fall.pair.under_way.values();
        let part = under_way.map(|(_, _, datagram)| datagram).find(|datagram| {
            datagram.len() > OVERHEAD_BYTES && datagram[1..4] != [0; 3] && datagram[TYPE_AT] == PIECE
        });
        if let Some(part) = part {
            return part.clone();
        }
        fall.run(1);
    }
    panic!("no packet crosses in parts");
}

fn refusals(fall: &Fall) -> u64 {
    let counters = fall.pair.hosts[B].engine.associations().counters();
    let Counters { alien, unknown_index, replayed, forged, strangers, refused, .. } = counters;
    alien + unknown_index + replayed + forged + strangers + refused
}

#[test]
fn every_flipped_bit_and_every_cut_of_a_part_is_refused_and_the_packet_is_joined_all_the_same() {
    let mut fall = Fall::new(3, Mode::Authenticated, 12_000_000);
    let part = part_under_way(&mut fall);
    assert!(part.len() + 28 <= 1300);
    let flipped = (0..part.len() * 8).map(|bit| {
        let mut octets = part.clone();
        octets[bit / 8] ^= 1 << (bit % 8);
        octets
    });
    let cut = (1..part.len()).map(|length| part[..length].to_vec());
    for (changed, octets) in flipped.chain(cut).enumerate() {
        let before = refusals(&fall);
        let (now, from) = (fall.pair.now, fall.pair.addresses[A]);
        let engine = &mut fall.pair.hosts[B].engine;
        engine.handle(now, from, NetworkFields::default(), &octets, &mut NullSink);
        assert_eq!(refusals(&fall), before + 1, "change {changed}");
    }
    fall.finish();
}
