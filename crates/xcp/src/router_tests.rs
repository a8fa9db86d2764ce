//! Traces by hand, one for each formula. An eighth of a second is 2^25 units of the header's times, so that
//! all numbers are exact.

use skyhaul_core::{HeaderFormat, HeaderTime, Instant, MS, PathHeader, SECOND};
use std::vec::Vec;

use crate::{Discipline, Router, RouterConfig};

/// Shortest control interval, and the round trip of all flows.
const RTT_NS: u64 = SECOND / 8;
const RTT: HeaderTime = HeaderTime::from_units(1 << 25);
const BYTES: u32 = 1000;
/// X of a flow of 64 packets a round trip, and of one of 16.
const FAST: HeaderTime = HeaderTime::from_units(1 << 19);
const SLOW: HeaderTime = HeaderTime::from_units(1 << 21);

fn at(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

fn router(discipline: Discipline, set_off: bool) -> Router {
    Router::new(RouterConfig { set_off, ..RouterConfig::new(discipline, RTT_NS) }, Instant::ZERO)
}

fn asking(inter_packet: HeaderTime, delta_bytes_per_s: i32) -> PathHeader {
    PathHeader { inter_packet, rtt: RTT, delta_bytes_per_s, ..PathHeader::default() }
}

/// So many packets pass an empty queue; what each is left with.
fn pass(router: &mut Router, count: usize, header: PathHeader) -> Vec<i32> {
    let mut pass = || {
        let mut header = header;
        router.on_arrival(BYTES, Some(&header));
        router.on_queued(BYTES);
        router.on_departure(BYTES, Some(&mut header));
        header.delta_bytes_per_s
    };
    (0..count).map(|_| pass()).collect()
}

/// The interval ends that begins at so many round trips, on a link of so many octets a second.
fn end(router: &mut Router, round_trips: u64, capacity_bytes_per_s: u64) {
    router.catch_up(at(round_trips * RTT_NS), |_| 8 * capacity_bytes_per_s);
}

#[test]
fn before_the_first_interval_ends_nothing_is_granted() {
    let mut router = router(Discipline::Xcp, true);
    assert_eq!(pass(&mut router, 2, asking(FAST, 1_000_000)), [0, 0]);
    assert_eq!(pass(&mut router, 1, asking(FAST, -3)), [-3]);
}

/// 64 000 octets in 1/8 s are 512 000 a second: 0.4 (1 000 000 - 512 000) = 195 200, 3050 for each of 64.
#[test]
fn spare_capacity_is_shared_equally() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    end(&mut router, 1, 1_000_000);
    assert_eq!(pass(&mut router, 64, asking(FAST, i32::MAX)), [3050; 64]);
    // All of it is handed out.
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [0]);
}

/// 80 000 octets in 1/8 s fill a link of 640 000 a second: a tenth changes hands. Each flow gets 32 000 and
/// gives as it has: 64 x (500 - 800) + 16 x (2000 - 800) = 0.
#[test]
fn a_tenth_of_a_full_link_changes_hands() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    pass(&mut router, 16, asking(SLOW, i32::MAX));
    end(&mut router, 1, 640_000);
    assert_eq!(pass(&mut router, 64, asking(FAST, i32::MAX)), [-300; 64]);
    assert_eq!(pass(&mut router, 16, asking(SLOW, i32::MAX)), [1200; 16]);
}

/// After a packet in the first eighth of a second, whose X is longer than that, nothing arrives in the second
/// one: the packet of the third gets all of 0.4 x 1 000 000, and none behind it anything.
#[test]
fn a_flow_of_less_than_a_packet_an_interval_gets_its_share() {
    let mut router = router(Discipline::Xcp, true);
    let seldom = HeaderTime::from_units(1 << 26);
    pass(&mut router, 1, asking(seldom, i32::MAX));
    end(&mut router, 2, 1_000_000);
    assert_eq!(pass(&mut router, 2, asking(seldom, i32::MAX)), [400_000, 0]);
}

/// Twice what the link carries: 0.4 x -256 000 = -102 400, nothing is shuffled, and each octet loses as much.
#[test]
fn what_is_too_much_is_taken_in_proportion() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    end(&mut router, 1, 256_000);
    assert_eq!(pass(&mut router, 64, asking(FAST, i32::MAX)), [-1600; 64]);
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [0]);
}

/// Ten packets stand in front of a link that is just filled: 0.226 x 10 000 / (1/8) = 18 080 are to go, 51
/// 200 - 18 080 = 33 120 change hands, and a packet gets 33 120/64 - 51 200/64 = -282.5.
#[test]
fn a_standing_queue_is_worked_off() {
    let mut router = router(Discipline::Xcp, true);
    let mut header = asking(FAST, i32::MAX);
    for _ in 0..64 {
        router.on_arrival(BYTES, Some(&header));
        router.on_queued(BYTES);
    }
    for _ in 0..54 {
        router.on_departure(BYTES, Some(&mut header));
    }
    end(&mut router, 1, 512_000);
    let mut header = asking(FAST, i32::MAX);
    router.on_departure(BYTES, Some(&mut header));
    assert_eq!(header.delta_bytes_per_s, -283);
}

/// The least queue after any departure of the last while counts, not the largest or the last one.
#[test]
fn a_queue_that_drains_in_between_does_not_stand() {
    let mut router = router(Discipline::Xcp, true);
    let header = asking(FAST, i32::MAX);
    for _ in 0..64 {
        router.on_arrival(BYTES, Some(&header));
    }
    // With ten packets from 3 ms on, the whiles end after 2, 64.5 and 117.2 ms.
    router.catch_up(at(3 * MS), |_| 8 * 512_000);
    (0..10).for_each(|_| router.on_queued(BYTES));
    router.catch_up(at(70 * MS), |_| 8 * 512_000);
    (0..10).for_each(|_| router.on_departure(BYTES, None));
    (0..10).for_each(|_| router.on_queued(BYTES));
    end(&mut router, 1, 512_000);
    let mut header = asking(FAST, i32::MAX);
    router.on_departure(BYTES, Some(&mut header));
    assert_eq!(header.delta_bytes_per_s, 0);
}

/// The slow flow refuses 1200 of each share. Set off, that leaves 64 000 - 16 x 2000 to lose for the fast
/// one: it loses nothing in all, 40 x -300 + 24 x 500.
#[test]
fn a_refused_share_is_set_off() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    pass(&mut router, 16, asking(SLOW, 0));
    end(&mut router, 1, 640_000);
    assert_eq!(pass(&mut router, 16, asking(SLOW, 0)), [0; 16]);
    let fast = pass(&mut router, 64, asking(FAST, i32::MAX));
    assert_eq!(fast[..40], [-300; 40]);
    assert_eq!(fast[40..], [500; 24]);
}

/// Without, the fast flow loses 64 x 300 that nobody gets [P-XCP (3)].
#[test]
fn a_refused_share_is_lost_where_it_is_not_set_off() {
    let mut router = router(Discipline::Xcp, false);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    pass(&mut router, 16, asking(SLOW, 0));
    end(&mut router, 1, 640_000);
    assert_eq!(pass(&mut router, 16, asking(SLOW, 0)), [0; 16]);
    assert_eq!(pass(&mut router, 64, asking(FAST, i32::MAX)), [-300; 64]);
}

/// Two intervals, in each of which the slow flow takes nothing.
fn limited(discipline: Discipline) -> Router {
    let mut router = router(discipline, false);
    for round_trips in 1..=2 {
        pass(&mut router, 64, asking(FAST, i32::MAX));
        pass(&mut router, 16, asking(SLOW, 0));
        end(&mut router, round_trips, 640_000);
    }
    router
}

/// Half of the flows are limited: 0.9 / (1 - 0.5) = 1.8 times 500, less 800.
#[test]
fn p_xcp_raises_shares_in_proportion_to_the_limited_flows() {
    assert_eq!(pass(&mut limited(Discipline::PXcp), 64, asking(FAST, i32::MAX)), [100; 64]);
    assert_eq!(pass(&mut limited(Discipline::Xcp), 64, asking(FAST, i32::MAX)), [-300; 64]);
}

/// A tenth of the flows limited: 0.9 / 0.9 raises nothing.
#[test]
fn p_xcp_never_lowers_shares() {
    let mut router = router(Discipline::PXcp, false);
    for round_trips in 1..=2 {
        pass(&mut router, 64, asking(FAST, i32::MAX));
        end(&mut router, round_trips, 1_000_000);
    }
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [3050]);
}

/// r = 1 and N = 0 are left open by the paper: shares stay as they are.
#[test]
fn p_xcp_raises_nothing_where_all_flows_are_limited() {
    let mut router = router(Discipline::PXcp, false);
    for round_trips in 1..=2 {
        pass(&mut router, 64, asking(FAST, 0));
        end(&mut router, round_trips, 1_000_000);
    }
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [3050]);
}

/// Of 64 000, 16 x 1200 were not taken: u = 0.3, so 500 / 0.7 - 800 = -85.7.
#[test]
fn untaken_feedback_is_offered_on_top() {
    assert_eq!(pass(&mut limited(Discipline::Untaken), 64, asking(FAST, i32::MAX)), [-86; 64]);
}

#[test]
fn untaken_feedback_is_offered_ten_times_at_most() {
    let mut router = router(Discipline::Untaken, true);
    for round_trips in 1..=2 {
        pass(&mut router, 64, asking(FAST, 0));
        end(&mut router, round_trips, 1_000_000);
    }
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [30_500]);
}

/// The interval is the mean RTT, by X: 2^-9 s of 1/8 s and 2^-7 s of 1/4 s, so (1/8 + 4/4) / 5.
#[test]
fn the_interval_is_the_mean_round_trip() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 1, asking(FAST, 0));
    pass(&mut router, 1, PathHeader { rtt: HeaderTime::from_units(1 << 26), ..asking(SLOW, 0) });
    // Left out of the mean, but neither of the load nor of the shares.
    pass(&mut router, 1, PathHeader { rtt: HeaderTime::UNKNOWN, ..asking(FAST, 0) });
    end(&mut router, 1, 1_000_000);
    let mean_ns = SECOND * 9 / 40;
    router.catch_up(at(RTT_NS + mean_ns - 100), |_| 8_000_000);
    let load = (0.4 * (1_000_000.0 - 3000.0 / 0.125)) as i32;
    let share = f64::from(load) * 1.0 / 6.0;
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [share.round() as i32]);
    // Nothing but this packet arrived, 0.4 (1 000 000 - 1000 / 0.225) for it alone.
    router.catch_up(at(RTT_NS + mean_ns), |_| 8_000_000);
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [398_222]);
}

#[test]
fn an_interval_is_neither_shorter_than_the_link_nor_longer_than_a_second() {
    let mut router = router(Discipline::Xcp, true);
    let longest = PathHeader { rtt: HeaderTime::MAX, ..asking(FAST, i32::MAX) };
    pass(&mut router, 1, longest);
    end(&mut router, 1, 1_000_000);
    let shortest = PathHeader { rtt: HeaderTime::from_units(1), ..longest };
    let mut granted_at = |ns: u64, packets: usize| -> i32 {
        router.catch_up(at(ns), |_| 8_000_000);
        pass(&mut router, packets, shortest).iter().sum()
    };
    assert!(granted_at(RTT_NS, 1) > 0);
    assert_eq!(granted_at(RTT_NS + SECOND - 10, 1), 0, "all of that interval is handed out");
    assert!(granted_at(RTT_NS + SECOND, 2) > 0);
    assert_eq!(granted_at(RTT_NS + SECOND + RTT_NS - 10, 1), 0, "of this one, too");
    assert!(granted_at(RTT_NS + SECOND + RTT_NS, 1) > 0);
}

#[test]
fn an_unknown_interval_gets_nothing_but_gives() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    pass(&mut router, 16, asking(SLOW, i32::MAX));
    end(&mut router, 1, 640_000);
    assert_eq!(pass(&mut router, 1, asking(HeaderTime::UNKNOWN, i32::MAX)), [-800]);
}

#[test]
fn minimal_headers_and_packets_without_one_are_load_alone() {
    let mut router = router(Discipline::Xcp, true);
    let minimal = PathHeader { format: HeaderFormat::Minimal, ..asking(FAST, 77) };
    pass(&mut router, 64, asking(FAST, i32::MAX));
    let mut same = minimal;
    router.on_arrival(BYTES, Some(&minimal));
    router.on_departure(BYTES, Some(&mut same));
    assert_eq!(same, minimal);
    (0..15).for_each(|_| router.on_arrival(BYTES, None));
    end(&mut router, 1, 640_000);
    // 64 000 change hands among 80 packets, 16 of which no router can ask.
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [1000 - 800]);
}

#[test]
fn routers_count_themselves() {
    let mut header = asking(FAST, 0);
    for routers in 1..=20 {
        router(Discipline::Xcp, true).on_departure(BYTES, Some(&mut header));
        assert_eq!(header.routers, routers.min(15));
    }
}

#[test]
fn the_lower_of_two_routers_grants_remains() {
    let (mut near, mut far) = (router(Discipline::Xcp, true), router(Discipline::Xcp, true));
    for (router, capacity) in [(&mut near, 1_000_000), (&mut far, 600_000)] {
        pass(router, 64, asking(FAST, i32::MAX));
        end(router, 1, capacity);
    }
    let granted = pass(&mut near, 1, asking(FAST, i32::MAX))[0];
    assert_eq!(granted, 3050);
    // 0.4 x 88 000 = 35 200, and 51 200 - 35 200 = 16 000 change hands: (51 200 - 16 000) / 64.
    assert_eq!(pass(&mut far, 1, asking(FAST, granted)), [550]);
}

/// A flow that comes back gets its share of 0.4 x 1 000 000, as if 64 packets came in an interval.
#[test]
fn a_router_lives_to_the_end_of_time() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    router.catch_up(Instant::MAX, |_| 8_000_000);
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [6250]);
}

/// A sender that gives back more than the link has to take: what is left over helps nobody, and no residue
/// grows.
#[test]
fn giving_back_beyond_measure_feeds_nobody() {
    let mut router = router(Discipline::Xcp, true);
    pass(&mut router, 64, asking(FAST, i32::MAX));
    end(&mut router, 1, 1_000_000);
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MIN)), [i32::MIN]);
    assert_eq!(pass(&mut router, 64, asking(FAST, i32::MAX)), [3050; 64]);
    assert_eq!(pass(&mut router, 1, asking(FAST, i32::MAX)), [0]);
}
