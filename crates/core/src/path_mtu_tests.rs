//! The search against paths of every size, with losses, lies and changes.

use std::vec::Vec;

use super::*;

const V4: MtuBounds = MtuBounds { min_bytes: 576, base_bytes: 1280, taken_bytes: 65_535, link_bytes: 0 };
const V6: MtuBounds = MtuBounds { min_bytes: 1280, link_bytes: 1500, ..V4 };

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * 1_000_000)
}

/// A sender with much to send over a path that takes so much, asked every 100 ms; in each of these times
/// `packets` full packets leave.
struct Bench {
    mtu: PathMtu,
    path_bytes: u32,
    now_ms: u64,
    probes: Vec<u32>,
}

impl Bench {
    fn new(bounds: MtuBounds, max_bytes: u32, path_bytes: u32) -> Self {
        Self { mtu: PathMtu::new(bounds, max_bytes, None), path_bytes, now_ms: 0, probes: Vec::new() }
    }

    fn round(&mut self) {
        let now = at(self.now_ms);
        for packet in 0..100 {
            // In doubt, one of four is sent again.
            let bytes = if packet % 4 == 0 { self.mtu.packet_bytes() } else { self.mtu.new_bytes() };
            self.mtu.count_sent(bytes);
            let arrives = bytes <= self.path_bytes || self.mtu.may_fragment(bytes, false);
            match (arrives, bytes > self.mtu.telling_bytes()) {
                (false, _) => self.mtu.lost(bytes, now),
                (true, true) => self.mtu.arrived(now),
                (true, false) => self.mtu.arrived_small(1),
            }
        }
        self.mtu.conclude(now);
        if let Some(bytes) = self.mtu.probe_due(now) {
            self.probes.push(bytes);
            self.mtu.probe_sent(bytes);
            self.mtu.count_sent(bytes);
            if bytes <= self.path_bytes {
                self.mtu.probe_acked(now, bytes);
            } else {
                self.mtu.probe_lost(now, bytes);
            }
        }
        self.now_ms += 100;
    }

    fn rounds(&mut self, count: usize) -> u32 {
        (0..count).for_each(|_| self.round());
        self.mtu.packet_bytes()
    }
}

#[test]
fn another_path_is_searched_anew_with_the_last_size_first() {
    let mut bench = Bench::new(V4, 1500, 1500);
    assert_eq!(bench.rounds(10), 1500);
    bench.mtu.restart();
    bench.path_bytes = 1400;
    bench.probes.clear();
    assert_eq!((bench.mtu.packet_bytes(), bench.rounds(100)), (1280, 1400));
    assert_eq!(bench.probes[0], 1500);
}

#[test]
fn every_size_is_found_but_for_a_part_that_is_worth_nothing_and_probes_are_a_hundredth() {
    for bounds in [V4, V6] {
        for path_bytes in (bounds.min_bytes..=1600).chain([4000, 4352, 9000, 9001, 20_000, 65_535]) {
            let mut bench = Bench::new(bounds, 65_535, path_bytes);
            let found = bench.rounds(3000);
            let least = path_bytes - (path_bytes / WORTHWHILE_PART).max(8);
            assert!((least..=path_bytes).contains(&found), "{found} on a path of {path_bytes}");
            let (probed, sent) = (bench.mtu.probed_bytes(), bench.mtu.sent_bytes);
            assert!(probed * 100 <= sent, "{probed} of {sent} on a path of {path_bytes}");
        }
    }
}

#[test]
fn the_usual_sizes_are_found_as_they_are_with_few_probes() {
    for (path_bytes, most) in
        [(1280, 15), (1300, 14), (1400, 12), (1420, 13), (1492, 9), (1500, 1), (9000, 1)]
    {
        let mut bench = Bench::new(V4, if path_bytes > 1500 { path_bytes } else { 1500 }, path_bytes);
        assert_eq!(bench.rounds(49), path_bytes);
        assert!(bench.probes.len() <= most, "{path_bytes}: {:?}", bench.probes);
    }
}

#[test]
fn no_packet_is_larger_than_what_was_confirmed_and_a_router_spares_the_search() {
    let mut mtu = PathMtu::new(V4, 1500, None);
    (0..1000).for_each(|_| mtu.count_sent(1280));
    assert_eq!((mtu.packet_bytes(), mtu.probe_due(at(0))), (1280, Some(1500)));
    mtu.probe_sent(1500);
    assert_eq!(mtu.probe_due(at(0)), None, "one at a time");
    mtu.told(at(1), 1400);
    assert_eq!(mtu.packet_bytes(), 1280);
    mtu.probe_lost(at(2), 1500);
    assert_eq!(mtu.probe_due(at(2)), Some(1400), "one lost probe of 1500 suffices");
    mtu.probe_sent(1400);
    mtu.probe_acked(at(3), 1400);
    assert_eq!(mtu.packet_bytes(), 1400);
}

#[test]
fn what_is_remembered_is_tried_first_and_believed_never() {
    let mut mtu = PathMtu::new(V4, 1500, Some(1492));
    (0..1000).for_each(|_| mtu.count_sent(1280));
    assert_eq!((mtu.packet_bytes(), mtu.probe_due(at(0))), (1280, Some(1492)));
    for absurd in [0, 68, 1280, 1501, u32::MAX] {
        let mut mtu = PathMtu::new(V4, 1500, Some(absurd));
        (0..1000).for_each(|_| mtu.count_sent(1280));
        assert_eq!(mtu.probe_due(at(0)), Some(1500), "{absurd}");
    }
}

#[test]
fn a_path_that_shrinks_without_a_word_is_noticed_and_one_that_grows_again_is_used() {
    for (path_bytes, found) in [(1300, 1300), (1280, 1280), (576, 576)] {
        let mut bench = Bench::new(V4, 1500, 1500);
        assert_eq!(bench.rounds(20), 1500);
        bench.path_bytes = path_bytes;
        // What is new is smaller at once, and once more if that is lost, too; then it is proven.
        bench.round();
        assert_eq!((bench.mtu.packet_bytes(), bench.mtu.new_bytes()), (1500, 1280));
        bench.rounds(if path_bytes < 1280 { 2 } else { 1 });
        assert!(bench.mtu.packet_bytes() <= path_bytes, "{} on {path_bytes}", bench.mtu.packet_bytes());
        assert_eq!(bench.rounds(100), found);
        bench.path_bytes = 1500;
        assert_eq!(bench.rounds(700), 1500, "within a minute or so");
    }
}

#[test]
fn forged_reports_harm_nobody_whose_packets_arrive() {
    let mut bench = Bench::new(V4, 1500, 1500);
    assert_eq!(bench.rounds(20), 1500);
    for forged in [0, 68, 576, 600, 1280, 1499, 1500, 9000, u32::MAX] {
        bench.mtu.told(at(bench.now_ms), forged);
        assert_eq!(bench.rounds(3), 1500, "{forged}");
        // One packet of many is lost for other reasons.
        bench.mtu.lost(1500, at(bench.now_ms));
        assert!(!bench.mtu.conclude(at(bench.now_ms)), "{forged}");
        assert_eq!(bench.rounds(3), 1500, "{forged}");
    }
}

#[test]
fn a_router_shortens_the_proof_that_packets_vanish() {
    let mut bench = Bench::new(V4, 1500, 1500);
    bench.rounds(20);
    bench.mtu.told(at(5000), 1300);
    bench.mtu.lost(1500, at(5001));
    assert!(!bench.mtu.conclude(at(5002)));
    bench.mtu.lost(1500, at(5001));
    assert!(bench.mtu.conclude(at(5002)));
    assert_eq!(bench.mtu.packet_bytes(), 1300);
}

#[test]
fn losses_among_arrivals_are_no_black_hole_and_an_outage_raises_a_doubt_that_one_arrival_ends() {
    let mut bench = Bench::new(V4, 1500, 1500);
    bench.rounds(20);
    for loss in 0..1000 {
        bench.mtu.lost(1500, at(10_000 + loss));
        if loss % 4 == 3 {
            bench.mtu.arrived_full(at(10_000 + loss), 1);
            bench.mtu.arrived(at(10_000 + loss));
        }
        assert!(!bench.mtu.conclude(at(10_000 + loss)));
        assert_eq!(bench.mtu.new_bytes(), 1500);
    }
    (0..20).for_each(|_| bench.mtu.lost(1500, at(20_000)));
    assert!(!bench.mtu.conclude(at(20_000)));
    assert_eq!(bench.mtu.new_bytes(), 1500, "where four of five are lost, so are twenty in a row");
    (0..40).for_each(|_| bench.mtu.lost(1500, at(20_000)));
    assert!(!bench.mtu.conclude(at(20_000)), "as an outage looks");
    assert_eq!((bench.mtu.packet_bytes(), bench.mtu.new_bytes()), (1500, 1280));
    assert_eq!(bench.mtu.probe_due(at(20_000)), None);
    bench.mtu.arrived(at(20_000));
    assert!(!bench.mtu.conclude(at(20_001)));
    assert_eq!((bench.mtu.packet_bytes(), bench.mtu.new_bytes()), (1500, 1500));
}

#[test]
fn a_lost_probe_tells_less_where_more_is_lost_anyway() {
    for (lost, arrived, tries) in [(0, 100, 3), (20, 80, 3), (50, 50, 7), (90, 10, 44)] {
        let mut mtu = PathMtu::new(V4, 1500, None);
        mtu.arrived_full(at(2), arrived);
        mtu.arrived(at(2));
        (0..lost).for_each(|_| mtu.lost(1280, at(1)));
        (0..1_000_000).for_each(|_| mtu.count_sent(1280));
        let mut sent = 0;
        while mtu.probe_due(at(3)) == Some(1500) {
            mtu.probe_sent(1500);
            mtu.probe_lost(at(3), 1500);
            sent += 1;
        }
        assert_eq!(sent, tries, "{lost} of {}", lost + arrived);
    }
}

#[test]
fn what_this_machine_refuses_is_not_sent_again() {
    let mut mtu = PathMtu::new(V4, 1500, None);
    (0..1000).for_each(|_| mtu.count_sent(1280));
    mtu.probe_sent(1500);
    mtu.refused(at(0), 1500, Some(1400));
    assert_eq!((mtu.packet_bytes(), mtu.probe_due(at(0))), (1280, Some(1400)));
    mtu.probe_sent(1400);
    mtu.probe_acked(at(1), 1400);
    // The interface changes; the system names a size, or none, or an absurd one.
    for (told, then) in [(Some(1300), 1300), (None, 1280), (Some(68), 576), (Some(9000), 1280)] {
        let mut mtu = mtu.clone();
        mtu.refused(at(2), 1400, told);
        assert_eq!(mtu.packet_bytes(), then, "{told:?}");
        assert!(mtu.probe_due(at(2)).is_none_or(|probe| probe < 1400), "{told:?}");
    }
}

#[test]
fn packets_are_cut_that_are_too_large_by_now_or_need_not_prove_anything() {
    let mut mtu = PathMtu::new(V4, 1500, None);
    assert!(!mtu.may_fragment(1280, false) && mtu.may_fragment(1281, false));
    assert!(!mtu.may_fragment(576, true) && mtu.may_fragment(577, true));
    mtu.fall(0);
    assert!(mtu.may_fragment(576, false), "links below the least size cut it");
    let v6 = PathMtu::new(V6, 1500, None);
    assert!(!v6.may_fragment(1280, false) && !v6.may_fragment(1280, true) && v6.may_fragment(1281, true));
}

#[test]
fn probes_lost_by_chance_do_not_end_the_search_too_low() {
    let mut mtu = PathMtu::new(V4, 1500, None);
    (0..100_000).for_each(|_| mtu.count_sent(1280));
    for _ in 0..MAX_TRIES - 1 {
        assert_eq!(mtu.probe_due(at(0)), Some(1500));
        mtu.probe_sent(1500);
        mtu.probe_lost(at(0), 1500);
    }
    mtu.probe_sent(1500);
    mtu.probe_acked(at(0), 1500);
    assert_eq!((mtu.packet_bytes(), mtu.state()), (1500, MtuState::Complete));
    mtu.probe_lost(at(0), 1500); // late, or reordered
    assert_eq!(mtu.packet_bytes(), 1500);
}
