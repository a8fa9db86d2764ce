//! Lies to a sender that probes. A cycle must cost little, end when the truth is told, and not outlive
//! the connection's patience.

use skyhaul_core::{CloseReason, Connections, MS, SECOND, StreamEvent};
use skyhaul_stp::segment::{Opening, Report, Segment, Stat};
use skyhaul_stp::{Config, State};

use crate::peer::{Liar, opening};

/// Probes leave 40 ms apart at the least, or four in a round trip of 100 ms, and so do all other POLLs.
const POLLS_PER_SECOND: u64 = 40;

fn configs() -> [Config; 3] {
    let patient = |config| Config { give_up_ns: Some(600 * SECOND), ..config };
    let declared = Config { rate_bps: Some(1_000_000), ..Config::standard() };
    [patient(Config::standard()), patient(declared), patient(Config::paper())]
}

/// An engine that has sent several packets, has heard nothing for a while, and probes.
fn probed(config: Config) -> Liar {
    let mut liar = Liar::far_away(config, 100 * MS);
    for _ in 0..4 {
        liar.engine_writes(4_000); // several windows for profiles with a small one
        liar.wait(80 * MS);
        let honest = liar.stat(|report| report);
        liar.say(&honest);
    }
    liar.engine_writes(8_000);
    liar.wait(3 * SECOND);
    assert!(is_probing(&liar), "{:?}", liar.stats());
    liar
}

fn is_probing(liar: &Liar) -> bool {
    let stats = liar.stats();
    stats.probe_cycles > stats.probe_link + stats.probe_congestion + stats.probe_aborted
}

/// Lets the liar say what it likes about what it received, for so long, and holds it to what may leave
/// meanwhile. Returns the data packets that were sent.
fn lie_for(liar: &mut Liar, seconds: u64, mut lie: impl FnMut(Report) -> Report) -> u64 {
    let before = liar.stats();
    liar.converse(seconds * SECOND, |_, honest| {
        let stat = honest.stat.map(|stat| Stat { report: lie(stat.report), ..stat });
        Segment { stat, ..honest }
    });
    let after = liar.stats();
    let polls = after.polls - before.polls;
    assert!((1..=POLLS_PER_SECOND * (seconds + 1)).contains(&polls), "{polls} POLLs in {seconds} s");
    after.data_packets + after.retransmitted_packets - before.data_packets - before.retransmitted_packets
}

/// The truth ends the cycle, and new data gets through.
fn truth_helps(liar: &mut Liar) {
    liar.converse(2 * SECOND, |_, honest| honest);
    assert!(!is_probing(liar), "{:?}", liar.stats());
    let before = liar.stats().acknowledged_bytes;
    liar.engine_writes(3_000);
    liar.converse(2 * SECOND, |_, honest| honest);
    assert_eq!(liar.stats().acknowledged_bytes, before + 3_000);
}

/// Bound: a list that names only a packet which arrived neither ends a cycle nor lets data leave.
#[test]
fn a_list_that_is_never_empty_nor_valid_keeps_the_cycle_and_costs_its_probes() {
    for config in [Config::standard(), Config::paper()] {
        let mut liar = probed(config);
        // The last packet but one was received according to the first list; after that it never was.
        let first = |report: Report| Report { next: report.next - 3, runs: vec![1, 1, 1], ..report };
        let honest = liar.stat(first);
        liar.say(&honest);
        assert!(is_probing(&liar));
        let lie =
            |report: Report| Report { next: report.next - 3, start: 1, runs: vec![1], more: true, ..report };
        assert_eq!(lie_for(&mut liar, 120, lie), 0);
        assert!(is_probing(&liar));
        truth_helps(&mut liar);
    }
}

/// Bound: echoes of POLLs that were answered already, or never sent, give no verdict and no sample.
#[test]
fn old_and_future_echoes_end_no_cycle_and_measure_nothing() {
    for config in configs() {
        let mut liar = probed(config);
        let before = liar.stats();
        let old = liar.stat(|report| report).stat.map(|stat| stat.echo.wrapping_sub(1 << 20));
        for (echo, refused) in [(old.unwrap_or(0), false), (old.unwrap_or(0).wrapping_add(1 << 28), true)] {
            liar.converse(30 * SECOND, |_, honest| {
                let runs = vec![1];
                let stat = honest.stat.map(|stat| {
                    let report = Report { next: stat.report.next - 1, runs, ..stat.report };
                    Stat { echo, report, ..Stat::default() }
                });
                Segment { stat, ..honest }
            });
            let after = liar.stats();
            assert_eq!(after.rtt_smoothed_ns, before.rtt_smoothed_ns);
            assert_eq!(after.probe_cycles, before.probe_cycles);
            assert_eq!(after.refused > before.refused, refused);
            assert!(is_probing(&liar));
        }
        truth_helps(&mut liar);
    }
}

/// Bound: what was claimed to have arrived is gone from the buffer, and the sender goes on by its window.
#[test]
fn who_claims_that_everything_arrived_during_an_outage_gets_what_it_asked_for() {
    for config in configs() {
        let mut liar = probed(config);
        let acknowledged = liar.stats().acknowledged_bytes;
        let claim = liar.stat(|report| report);
        liar.say(&claim);
        assert!(!is_probing(&liar));
        let stats = liar.stats();
        assert_eq!((stats.in_flight_bytes, stats.probe_link, stats.probe_congestion), (0, 0, 0));
        assert!(stats.acknowledged_bytes > acknowledged);
        truth_helps(&mut liar);
    }
}

/// Bound: behind a window of 0 no new data leaves, in the cycle or after it, and it is asked for rarely.
#[test]
fn a_window_of_nothing_during_a_cycle_stays_closed_after_it() {
    for config in configs() {
        let mut liar = probed(config);
        let sent = liar.stats().data_packets;
        let gap = |report: Report| Report { next: report.next - 1, window_bytes: 0, runs: vec![1], ..report };
        liar.converse(3 * SECOND, |liar, _| liar.stat(gap));
        liar.converse(SECOND, |liar, _| liar.stat(|report| Report { window_bytes: 0, ..report }));
        assert!(!is_probing(&liar));
        liar.engine_writes(20_000);
        let polls = liar.stats().polls;
        liar.converse(120 * SECOND, |liar, _| liar.stat(|report| Report { window_bytes: 0, ..report }));
        let stats = liar.stats();
        assert_eq!(stats.data_packets, sent);
        assert!((3..40).contains(&(stats.polls - polls)), "{} POLLs", stats.polls - polls);
        liar.converse(60 * SECOND, |_, honest| honest);
        assert!(liar.stats().data_packets > sent);
    }
}

/// Bound: a thousand openings make no POLL more than the cycle does, and each with its own nonce gets a
/// BGNAK.
#[test]
fn openings_during_a_cycle_change_neither_its_pace_nor_its_end() {
    for config in configs() {
        let mut liar = probed(config);
        let (polls, heard) = (liar.stats().polls, liar.heard.len());
        for i in 0..1000u16 {
            let bgn = |nonce| Some(Opening { nonce, ..opening(1 << 20) });
            liar.say(&Segment { bgn: bgn(42), ..liar.blank.clone() });
            liar.say(&Segment { bgn: bgn(u64::MAX), instance: i | 0x8000, ..liar.blank.clone() });
            liar.wait(MS);
        }
        let answers = liar.heard[heard..].iter().filter(|heard| heard.segment.bgnak.is_some()).count();
        assert_eq!(answers, 1000);
        assert!(liar.stats().polls - polls <= POLLS_PER_SECOND, "{} POLLs", liar.stats().polls - polls);
        assert!(is_probing(&liar));
        truth_helps(&mut liar);
    }
}

/// Bound: a cycle lasts no longer than `give_up_ns` of silence. In ten minutes it sends 1500 probes with
/// back-off, ten a second without.
#[test]
fn patience_ends_during_a_cycle_as_at_any_other_time() {
    for (config, most) in configs().into_iter().zip([1_500, 1_500, 6_000]) {
        let mut liar = probed(config);
        let polls = liar.stats().polls;
        liar.wait(590 * SECOND);
        assert_eq!(liar.state(), Some(State::Established));
        assert!(liar.stats().polls - polls < most, "{}", liar.stats().polls - polls);
        liar.wait(11 * SECOND);
        assert_eq!(liar.state(), Some(State::Closed));
        let mut events = Vec::new();
        while let Some((_, event)) = liar.engine.poll_event() {
            events.push(event);
        }
        assert!(events.contains(&StreamEvent::Closed(Some(CloseReason::Silence))), "{events:?}");
    }
}
