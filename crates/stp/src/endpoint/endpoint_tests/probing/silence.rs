//! When answers are late, and when they are so late that it is called silence.

use super::*;

/// A connection under window control with these parameters of probing; POLLs are timed, or ride on the
/// last packet of each burst if the window counts as small.
fn under_way(probing: ProbingConfig, small_window: bool) -> Bench {
    let small_window_packets = if small_window { 1000 } else { 0 };
    streaming(&Config { probing: Some(probing), small_window_packets, ..paper() }).0
}

/// Smoothed round-trip time and deviation.
fn estimate_ns(bench: &Bench) -> (u64, u64) {
    let known = |&(_, _, event): &(Instant, u64, Event)| match event {
        Event::Rtt { smoothed_ns, variance_ns, .. } => Some((smoothed_ns, variance_ns)),
        _ => None,
    };
    bench.trace.iter().rev().find_map(known).expect("a round trip was measured")
}

/// From now on a round trip takes `late_ns` longer, also for what is on its way. Gives what started a cycle
/// before the next answers came.
fn answers_late_by(mut bench: Bench, late_ns: u64) -> Option<Alarm> {
    for flight in &mut bench.wire {
        let rest_ns = if flight.to == Side::A { late_ns } else { late_ns / 2 };
        flight.at = flight.at.after(rest_ns);
    }
    bench.delay_ns += late_ns / 2;
    bench.run(RTT_NS + late_ns);
    alarm(&bench).map(|(_, alarm)| alarm)
}

#[test]
fn an_answer_may_be_late_by_some_deviations() {
    let alarm = |late_deviations, late_ns| {
        let probing = ProbingConfig { late_deviations, ..ProbingConfig::paper() };
        let mut bench = under_way(probing, false);
        bench.run(100 * MS);
        let (smoothed_ns, variance_ns) = estimate_ns(&bench);
        assert!(smoothed_ns / 3 < 70 * MS && 70 * MS < 4 * variance_ns && 4 * variance_ns < 100 * MS);
        answers_late_by(bench, late_ns)
    };
    assert_eq!(alarm(0, 60 * MS), None, "less than the interval of POLLs");
    assert_eq!(alarm(0, 70 * MS), Some(Alarm::Silence));
    assert_eq!(alarm(4, 70 * MS), None);
    assert_eq!(alarm(4, 100 * MS), Some(Alarm::Silence));
}

#[test]
fn while_the_window_is_small_an_answer_may_always_be_late_by_four_deviations() {
    let alarm = |late_ns| {
        let mut bench = under_way(ProbingConfig::paper(), true);
        bench.run(3 * RTT_NS);
        let (smoothed_ns, variance_ns) = estimate_ns(&bench);
        assert!(smoothed_ns / 3 < 70 * MS && 70 * MS < 4 * variance_ns && 4 * variance_ns < 100 * MS);
        answers_late_by(bench, late_ns)
    };
    assert_eq!(alarm(70 * MS), None, "POLLs that ride on bursts have no interval");
    assert_eq!(alarm(100 * MS), Some(Alarm::Silence));
}

/// The way grows longer all the time: the oldest POLL is overdue, but an answer to one before has just come.
#[test]
fn while_answers_come_the_oldest_poll_may_be_overdue() {
    let probing = ProbingConfig { late_intervals: 2, ..ProbingConfig::paper() };
    let polls_per_rtt = 10;
    let (mut bench, _) =
        streaming(&Config { probing: Some(probing), polls_per_rtt, small_window_packets: 0, ..paper() });
    bench.run(2 * RTT_NS);
    let mut smoothed_ns = estimate_ns(&bench).0;
    bench.trace.clear();
    for _ in 0..200 {
        bench.delay_ns += MS;
        bench.run(4 * MS);
    }
    let mut overdue = 0;
    for &(_, _, event) in &bench.trace {
        if let Event::Rtt { sample_ns, smoothed_ns: next_ns, .. } = event {
            overdue += u32::from(sample_ns > smoothed_ns + 2 * smoothed_ns / polls_per_rtt);
            smoothed_ns = next_ns;
        }
    }
    assert!(overdue > 5, "{overdue} answers were later than two intervals");
    assert_eq!(alarm(&bench), None);
}
