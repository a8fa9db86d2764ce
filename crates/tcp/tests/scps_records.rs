//! Records of SCPS-TP: packet traces against a scripted peer, and whole streams.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::pair::Pair;
use common::{Heard, Lone, plain};
use proptest::prelude::*;
use skyhaul_core::{Connections, Instant, MS, SECOND, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Order, Reordering};
use skyhaul_tcp::scps::{CAPABILITIES, RECORD, RecordPart, Scps, facility};
use skyhaul_tcp::segment::{ExtraOptions, Options, flags};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind};

fn speaking() -> Config {
    let scps = Scps {
        controller: ControllerKind::Off,
        pacing_percent: None,
        loss_cause: Verdict::Corruption,
        ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 50 * MS },
        ..Scps::standard()
    };
    Config { scps: Some(scps), send_limit_bytes: 60_000, nagle: true, ..plain() }
}

fn option(kind: u8, value: &[u8]) -> Options {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(kind, value));
    Options { extra, ..Options::default() }
}

/// A peer opened a connection, by SCPS-TP or not.
fn accepted(speaks: bool) -> Lone {
    let mut lone = Lone::new(&speaking());
    let offer = option(CAPABILITIES, &[facility::SNACK, 7]);
    let options = Options { mss: Some(1000), ..if speaks { offer } else { Options::default() } };
    lone.say(flags::SYN, 0, 0, options, b"");
    lone.one();
    lone.wait_ms(100);
    lone.ack(1, 1);
    lone.take();
    lone
}

fn write_record(lone: &mut Lone, bytes: usize) -> usize {
    lone.endpoint.write_record(lone.id, &vec![7; bytes]).unwrap()
}

/// Octets of segments with data, and whether a record ends with them.
fn told(heard: &[Heard]) -> Vec<(usize, bool)> {
    let data = heard.iter().filter(|heard| !heard.payload.is_empty());
    data.map(|heard| (heard.payload.len(), heard.options.extra.get(RECORD).is_some())).collect()
}

#[test]
fn a_segment_ends_a_record_and_says_so_whenever_it_goes() {
    let mut lone = accepted(true);
    for bytes in [1500, 300, 300] {
        assert_eq!(write_record(&mut lone, bytes), bytes);
    }
    lone.write(200);
    let heard = lone.hear();
    assert_eq!(told(&heard), [(1000, false), (500, true), (300, true), (300, true)], "the rest waits");
    assert!(heard.iter().all(|heard| heard.bytes <= 1020));
    // The first and the second are asked for.
    let hole = option(skyhaul_tcp::scps::SNACK, &[0, 0, 0, 2]);
    lone.say(flags::ACK, 1, 1, hole, b"");
    assert_eq!(told(&lone.hear())[..2], [(1000, false), (500, true)]);
}

#[test]
fn a_mark_takes_its_room_from_the_data() {
    let mut lone = accepted(true);
    write_record(&mut lone, 1000);
    let heard = lone.hear();
    assert_eq!(told(&heard), [(996, false), (4, true)]);
}

#[test]
fn a_plain_peer_is_told_of_no_records_and_tells_of_none() {
    let mut lone = accepted(false);
    write_record(&mut lone, 300);
    lone.write(700);
    assert_eq!(told(&lone.hear()), [(1000, false)]);
    lone.say(flags::ACK, 1, 1, option(RECORD, &[]), b"abc");
    lone.say(flags::ACK, 4, 1, Options::default(), b"def");
    assert_eq!(parts(&mut lone), [(b"abcdef".to_vec(), false)]);
}

/// Parts of records that can be read.
fn parts(lone: &mut Lone) -> Vec<(Vec<u8>, bool)> {
    let (mut parts, mut out) = (Vec::new(), [0; 4]);
    while let Ok(Some(RecordPart { bytes, ends })) = lone.endpoint.read_record(lone.id, &mut out) {
        if bytes == 0 {
            break;
        }
        match parts.last_mut() {
            Some((last, false)) => {
                Vec::extend_from_slice(last, &out[..bytes]);
                parts.last_mut().unwrap().1 = ends;
            }
            _ => parts.push((out[..bytes].to_vec(), ends)),
        }
    }
    parts
}

#[test]
fn a_reader_is_told_where_records_end_in_whatever_order_they_come() {
    let mut lone = accepted(true);
    let say = |lone: &mut Lone, at, ends, text: &[u8]| {
        let options = if ends { option(RECORD, &[]) } else { Options::default() };
        lone.say(flags::ACK, at, 1, options, text);
    };
    say(&mut lone, 7, true, b"ghi");
    assert_eq!(parts(&mut lone), []);
    say(&mut lone, 1, false, b"abc");
    say(&mut lone, 4, true, b"def");
    say(&mut lone, 10, false, b"j");
    let read = [(b"abcdef".to_vec(), true), (b"ghi".to_vec(), true), (b"j".to_vec(), false)];
    assert_eq!(parts(&mut lone), read);
    say(&mut lone, 11, true, b"k");
    say(&mut lone, 12, true, b"lm");
    assert_eq!(lone.read(), b"klm", "who does not ask reads over the ends");
    say(&mut lone, 14, true, b"n");
    assert_eq!(parts(&mut lone), [(b"n".to_vec(), true)]);
}

#[test]
fn records_have_octets_and_no_more_than_so_many_wait() {
    let mut lone = accepted(true);
    lone.peer_window = 100;
    lone.ack(1, 1);
    assert_eq!(write_record(&mut lone, 0), 0);
    for _ in 0..4096 {
        assert_eq!(write_record(&mut lone, 1), 1);
    }
    assert_eq!(write_record(&mut lone, 1), 0, "too many");
    lone.hear();
    lone.ack(1, 11);
    lone.hear();
    assert_eq!(write_record(&mut lone, 1), 1, "some were acknowledged");
    // What the peer ends beyond that is not taken before something is read.
    let mut lone = accepted(true);
    for at in 1..=4096 {
        lone.say(flags::ACK, at, 1, option(RECORD, &[]), b"x");
    }
    lone.hear();
    let acknowledged = |lone: &mut Lone| {
        lone.say(flags::ACK, 4097, 1, option(RECORD, &[]), b"y");
        lone.wait_ms(60);
        lone.one().acknowledgement
    };
    assert_eq!(acknowledged(&mut lone), 4097);
    assert_eq!(
        lone.endpoint.read_record(lone.id, &mut [0; 9]),
        Ok(Some(RecordPart { bytes: 1, ends: true }))
    );
    assert_eq!(acknowledged(&mut lone), 4098);
}

#[test]
fn a_connection_that_is_over_ends_no_records() {
    let (mut lone, _) = Lone::connecting(&speaking());
    assert_eq!(write_record(&mut lone, 3), 3, "before the handshake is over");
    lone.endpoint.finish(lone.id);
    assert!(lone.endpoint.write_record(lone.id, b"x").is_err());
    assert!(lone.endpoint.write_record(99, b"x").is_err());
    assert!(lone.endpoint.read_record(99, &mut [0; 9]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn records_arrive_as_they_were_written_whatever_the_link_does(
        seed in any::<u64>(), loss in 0.0f64..0.15, reordered in 0.0f64..0.2,
        sizes in proptest::collection::vec(1usize..4000, 1..40),
        compression in any::<bool>(), timestamps in any::<bool>(), nagle in any::<bool>(), mss_bytes in 32u16..1460,
    ) {
        let direction = DirectionConfig {
            rate_bps: Some(1_500_000),
            delay_ns: 50 * MS,
            loss,
            reordering: Reordering { probability: reordered, extra_delay_ns: 30 * MS },
            order: Order::Free,
            ..DirectionConfig::default()
        };
        let link = LinkConfig { name: "l".into(), forward: direction.clone(), reverse: direction, ..LinkConfig::default() };
        let scps = speaking().scps.map(|scps| Scps { compression, ..scps });
        let config = Config {
            mss_bytes, timestamps, nagle, scps,
            rate_bps: Some(1_000_000),
            max_repeats: 60,
            max_syn_repeats: 60,
            max_rto_ns: 4 * SECOND,
            ..speaking()
        };
        prop_assert_eq!(carried(&config, link, seed, &sizes), sizes);
    }
}

/// Sizes of the records that arrive of these.
fn carried(config: &Config, link: LinkConfig, seed: u64, sizes: &[usize]) -> Vec<usize> {
    let (mut pair, end) = (Pair::new(config, link, seed), Instant::from_ns(3600 * SECOND));
    let id = pair.connect(config);
    let (mut record, mut written, mut other) = (0, 0, None);
    let (mut arrived, mut size, mut room) = (Vec::new(), 0, vec![0; 3000]);
    while arrived.len() < sizes.len() {
        while let Some(&bytes) = sizes.get(record) {
            written += pair.ends[0].write_record(id, &vec![record as u8; bytes - written]).unwrap_or(0);
            if written < bytes {
                break;
            }
            (record, written) = (record + 1, 0);
        }
        other = other.or_else(|| pair.ends[1].accept());
        while let Some(id) = other
            && let Ok(Some(RecordPart { bytes: bytes @ 1.., ends })) = pair.ends[1].read_record(id, &mut room)
        {
            assert!(room[..bytes].iter().all(|&octet| octet == arrived.len() as u8), "of another record");
            size += bytes;
            if ends {
                arrived.push(core::mem::take(&mut size));
            }
        }
        if !pair.step(end) {
            break;
        }
    }
    arrived
}
