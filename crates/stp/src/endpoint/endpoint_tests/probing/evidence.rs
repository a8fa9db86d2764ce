//! The end of a cycle tells all that its verdict was decided by.

use super::*;

/// The first end of a cycle.
fn end(bench: &Bench) -> Event {
    let ended = bench.trace.iter().find(|(_, _, event)| matches!(event, Event::ProbeEnded { .. }));
    ended.expect("a cycle has ended").2
}

#[test]
fn damage_is_told_with_the_round_trips_and_the_gaps_that_decided() {
    let (mut bench, _) = streaming(&paper());
    lose_data(&mut bench, 3);
    run_to_alarm(&mut bench);
    bench.run(3 * RTT_NS);
    let Event::ProbeEnded { verdict, silent_probes, rtts_ns, worst_rtt_ns, alarm_rtt_ns, .. } = end(&bench)
    else {
        unreachable!("`end` gives nothing else")
    };
    assert_eq!((verdict, silent_probes), (Some(Verdict::Corruption), 0));
    assert_eq!((rtts_ns, worst_rtt_ns, alarm_rtt_ns), ([RTT_NS, RTT_NS, 0, 0], RTT_NS, RTT_NS));
    let Event::ProbeEnded { missing_packets, listed_packets, row_packets, row_duration_ns, .. } = end(&bench)
    else {
        unreachable!("`end` gives nothing else")
    };
    assert_eq!((missing_packets, row_packets), (3, 3));
    assert!(listed_packets > 10, "{listed_packets} packets");
    assert!(row_duration_ns < RTT_NS, "{row_duration_ns} ns");
}

#[test]
fn an_outage_is_told_with_the_questions_and_the_packets_that_vanished() {
    let (mut bench, _) = streaming(&declared());
    lose_everything(&mut bench);
    run_to_alarm(&mut bench);
    bench.run(SECOND);
    heal(&mut bench);
    bench.run(2 * RTT_NS);
    let Event::ProbeEnded { verdict, probes, silent_probes, rtts_ns, row_packets, missing_packets, .. } =
        end(&bench)
    else {
        unreachable!("`end` gives nothing else")
    };
    assert_eq!(verdict, Some(Verdict::Outage));
    assert!(silent_probes > 10 && silent_probes < probes, "{silent_probes} of {probes}");
    assert_eq!(rtts_ns, [RTT_NS, 0, 0, 0], "one answer is enough under a declared rate");
    assert!(row_packets > 8 && row_packets == missing_packets, "{row_packets} of {missing_packets}");
}

#[test]
fn a_false_alarm_has_nothing_that_decided() {
    let (mut bench, _) = streaming(&paper());
    for flight in &mut bench.wire {
        flight.at = flight.at.after(RTT_NS);
    }
    bench.delay_ns = DELAY_NS + RTT_NS / 2;
    run_to_alarm(&mut bench);
    bench.run(2 * RTT_NS);
    let Event::ProbeEnded { verdict, rtts_ns, worst_rtt_ns, missing_packets, alarm_rtt_ns, .. } = end(&bench)
    else {
        unreachable!("`end` gives nothing else")
    };
    assert_eq!((verdict, rtts_ns, worst_rtt_ns, missing_packets), (None, [0; 4], 0, 0));
    assert!(alarm_rtt_ns >= RTT_NS, "{alarm_rtt_ns} ns");
}
