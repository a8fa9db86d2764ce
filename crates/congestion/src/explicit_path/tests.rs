use skyhaul_core::{HeaderTime, Interval, MS};

use super::*;

const LOOP_NS: u64 = 800 * MS;
const START: PathStart = PathStart { mss_bytes: 1400, first_window_bytes: 14_000, remembered: None };

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

fn feedback(bytes_per_s: i32, routers: u8) -> PathFeedback {
    PathFeedback { bytes_per_s, routers, loop_ns: LOOP_NS }
}

fn ruled(answer: LossAnswer, bytes_per_s: i32) -> ExplicitPath {
    let mut path = ExplicitPath::new(START, answer);
    path.on_feedback(at(0), &feedback(bytes_per_s - 17_500, 1));
    path
}

/// Half a round trip of what was sent at `sent_bps` octets a second, of which `arrived` arrived, and a mark
/// behind it that waited.
fn sample(ms: u64, sent_bytes: u64, arrived_bytes: u64, waited_ms: u64) -> (Instant, PathSample) {
    let long = Interval { sent_ns: 300 * MS, sent_bytes, arrived_ns: 300 * MS, arrived_bytes };
    let (sent_at, waited_ns) = (at(ms), waited_ms * MS);
    let sample = PathSample {
        sent_at,
        arrived_ns: sent_at.as_ns() + 300 * MS + waited_ns,
        rtt_ns: 600 * MS + waited_ns,
        long: Some(long),
        train: None,
        behind_train: false,
        since_bytes: 0,
    };
    (at(ms + 600 + waited_ms), sample)
}

#[test]
fn the_first_rate_is_the_first_window_in_a_loop() {
    let mut path = ExplicitPath::new(START, LossAnswer::Keep);
    assert_eq!((path.phase(), path.window_bytes(), path.asks()), (Phase::Measuring, 14_000, true));
    assert_eq!(path.name(), "p-xcp");
    let nothing = Demand { loop_ns: None, packet_bytes: 1500, wanted_bytes: u64::MAX };
    assert_eq!(path.ask(at(0), &nothing), PathHeader::default());
    path.on_feedback(at(0), &feedback(0, 1));
    assert_eq!((path.rate_bps(), path.phase()), (17_500 * 8, Phase::Explicit));
    let demand = Demand { loop_ns: Some(LOOP_NS), packet_bytes: 1400, wanted_bytes: 28_000 };
    let header = path.ask(at(1), &demand);
    assert_eq!(header.inter_packet, HeaderTime::from_ns(80 * MS));
    assert_eq!(header.rtt, HeaderTime::from_ns(LOOP_NS));
    // 14 000 octets more in each loop, in ten parts.
    assert_eq!(header.delta_bytes_per_s, 1750);
}

#[test]
fn feedback_changes_the_rate_down_to_a_packet_a_loop() {
    let mut path = ruled(LossAnswer::Keep, 100_000);
    path.on_feedback(at(1), &feedback(50_000, 3));
    assert_eq!(path.rate_bps(), 1_200_000);
    path.on_feedback(at(2), &feedback(i32::MIN, 3));
    assert_eq!(path.rate_bps(), 1750 * 8);
}

#[test]
fn what_is_not_used_goes_by_half_in_a_loop() {
    let mut path = ruled(LossAnswer::Keep, 1_000_000);
    let demand = Demand { loop_ns: Some(LOOP_NS), packet_bytes: 1000, wanted_bytes: 0 };
    for ms in (0..=800).step_by(2) {
        path.ask(at(ms), &demand); // half of it
    }
    let kept = path.rate_bps() / 8;
    assert!((745_000..756_000).contains(&kept), "{kept}");
    path.ask(at(100_000), &demand);
    assert_eq!(path.rate_bps(), 17_500 * 8, "no less than the first window");
    let mut full = ruled(LossAnswer::Keep, 1_000_000);
    for ms in 0..5000 {
        full.ask(at(ms), &demand);
    }
    assert_eq!(full.rate_bps(), 8_000_000);
}

#[test]
fn a_loss_is_xcps_once_in_a_round_trip_and_never_p_xcps() {
    let [mut xcp, mut p_xcp] = [LossAnswer::Reduce, LossAnswer::Keep].map(|answer| ruled(answer, 800_000));
    for path in [&mut xcp, &mut p_xcp] {
        path.on_lost(at(1000), at(400));
        path.on_lost(at(1100), at(900));
    }
    assert_eq!([xcp.rate_bps(), p_xcp.rate_bps()], [3_200_000, 6_400_000]);
    xcp.on_lost(at(1700), at(1050));
    assert_eq!(xcp.rate_bps(), 1_600_000);
    for path in [&mut xcp, &mut p_xcp] {
        path.on_outage(at(2000));
    }
    assert_eq!([xcp.rate_bps(), p_xcp.rate_bps()], [140_000, 3_200_000]);
}

#[test]
fn without_a_router_the_model_decides_from_the_begin() {
    let mut path = ExplicitPath::new(START, LossAnswer::Keep);
    let mut model = RememberedStart::new(START.mss_bytes, START.first_window_bytes, None);
    path.on_feedback(at(600), &feedback(0, 0));
    assert_eq!((path.ruled_by(), path.asks()), (Some(RuledBy::NoRouter), false));
    assert_eq!(path.name(), "model", "what is told of a transfer, too");
    for ms in (0..4000).step_by(200) {
        let (now, sample) = sample(ms, 60_000, 40_000, 0);
        path.on_sample(now, &sample);
        model.on_sample(now, &sample);
        assert_eq!((path.rate_bps(), path.window_bytes()), (model.rate_bps(), model.window_bytes()));
    }
    path.on_feedback(at(9000), &feedback(1_000_000, 1));
    assert_eq!(path.ruled_by(), Some(RuledBy::NoRouter), "for good");
}

#[test]
fn routers_that_are_gone_leave_the_rate() {
    let mut path = ruled(LossAnswer::Keep, 300_000);
    path.on_feedback(at(1000), &feedback(0, 0));
    assert_eq!(path.ruled_by(), Some(RuledBy::NoRouter));
    assert_eq!(path.rate_bps(), 2_400_000);
}

#[test]
fn a_queue_that_no_router_sees_is_behind_the_last_one() {
    let mut path = ruled(LossAnswer::Keep, 300_000);
    let report = |path: &mut ExplicitPath, ms, waited_ms| {
        let (now, sample) = sample(ms, 90_000, 60_000, waited_ms);
        path.on_sample(now, &sample);
        path.ruled_by()
    };
    for ms in (0..3000).step_by(200) {
        assert_eq!(report(&mut path, ms, 0), Some(RuledBy::Routers));
    }
    // 16 packets take 75 ms.
    for ms in (3000..9000).step_by(200) {
        assert_eq!(report(&mut path, ms, 70), Some(RuledBy::Routers), "no longer than a router's");
    }
    let found = (9000..20_000).step_by(200).find(|&ms| report(&mut path, ms, 200) != Some(RuledBy::Routers));
    assert_eq!(path.ruled_by(), Some(RuledBy::QueueBehind));
    assert!((12_000..12_800).contains(&found.unwrap()), "after four loops: {found:?}");
    assert!((1_300_000..1_800_000).contains(&path.rate_bps()), "about what arrives: {}", path.rate_bps());
}

/// A delay that is longer from some moment on, by a handover, say: all arrives in the time in which it left.
#[test]
fn a_path_that_becomes_longer_has_no_queue() {
    for lost_bytes in [0, 10_000] {
        let mut path = ruled(LossAnswer::Keep, 300_000);
        for ms in (0..30_000).step_by(200) {
            let (now, sample) = sample(ms, 90_000, 90_000 - lost_bytes, if ms < 3000 { 0 } else { 200 });
            path.on_sample(now, &sample);
            assert_eq!(path.ruled_by(), Some(RuledBy::Routers), "{ms}, {lost_bytes} lost");
        }
    }
}

#[test]
fn a_queue_that_a_router_answers_is_its_own() {
    let mut path = ruled(LossAnswer::Keep, 300_000);
    for step in 0..60 {
        let (now, sample) = sample(step * 200, 90_000, 60_000, if step < 10 { 0 } else { 300 });
        path.on_sample(now, &sample);
        path.on_feedback(now, &feedback(-3000, 1));
        assert_eq!(path.ruled_by(), Some(RuledBy::Routers), "{step}");
    }
}

/// A queue that grows as long as the time that goes by makes the loop longer than that, too: four of those
/// that it had when the queue was seen first are four.
#[test]
fn a_queue_that_grows_with_the_loop_is_found_by_the_loop_of_before() {
    let mut path = ruled(LossAnswer::Keep, 300_000);
    let mut report = |ms: u64, waited_ms: u64| {
        let (now, sample) = sample(ms, 90_000, 60_000, waited_ms);
        let loop_ns = LOOP_NS + 4 * waited_ms * MS / 3;
        path.on_feedback(now, &PathFeedback { bytes_per_s: 1000, routers: 1, loop_ns });
        path.on_sample(now, &sample);
        path.ruled_by() == Some(RuledBy::QueueBehind)
    };
    assert!(!(0..3000).step_by(200).any(|ms| report(ms, 0)));
    let found = (3000..20_000).step_by(200).find(|&ms| report(ms, ms - 2900));
    // Seen at 4.1 s, with a loop of 1.2 s; at 8.9 s the mark of 5.6 s is told of.
    assert_eq!(found, Some(5600));
}

/// A router that sees the queue at the end of its swing takes no more than what it has just added.
#[test]
fn a_router_that_swings_about_a_queue_sees_it() {
    let mut path = ruled(LossAnswer::Keep, 300_000);
    for step in 0..40 {
        let (now, sample) = sample(step * 200, 90_000, 60_000, if step < 10 { 0 } else { 80 });
        path.on_feedback(now, &feedback(if step < 22 { 700 } else { -1500 }, 1));
        path.on_sample(now, &sample);
        assert_eq!(path.ruled_by(), Some(RuledBy::Routers), "{step}");
    }
}

/// Of XCP each loss takes a half, of whatever queue.
#[test]
fn a_rate_that_a_loss_lowers_shows_no_router() {
    let mut path = ruled(LossAnswer::Reduce, 300_000);
    let found = (0..10_000).step_by(200).find(|&ms| {
        let (now, sample) = sample(ms, 90_000, 60_000, if ms < 2000 { 0 } else { 1500 });
        if ms % 1000 == 0 && ms >= 3000 {
            path.on_lost(now, now);
        }
        path.on_sample(now, &sample);
        path.ruled_by() == Some(RuledBy::QueueBehind)
    });
    assert!(found.is_some_and(|ms| ms < 6000), "{found:?}");
}

/// The fourth halving beside three packets that wait, while a fifth is lost, shows a queue that no router
/// sees. Noise meets no queue, what a router shares out passes what it carries by less, and a router takes
/// some.
#[test]
fn halvings_beside_packets_that_wait_show_a_short_queue_that_no_router_sees() {
    let found = |waited_ms: u64, arrived_bytes: u64, told_bytes_per_s: i32| {
        let mut path = ruled(LossAnswer::Reduce, 300_000);
        (0..12_000).step_by(200).find(|&ms| {
            let (now, sample) = sample(ms, 90_000, arrived_bytes, if ms < 2000 { 0 } else { waited_ms });
            path.on_feedback(now, &feedback(told_bytes_per_s, 1));
            path.on_sample(now, &sample);
            if ms % 1000 == 0 && ms >= 3000 {
                path.on_lost(now, now);
            }
            path.ruled_by() == Some(RuledBy::QueueBehind)
        })
    };
    assert_eq!(found(30, 70_000, 20_000), Some(6200));
    assert_eq!([found(0, 70_000, 20_000), found(30, 78_000, 20_000), found(30, 70_000, -2000)], [None; 3]);
}

/// A queue of 400 ms and a packet's 4 ms make a loop of 800 ms half as long again, so that two thirds of what
/// was granted leave a second, until the queue has gone. Neither a single mark nor a packet shows one.
#[test]
fn what_was_granted_for_a_loop_leaves_in_the_time_that_it_takes() {
    let mut path = ruled(LossAnswer::Keep, 350_000);
    let waits_ms = [0, 4, 4, 404, 404, 0];
    let paced = waits_ms.into_iter().enumerate().map(|(step, waited_ms)| {
        let (now, sample) = sample(200 * step as u64, 90_000, 60_000, waited_ms);
        path.on_sample(now, &sample);
        path.rate_bps() / 8
    });
    assert!(paced.eq([350_000, 350_000, 350_000, 350_000, 233_333, 350_000]));
}

/// What a queue holds back is no rate that was not used, and the header tells the pace.
#[test]
fn a_pace_that_a_queue_lowers_is_used_and_told() {
    let mut path = ruled(LossAnswer::Keep, 1_400_000);
    for step in 0..3 {
        let (now, sample) = sample(200 * step, 90_000, 60_000, if step == 0 { 0 } else { 801 });
        path.on_sample(now, &sample);
    }
    let demand = Demand { loop_ns: Some(LOOP_NS), packet_bytes: 1400, wanted_bytes: 0 };
    for ms in (0..8000).step_by(2) {
        let header = path.ask(at(2000 + ms), &demand);
        assert_eq!(header.inter_packet, HeaderTime::from_ns(2 * MS));
    }
    assert_eq!(path.rate_bps(), 5_600_000, "half of what was granted");
}
