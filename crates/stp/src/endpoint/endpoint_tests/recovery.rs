//! Missing packets are sent again: once for a USTAT, by the timestamp rule for a STAT.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Connections, Event, NUMBER_MODULUS, SECOND};

use super::bench::*;
use crate::{Config, RetransmitRule};

fn repeats(bench: &Bench) -> Vec<Repeat> {
    let repeat = |event: &Event| match event {
        Event::Sent { repeat, .. } => *repeat,
        _ => None,
    };
    bench.trace.iter().filter_map(|(_, _, event)| repeat(event)).collect()
}

/// A transfer of `packets` full packets whose `lost`-th SD vanishes `times` times.
fn transfer(config: &Config, packets: usize, lost: usize, times: usize) -> Bench {
    let mut bench = Bench::with(config.clone(), 1);
    let mut seen = 0;
    let mut hit = None;
    let mut left = times;
    bench.drop = Box::new(move |side, segment| {
        if side == Side::B || segment.data.is_none() {
            return false;
        }
        seen += 1;
        if seen == lost + 1 {
            hit = Some(segment.number);
        }
        let drop = hit == Some(segment.number) && left > 0;
        left -= usize::from(drop);
        drop
    });
    let id = bench.open_with(Config { initial_window_packets: 20, ..config.clone() });
    let data: Vec<u8> = (0..packets * 1400).map(|i| (i * 7) as u8).collect();
    assert_eq!(bench.a.write(id, &data).unwrap(), data.len());
    bench.a.finish(id);
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1), data);
    bench
}

#[test]
fn early_packets_larger_than_the_receivers_memory_get_through() {
    let mut bench = Bench::with(Config { receive_limit_bytes: 1000, ..Config::standard() }, 1);
    let id = bench.open();
    bench.a.write(id, &alloc::vec![7; 20_000]).unwrap();
    bench.a.finish(id);
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1), alloc::vec![7; 20_000]);
    assert!(bench.b.stats(1).unwrap().refused > 0, "the early packets did not fit");
}

/// Packets some milliseconds apart.
fn paced() -> Config {
    Config { rate_bps: Some(2_000_000), idle_repeat: false, coded_tail: false, ..Config::standard() }
}

#[test]
fn a_ustat_has_the_packet_sent_again_at_once_and_once() {
    let bench = transfer(&paced(), 40, 4, 1);
    assert_eq!(repeats(&bench), [Repeat::Ustat]);
    assert_eq!(bench.count(Side::B, "USTAT"), 1);
    assert_eq!(bench.b.stats(1).unwrap().duplicates, 0, "the STATs of the same round trip repeat nothing");
}

#[test]
fn a_second_loss_is_repaired_by_a_stat() {
    let bench = transfer(&paced(), 80, 4, 2);
    assert_eq!(repeats(&bench), [Repeat::Ustat, Repeat::Stat]);
}

#[test]
fn without_ustats_the_stat_repairs() {
    let config = Config { ustat_threshold: None, ..Config::standard() };
    assert_eq!(repeats(&transfer(&config, 16, 4, 1)), [Repeat::Stat]);
}

#[test]
fn the_papers_rule_waits_a_round_trip_and_longer_each_time() {
    let config = Config {
        ustat_threshold: None,
        retransmit: RetransmitRule::RttElapsed,
        send_limit_bytes: 1 << 20,
        ..Config::standard()
    };
    let mut bench = transfer(&config, 16, 4, 4);
    assert_eq!(repeats(&bench), [Repeat::Stat; 4]);
    let mut times = Vec::new();
    for (at, _, event) in bench.trace.drain(..) {
        if matches!(event, Event::Sent { repeat: Some(_), .. }) {
            times.push(at);
        }
    }
    let waits: Vec<u64> = times.windows(2).map(|w| w[1].since(w[0])).collect();
    for (i, wait) in waits.iter().enumerate() {
        assert!(*wait >= RTT_NS << i, "{waits:?}");
    }
}

#[test]
fn the_last_packet_lost_is_found_without_a_timer_of_its_own() {
    let bench = transfer(&Config::standard(), 5, 4, 1);
    assert!(repeats(&bench).len() <= 2, "{:?}", repeats(&bench));
}

#[test]
fn a_declared_rate_repeats_the_tail_only_after_losses() {
    let config = Config { rate_bps: Some(4_000_000), coded_tail: false, ..Config::standard() };
    let clean = transfer(&config, 300, 0, 0);
    assert_eq!(clean.a.stats(1).unwrap().idle_repeats, 0);
    let lossy = transfer(&config, 300, 100, 1);
    assert!(lossy.a.stats(1).unwrap().idle_repeats > 0);
}

#[test]
fn numbers_wrap_in_the_middle_of_a_transfer() {
    for seed in 0..2000 {
        let mut stream = skyhaul_core::Stream::new(seed, "a");
        let (_, _, _) = (stream.next_u64(), stream.next_u64(), stream.next_u64());
        let initial = stream.next_u64() & (NUMBER_MODULUS - 1);
        if initial < NUMBER_MODULUS - 100_000 {
            continue;
        }
        // The seed picked a first number so close to the wrap that small packets reach it.
        let mut bench = Bench::with(Config::standard(), seed);
        let config = Config { max_payload_bytes: 16, rate_bps: Some(100_000_000), ..Config::standard() };
        let id = bench.open_with(config);
        let need = (NUMBER_MODULUS - initial) as usize * 16 + 50_000;
        let data: Vec<u8> = (0..need).map(|i| (i * 13) as u8).collect();
        let mut at = 0;
        while at < data.len() {
            at += bench.a.write(id, &data[at..]).unwrap();
            bench.run(SECOND / 10);
        }
        bench.run(5 * SECOND);
        assert_eq!(bench.received(1).len(), need);
        assert!(bench.received(1) == &data[..]);
        return;
    }
    panic!("no seed below 2000 starts close to the wrap: pick more seeds");
}

#[test]
fn a_lying_report_is_refused_whole() {
    use crate::segment::{Report, Segment};
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, &vec![1; 20_000]).unwrap();
    bench.pump();
    let sent = crate::segment::decode(&bench.wire[0].bytes).unwrap();
    let (port, peer, instance, first) = (sent.source_port, sent.destination_port, sent.instance, sent.number);
    let in_flight = bench.a.stats(id).unwrap().in_flight_bytes;
    let lie = |report| Segment {
        source_port: peer,
        destination_port: port,
        instance,
        ustat: Some(report),
        ..Segment::default()
    };
    let beyond = Report { next: first + 5000, window_bytes: 0, ..Report::default() };
    bench.inject(Side::A, &lie(beyond));
    let wide = Report { next: first, window_bytes: 0, runs: vec![1, 100_000], ..Report::default() };
    bench.inject(Side::A, &lie(wide));
    let stats = bench.a.stats(id).unwrap();
    assert_eq!((stats.in_flight_bytes, stats.refused), (in_flight, 2));
    bench.run(5 * SECOND);
    assert_eq!(bench.received(1).len(), 20_000);
}
