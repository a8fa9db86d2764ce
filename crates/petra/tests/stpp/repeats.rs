//! Repeats: what a status asks for, what it bars, which timers it ends.

use std::collections::BTreeMap;

use skyhaul_core::{MS, SECOND};
use skyhaul_petra::stpp::{Config, MaskCoding};

use crate::world::{Seen, World, octets};

/// 384 kbit/s with PDUs of 620 octets, 12.9 ms each; statuses every 125 ms.
fn config() -> Config {
    Config {
        rate_bps: Some(384_000),
        status_interval_ns: Some(125 * MS),
        poll_percent: None,
        ..Config::standard()
    }
}

/// Loses the first `times` copies of these PDUs.
fn first_copies(numbers: &'static [u32], times: u32) -> impl FnMut(&Seen) -> bool {
    let mut copies: BTreeMap<u32, u32> = BTreeMap::new();
    move |seen| {
        let Some(number) = seen.data().filter(|number| numbers.contains(number)) else { return false };
        let copy = copies.entry(number).or_default();
        *copy += 1;
        *copy <= times
    }
}

#[test]
fn a_lost_pdu_goes_again_before_new_ones_as_soon_as_a_status_asks() {
    let mut world = World::new(&config(), 60_000, first_copies(&[5], 1));
    world.finish();
    assert_eq!(world.read, octets(60_000));
    let departures = world.departures(5);
    assert_eq!(departures.len(), 2, "{departures:?}");
    let asks = |seen: &&Seen| seen.status().is_some_and(|status| !status.mask.missing().is_empty());
    let asked_ms = world.trace.iter().find(asks).expect("a status lists it").at_ns / MS;
    // One delay, and the PDU that is leaving just then.
    assert!(
        (asked_ms + 250..asked_ms + 250 + 14).contains(&departures[1]),
        "{departures:?}, asked {asked_ms}"
    );
    assert_eq!((world.stats(0).retransmitted_packets, world.stats(0).timeouts), (1, 0));
}

#[test]
fn a_pdu_is_barred_for_a_round_trip_after_each_send() {
    let mut world = World::new(&config(), 60_000, first_copies(&[5], 3));
    world.finish();
    let departures = world.departures(5);
    assert_eq!(departures.len(), 4, "{departures:?}");
    let asks = |seen: &&Seen| seen.status().is_some_and(|status| !status.mask.missing().is_empty());
    assert!(world.trace.iter().filter(asks).count() > 12, "it is listed eight times a round trip");
    for pair in departures.windows(2) {
        assert!((500..500 + 125 + 14).contains(&(pair[1] - pair[0])), "{departures:?}");
    }
}

/// The rule 2: deleting only up to LAST_IO lets the timers of all others fire behind the hole.
#[test]
fn a_status_ends_the_timers_of_what_it_shows_as_received_behind_a_hole() {
    let config = Config { timeout_ns: Some(1300 * MS), ..config() };
    // Number 5 is whole only after some 2.5 s: twice what the timer of its followers has.
    let mut world = World::new(&config, 200_000, first_copies(&[5], 4));
    world.finish();
    assert_eq!(world.read, octets(200_000));
    assert_eq!(world.departures(5).len(), 5);
    let stats = world.stats(0);
    assert_eq!((stats.retransmitted_packets, stats.timeouts), (4, 0), "nothing but the hole goes again");
    assert_eq!(world.stats(1).duplicates, 0);
}

#[test]
fn a_pdu_that_no_status_speaks_of_goes_again_by_its_timer() {
    // The last one: nothing behind it shows the hole.
    let mut world = World::new(&config(), 2000, first_copies(&[4], 1));
    world.finish();
    let departures: Vec<u64> =
        world.trace.iter().filter(|seen| seen.data() == Some(4)).map(|seen| seen.at_ns).collect();
    assert_eq!(departures.len(), 2, "{:?}", world.data());
    // It has 300 octets, which take 6.25 ms to leave.
    assert_eq!(departures[1] - departures[0], 2 * (500 + 125) * MS + 6250 * 1000);
    assert_eq!(world.stats(0).timeouts, 1);
}

#[test]
fn lost_statuses_delay_the_window_and_nothing_else() {
    let mut statuses = 0;
    let mut world = World::new(&config(), 60_000, move |seen| {
        statuses += u32::from(seen.status().is_some());
        seen.status().is_some() && statuses % 3 != 0
    });
    world.finish();
    assert_eq!(world.read, octets(60_000));
    assert_eq!(world.stats(0).retransmitted_packets, 0, "the timers wait for more than one status");
}

#[test]
fn a_mask_that_has_no_room_in_a_packet_lists_what_it_can() {
    // Every second of 4000 PDUs of one octet of payload: 4000 bits, or 4000 octets of list; 276 are free.
    let config = Config {
        payload_bytes: 1,
        window_pdus: 8000,
        sdu_header_bytes: 4,
        mask: MaskCoding::List,
        rate_bps: Some(10_000_000),
        receive_limit_bytes: 1 << 20,
        ..Config::standard()
    };
    let mut world = World::new(&config, 4000, |seen: &Seen| {
        seen.at_ns < SECOND && seen.data().is_some_and(|number| number % 2 == 0)
    });
    world.finish();
    assert_eq!(world.read, octets(4000));
    let longest = world.trace.iter().filter(|seen| seen.from == 1).map(|seen| seen.bytes.len()).max();
    assert!(longest.is_some_and(|longest| (1400..=1500).contains(&longest)), "{longest:?}");
}
