//! Floods of openings and of data.

use std::net::SocketAddr;

use skyhaul_core::{Connections, Engine, NetworkFields, NullSink, SECOND};
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Opening, Segment, encode};

use crate::peer::{Liar, opening};

/// Bounds: the connections that there may be (100), beside 32 that were handed out, are over, and nobody has
/// let go of; 64 resets that wait, and all of it gone after 30 s.
#[test]
fn a_flood_of_openings_takes_the_places_of_none_but_its_own_and_goes_away() {
    let mut liar = Liar::new(Config::standard());
    let mut bytes = Vec::new();
    for i in 0..10_000u32 {
        let bgn = Opening { nonce: u64::from(i) + 1000, ..opening(1 << 20) };
        bytes.clear();
        encode(&Segment { bgn: Some(bgn), ..liar.blank.clone() }, &mut bytes);
        let from = SocketAddr::from(([10, 1, (i >> 8) as u8, i as u8], 9));
        liar.engine.handle(liar.now, from, NetworkFields::default(), &bytes, &mut NullSink);
        assert!(liar.engine.connection_count() <= 100 + 32);
    }
    let stats = liar.engine.endpoint_stats();
    assert_eq!((stats.full, stats.gave_way), (0, 0));
    assert_eq!(stats.cookies_sent + stats.unanswered, 10_000 - 99, "by cookies beyond");
    assert!((1..=260).contains(&stats.cookies_sent), "at once so many leave: {}", stats.cookies_sent);
    assert_eq!(liar.state(), Some(skyhaul_stp::State::Established), "who is proven gives no way");
    let before = liar.heard.len();
    liar.listen();
    let resets = liar.heard[before..].iter().filter(|heard| heard.segment.rst.is_some()).count();
    assert!(resets <= 64, "{resets} resets");
    // As soon as it lets go of some, the application has others.
    for _ in 0..2 {
        while let Some(id) = liar.engine.accept() {
            liar.engine.release(liar.now, id);
        }
        liar.wait(31 * SECOND);
    }
    assert_eq!(liar.engine.connection_count(), 1, "only the proven one is left");
}

/// Bound: behind a gap at most `receive_limit_bytes` of charge are kept, 256 octets a packet.
#[test]
fn tiny_packets_behind_a_gap_are_charged_in_full() {
    let limit = 64 * 256;
    let mut liar = Liar::new(Config { receive_limit_bytes: limit, ..Config::standard() });
    let before = liar.stats().refused;
    for offset in 1..1000 {
        liar.say(&liar.packet(offset, b"x"));
    }
    assert_eq!(liar.stats().refused, before + 999 - 64);
    liar.say(&liar.packet(0, b"x"));
    assert_eq!(liar.stats().delivered_bytes, 65);
}

/// Bound: what nobody reads stays within the limit and one packet.
#[test]
fn data_that_nobody_reads_is_bounded() {
    let limit = 10_000;
    let mut liar = Liar::new(Config { receive_limit_bytes: limit, ..Config::standard() });
    for offset in 0..1000 {
        liar.say(&liar.packet(offset, &[1; 1400]));
    }
    assert!(liar.stats().delivered_bytes <= limit);
}
