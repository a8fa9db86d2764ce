//! Which answers count while a cycle lasts, and what its verdict covers afterwards.

use alloc::rc::Rc;
use core::cell::RefCell;

use super::*;
use crate::RetransmitRule;
use crate::segment::{Poll, Report, Segment, Stat, decode};
use skyhaul_core::{Connections, Engine, NetworkFields};

/// Segments that A has sent since the line was cut: enough to answer in the name of B.
#[derive(Default)]
struct Overheard {
    polls: Vec<Poll>,
    /// Number, ports and instance of the newest SD.
    newest: Segment<'static>,
}

/// Cuts the line and listens to A.
fn cut(bench: &mut Bench) -> Rc<RefCell<Overheard>> {
    let overheard = Rc::new(RefCell::new(Overheard::default()));
    let ears = Rc::clone(&overheard);
    bench.wire.clear();
    bench.drop = Box::new(move |side, sent| {
        let mut heard = ears.borrow_mut();
        if side == Side::A {
            heard.polls.extend(sent.poll);
        }
        if side == Side::A && sent.data.is_some() {
            let (source_port, destination_port) = (sent.source_port, sent.destination_port);
            let (number, instance) = (sent.number, sent.instance);
            heard.newest = Segment { source_port, destination_port, number, instance, ..Segment::default() };
        }
        true
    });
    overheard
}

impl Overheard {
    /// B says that everything before `next` has arrived, and that it misses the `gap` packets there: in
    /// a STAT if `poll` is given, or else in a USTAT.
    fn report(&self, bench: &mut Bench, poll: Option<Poll>, next: u32, gap: u32) {
        let runs = Vec::from_iter((gap > 0).then_some(gap));
        let report = Report { next, window_bytes: 1 << 20, runs, ..Report::default() };
        let stat = poll.map(|poll| Stat { echo: poll.timestamp, report: report.clone(), ..Stat::default() });
        let ustat = poll.is_none().then_some(report);
        let (source_port, destination_port) = (self.newest.destination_port, self.newest.source_port);
        let instance = self.newest.instance;
        let segment = Segment { source_port, destination_port, instance, stat, ustat, ..Segment::default() };
        let mut trace = core::mem::take(&mut bench.trace);
        let mut bytes = Vec::new();
        crate::segment::encode(&segment, &mut bytes);
        bench.a.handle(bench.now, Side::B.address(), NetworkFields::default(), &bytes, &mut trace);
        bench.trace = trace;
    }
}

/// One valid answer ends a cycle, and a packet is worth sending again one round trip after its last copy.
fn by_time() -> Config {
    Config { retransmit: RetransmitRule::RttElapsed, ..declared() }
}

#[test]
fn an_answer_that_lists_only_packets_which_had_no_time_is_left_alone() {
    let (mut bench, _) = streaming(&by_time());
    let line = cut(&mut bench);
    run_to_alarm(&mut bench);
    bench.run(5 * MS);
    let (probe, newest) = (*line.borrow().polls.last().unwrap(), line.borrow().newest.number);
    line.borrow().report(&mut bench, Some(probe), newest, 1);
    assert_eq!(ending(&bench), None, "the packet left a moment ago");
    bench.run(RTT_NS);
    let probe = *line.borrow().polls.last().unwrap();
    line.borrow().report(&mut bench, Some(probe), newest, 1);
    assert!(ending(&bench).is_some_and(|(_, verdict)| verdict.is_some()), "now it is lost");
}

#[test]
fn an_answer_that_lists_a_packet_which_waits_to_be_sent_again_is_valid() {
    let alarm_at = {
        let (mut bench, _) = streaming(&by_time());
        cut(&mut bench);
        run_to_alarm(&mut bench).0
    };
    let (mut bench, id) = streaming(&by_time());
    let line = cut(&mut bench);
    bench.run(alarm_at.since(bench.now) - MS);
    let newest = line.borrow().newest.number;
    line.borrow().report(&mut bench, None, newest - 9, 10);
    assert_eq!(bench.a.stats(id).unwrap().lost_packets.iter().sum::<u64>(), 10);
    run_to_alarm(&mut bench);
    bench.run(2 * MS);
    let probe = *line.borrow().polls.last().unwrap();
    line.borrow().report(&mut bench, Some(probe), newest, 1);
    assert!(ending(&bench).is_some_and(|(_, verdict)| verdict.is_some()));
}

#[test]
fn ustats_with_gaps_are_ignored_during_a_cycle_and_others_acknowledge() {
    let (mut bench, id) = streaming(&paper());
    let line = cut(&mut bench);
    run_to_alarm(&mut bench);
    let newest = line.borrow().newest.number;
    let acknowledged = |bench: &Bench| bench.a.stats(id).unwrap().acknowledged_bytes;
    let before = acknowledged(&bench);
    line.borrow().report(&mut bench, None, newest - 1, 1);
    assert_eq!((acknowledged(&bench), ending(&bench)), (before, None));
    line.borrow().report(&mut bench, None, newest, 0);
    assert!(acknowledged(&bench) > before);
    assert_eq!(ending(&bench), None, "one packet is open still");
    line.borrow().report(&mut bench, None, newest + 1, 0);
    assert_eq!(ending(&bench), Some((bench.now, None)), "nothing is left to ask about");
}

#[test]
fn an_answer_without_gaps_ends_a_cycle_even_if_not_everything_is_acknowledged() {
    let (mut bench, id) = streaming(&paper());
    let line = cut(&mut bench);
    run_to_alarm(&mut bench);
    bench.run(MS);
    let (probe, newest) = (*line.borrow().polls.last().unwrap(), line.borrow().newest.number);
    let before = cwnd(&bench, id);
    line.borrow().report(&mut bench, Some(probe), newest, 0);
    assert_eq!(ending(&bench), Some((bench.now, None)), "the newest packet is open still");
    assert!(cwnd(&bench, id) >= before);
    assert_eq!(bench.a.stats(id).unwrap().lost_packets, [0; 4]);
}

/// Packets missing when the second cycle ends were found lost by the first: only the cycle itself can tell
/// the controller.
#[test]
fn congestion_halves_the_window_even_if_all_that_is_missing_waits_to_be_sent_again() {
    let probing = Some(ProbingConfig { req_probes: 1, ..ProbingConfig::paper() });
    // Repeats leave one after the other, 5.5 ms apart.
    let slow = Some(1_500_000);
    let config = Config { probing, retransmit_within_window: true, max_rate_bps: slow, ..paper() };
    let (mut bench, id) = streaming(&config);
    let line = cut(&mut bench);
    run_to_alarm(&mut bench);
    let end = line.borrow().newest.number + 1;
    // Answers the first probe long after it was due: so many packets before `end` are missing.
    let congested = |bench: &mut Bench, missing| {
        assert_eq!(run_to_alarm(bench).1, Alarm::Silence);
        bench.run(MS);
        let probe = *line.borrow().polls.last().unwrap();
        bench.run(2 * RTT_NS + 10 * MS);
        line.borrow().report(bench, Some(probe), end - missing, missing);
        assert_eq!(ending(bench).map(|(_, verdict)| verdict), Some(Some(Verdict::Congestion)));
        (cwnd(bench, id), bench.a.stats(id).unwrap().lost_packets)
    };
    let (first, lost) = congested(&mut bench, 40);
    assert_eq!(lost, [40, 0, 0, 0]);
    // The next probe has been without an answer for so long that a cycle begins while they wait.
    bench.trace.clear();
    let (second, lost) = congested(&mut bench, 1);
    assert_eq!(lost, [40, 0, 0, 0], "nothing new");
    assert!((first / 2..first / 2 + 1000).contains(&second), "{first} to {second} bytes");
}

#[test]
fn packets_sent_before_the_end_of_a_cycle_and_found_lost_later_share_its_verdict() {
    // The answer to a POLL from before the alarm is enough: it does not cover what left after that POLL.
    let config =
        Config { probing: Some(ProbingConfig { req_probes: 1, ..ProbingConfig::paper() }), ..paper() };
    let (mut bench, id) = streaming(&config);
    lose_data(&mut bench, 1);
    run_to_alarm(&mut bench);
    let is_data = |flight: &Flight| flight.to == Side::B && decode(&flight.bytes).unwrap().data.is_some();
    let last = bench.wire.iter().rposition(is_data).expect("data is under way");
    bench.wire.remove(last);
    bench.run(4 * RTT_NS);
    let (ended_at, verdict) = ending(&bench).unwrap();
    assert_eq!(verdict, Some(Verdict::Corruption));
    let lost_at = |&(at, _, event): &(Instant, u64, Event)| match event {
        Event::Lost { verdict, .. } => Some((at > ended_at, verdict)),
        _ => None,
    };
    let lost: Vec<_> = bench.trace.iter().filter_map(lost_at).collect();
    assert_eq!(lost, [(false, Verdict::Corruption), (true, Verdict::Corruption)]);
    assert_eq!(bench.a.stats(id).unwrap().probe_cycles, 1);
    finish(&mut bench, id);
}

#[test]
fn what_leaves_at_the_very_instant_of_a_verdict_is_not_judged_by_it() {
    // A simulator sends at once; on a real machine a packet always leaves a little later.
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 1);
    run_to_alarm(&mut bench);
    let ended_at = loop {
        if let Some((at, _)) = ending(&bench) {
            break at;
        }
        bench.run(MS);
    };
    assert!(!sent(&bench, SD, ended_at, ended_at.after(1)).is_empty(), "data leaves at that instant");
    let is_data = |flight: &Flight| flight.to == Side::B && decode(&flight.bytes).unwrap().data.is_some();
    let first = bench.wire.iter().position(is_data).expect("data is under way");
    bench.wire.remove(first);
    bench.run(4 * RTT_NS);
    assert_eq!(bench.a.stats(id).unwrap().probe_cycles, 2);
    finish(&mut bench, id);
}

#[test]
fn losses_before_the_first_round_trip_have_no_verdict_and_cost_no_window() {
    let mut bench = Bench::with(paper(), 1);
    let id = bench.open_with(paper());
    let line = cut(&mut bench);
    bench.a.write(id, &vec![7; 200_000]).unwrap();
    bench.run(RTT_NS);
    let (newest, before) = (line.borrow().newest.number, cwnd(&bench, id));
    line.borrow().report(&mut bench, None, newest - 9, 5);
    let stats = bench.a.stats(id).unwrap();
    assert_eq!((stats.lost_packets, stats.probe_cycles), ([0, 0, 0, 5], 0));
    assert!(stats.cwnd_bytes >= before, "{before} to {} bytes", stats.cwnd_bytes);
}
