//! Probing in a connection [XSTP 4]: what starts a cycle, what waits meanwhile, what each verdict
//! changes.

mod answers;
mod evidence;
mod silence;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::event::{Alarm, Repeat};
use skyhaul_core::{ConnectionId, Connections, Event, Instant, MS, SECOND, Verdict};

use super::bench::*;
use crate::segment::types::{POLL, SD};
use crate::{Config, ProbingConfig};

/// The constants of the papers, with a window that timer POLLs go with and room for it.
fn paper() -> Config {
    let room = 1 << 20;
    Config {
        initial_window_packets: 40,
        send_limit_bytes: room,
        receive_limit_bytes: room,
        early_window_bytes: room,
        ..Config::paper()
    }
}

fn declared() -> Config {
    Config { rate_bps: Some(2_000_000), ..Config::standard() }
}

/// A connection that knows its round-trip time and has plenty to send.
fn streaming(config: &Config) -> (Bench, ConnectionId) {
    let mut bench = Bench::with(config.clone(), 1);
    let id = bench.open_with(config.clone());
    bench.a.write(id, b"hello").unwrap();
    bench.run(2 * SECOND);
    let data = vec![7; 400_000];
    assert!(bench.a.write(id, &data).unwrap() > 100_000);
    bench.run(2 * RTT_NS + 10 * MS);
    bench.trace.clear();
    (bench, id)
}

/// Drops the next `count` SDs, from now on.
fn lose_data(bench: &mut Bench, count: usize) {
    let mut left = count;
    bench.drop = Box::new(move |side, segment| {
        let hit = side == Side::A && segment.data.is_some() && left > 0;
        left -= usize::from(hit);
        hit
    });
}

fn lose_everything(bench: &mut Bench) {
    bench.drop = Box::new(|_, _| true);
    bench.wire.clear();
}

fn heal(bench: &mut Bench) {
    bench.drop = Box::new(|_, _| false);
}

/// Runs until the first cycle has begun.
fn run_to_alarm(bench: &mut Bench) -> (Instant, Alarm) {
    for _ in 0..2000 {
        if let Some(found) = alarm(bench) {
            return found;
        }
        bench.run(MS);
    }
    panic!("no cycle began");
}

fn alarm(bench: &Bench) -> Option<(Instant, Alarm)> {
    bench.trace.iter().find_map(|&(at, _, event)| match event {
        Event::ProbeStarted { alarm, .. } => Some((at, alarm)),
        _ => None,
    })
}

/// When the first cycle ended, and what it found.
fn ending(bench: &Bench) -> Option<(Instant, Option<Verdict>)> {
    bench.trace.iter().find_map(|&(at, _, event)| match event {
        Event::ProbeEnded { verdict, .. } => Some((at, verdict)),
        _ => None,
    })
}

/// Segments of A in [from, to) with one of these type bits: time and why their data goes again.
fn sent(bench: &Bench, bits: u8, from: Instant, to: Instant) -> Vec<(Instant, Option<Repeat>)> {
    let wanted = |&(at, _, event): &(Instant, u64, Event)| match event {
        Event::Sent { types, repeat, .. } if types & bits != 0 && from <= at && at < to => Some((at, repeat)),
        _ => None,
    };
    bench.trace.iter().filter_map(wanted).collect()
}

fn cwnd(bench: &Bench, id: ConnectionId) -> u64 {
    bench.a.stats(id).unwrap().cwnd_bytes
}

fn finish(bench: &mut Bench, id: ConnectionId) {
    heal(bench);
    bench.a.finish(id);
    bench.run(60 * SECOND);
    assert_eq!(bench.received(1).len() as u64, bench.a.stats(id).unwrap().acknowledged_bytes);
    assert!(bench.received(1)[5..].iter().all(|&byte| byte == 7));
}

#[test]
fn a_validated_gap_starts_a_cycle_and_data_waits_for_its_end() {
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 1);
    let (from, alarm) = run_to_alarm(&mut bench);
    assert_eq!(alarm, Alarm::Gap);
    bench.run(3 * RTT_NS);
    let (to, verdict) = ending(&bench).unwrap();
    assert_eq!(verdict, Some(Verdict::Corruption));
    assert_eq!(sent(&bench, SD, from, to), [], "neither new data nor repeats");
    finish(&mut bench, id);
}

#[test]
fn the_gaps_of_the_last_report_go_again_when_the_cycle_ends() {
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 3);
    run_to_alarm(&mut bench);
    bench.run(3 * RTT_NS);
    let (to, _) = ending(&bench).unwrap();
    let after = sent(&bench, SD, to, Instant::MAX);
    let repeats: Vec<_> = after.iter().take(3).map(|&(_, repeat)| repeat).collect();
    assert_eq!(repeats, [Some(Repeat::Stat); 3]);
    assert_eq!(bench.a.stats(id).unwrap().lost_packets, [0, 3, 0, 0]);
    finish(&mut bench, id);
}

#[test]
fn a_link_verdict_leaves_the_window_as_it_was() {
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 2);
    run_to_alarm(&mut bench);
    let before = cwnd(&bench, id);
    bench.run(3 * RTT_NS);
    let (to, verdict) = ending(&bench).unwrap();
    assert_eq!(verdict, Some(Verdict::Corruption));
    assert!(cwnd(&bench, id) >= before);
    let burst = sent(&bench, SD, to, to.after(MS)).len();
    let round = sent(&bench, SD, to, to.after(RTT_NS)).len();
    assert!(burst * 4 < round, "{burst} of {round} packets leave at once: not paced");
    finish(&mut bench, id);
}

#[test]
fn longer_round_trips_halve_the_window() {
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 2);
    run_to_alarm(&mut bench);
    let mut before = cwnd(&bench, id);
    bench.delay_ns = DELAY_NS * 2;
    bench.wire.clear(); // what was on its way would have come in time
    while ending(&bench).is_none() {
        before = cwnd(&bench, id);
        bench.run(MS);
    }
    assert_eq!(ending(&bench).unwrap().1, Some(Verdict::Congestion));
    let acknowledged_meanwhile = 40_000;
    let after = cwnd(&bench, id);
    assert!((before..before + acknowledged_meanwhile).contains(&(2 * after)), "{before} to {after}");
    finish(&mut bench, id);
}

#[test]
fn congestion_after_a_cycle_as_long_as_an_idle_time_restarts_slow_start() {
    let (mut bench, id) = streaming(&paper());
    lose_everything(&mut bench);
    run_to_alarm(&mut bench);
    let before = cwnd(&bench, id);
    bench.run(11 * SECOND);
    heal(&mut bench);
    bench.delay_ns = DELAY_NS * 3 / 2;
    while ending(&bench).is_none() {
        bench.run(MS);
    }
    assert_eq!(ending(&bench).unwrap().1, Some(Verdict::Congestion));
    let first_window = 40 * 1000;
    assert!(before / 2 > first_window, "{before} bytes");
    assert_eq!(cwnd(&bench, id), first_window, "what is found lost now was judged: it halves nothing");
    finish(&mut bench, id);
}

#[test]
fn silence_starts_a_cycle_within_one_round_trip_after_the_answer_was_due() {
    let (mut bench, id) = streaming(&paper());
    let gone = bench.now;
    lose_everything(&mut bench);
    let (at, alarm) = run_to_alarm(&mut bench);
    assert_eq!(alarm, Alarm::Silence);
    assert!(at.since(gone) <= 2 * RTT_NS, "{} ms", at.since(gone) / MS);
    assert_eq!(sent(&bench, SD, at, Instant::MAX), []);
    finish(&mut bench, id);
}

#[test]
fn an_empty_gap_list_ends_a_false_alarm_at_the_old_rate() {
    let (mut bench, id) = streaming(&paper());
    for flight in &mut bench.wire {
        if flight.to == Side::A {
            flight.at = flight.at.after(RTT_NS); // answers are late, nothing is lost
        }
    }
    bench.delay_ns = DELAY_NS + RTT_NS / 2;
    let (_, alarm) = run_to_alarm(&mut bench);
    assert_eq!(alarm, Alarm::Silence);
    let before = cwnd(&bench, id);
    bench.run(2 * RTT_NS);
    assert_eq!(ending(&bench).unwrap().1, None);
    assert!(cwnd(&bench, id) >= before);
    assert!(bench.a.stats(id).unwrap().probe_aborted > 0);
    finish(&mut bench, id);
}

#[test]
fn probes_leave_once_a_round_trip_and_normal_polling_returns() {
    let (mut bench, id) = streaming(&paper());
    lose_everything(&mut bench);
    let (from, _) = run_to_alarm(&mut bench);
    bench.run(20 * RTT_NS);
    let probes = sent(&bench, POLL, from, Instant::MAX);
    assert!((19..=21).contains(&probes.len()), "{} probes in twenty round trips", probes.len());
    heal(&mut bench);
    bench.run(8 * RTT_NS);
    let (to, _) = ending(&bench).unwrap();
    let polls = sent(&bench, POLL, to, to.after(3 * RTT_NS));
    assert!(polls.len() >= 6, "{} POLLs in three round trips", polls.len());
    finish(&mut bench, id);
}

#[test]
fn acknowledgements_move_the_window_while_probing() {
    let (mut bench, id) = streaming(&paper());
    lose_data(&mut bench, 1);
    let (from, _) = run_to_alarm(&mut bench);
    bench.run(3 * RTT_NS);
    let (to, _) = ending(&bench).unwrap();
    let acknowledged = |&(at, _, event): &(Instant, u64, Event)| {
        matches!(event, Event::Acknowledged { .. }) && from < at && at <= to
    };
    assert!(bench.trace.iter().any(acknowledged));
    finish(&mut bench, id);
}

#[test]
fn without_probing_nothing_is_asked_and_every_loss_is_congestion() {
    let (mut bench, id) = streaming(&Config { probing: None, ..paper() });
    let before = cwnd(&bench, id);
    lose_data(&mut bench, 2);
    bench.run(3 * RTT_NS);
    let stats = bench.a.stats(id).unwrap();
    assert_eq!((stats.probe_cycles, stats.probes), (0, 0));
    assert_eq!(stats.lost_packets, [2, 0, 0, 0]);
    assert!(stats.cwnd_bytes < before);
    finish(&mut bench, id);
}

#[test]
fn the_receiver_need_not_know_of_probing() {
    let mut bench = Bench::with(Config { probing: None, ..paper() }, 1);
    let id = bench.open_with(paper());
    bench.a.write(id, &vec![7; 300_000]).unwrap();
    bench.run(RTT_NS);
    lose_data(&mut bench, 5);
    bench.run(SECOND);
    heal(&mut bench);
    bench.a.finish(id);
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1).len(), 300_000);
    assert!(bench.a.stats(id).unwrap().probe_cycles > 0);
}

/// A queue has doubled the round trip before it overflows. While it drains, probes wait in it, so that
/// all of them arrive together, and the peer answers the last one only.
#[test]
fn probes_that_a_draining_queue_delivers_together_are_not_called_an_outage() {
    let config = Config { probing: Some(ProbingConfig::standard()), ..paper() };
    let (mut bench, id) = streaming(&config);
    bench.delay_ns = 2 * DELAY_NS;
    bench.run(5 * RTT_NS);
    bench.trace.clear();
    lose_data(&mut bench, 3);
    let (from, _) = run_to_alarm(&mut bench);
    bench.delay_ns = DELAY_NS;
    let drained = from.after(3 * DELAY_NS - 20 * MS);
    while bench.now < drained {
        for flight in bench.wire.iter_mut().filter(|flight| flight.to == Side::B) {
            flight.at = flight.at.max(drained);
        }
        bench.run(MS);
    }
    bench.run(3 * RTT_NS);
    let probes = sent(&bench, POLL, from, from.after(2 * DELAY_NS - 20 * MS));
    assert!(probes.len() > 2, "{} probes arrive together", probes.len());
    assert_eq!(ending(&bench).unwrap().1, Some(Verdict::Congestion));
    let [congestion, _, outage, _] = bench.a.stats(id).unwrap().lost_packets;
    assert_eq!((congestion, outage), (3, 0));
    finish(&mut bench, id);
}

#[test]
fn with_a_declared_rate_a_gap_alone_starts_no_cycle_and_is_judged_in_passing() {
    let (mut bench, id) = streaming(&declared());
    lose_data(&mut bench, 2);
    bench.run(3 * RTT_NS);
    let stats = bench.a.stats(id).unwrap();
    assert_eq!(stats.probe_cycles, 0);
    assert_eq!(stats.lost_packets, [0, 2, 0, 0], "round trips are as short as ever");
    finish(&mut bench, id);
}

#[test]
fn with_a_declared_rate_longer_round_trips_call_a_loss_congestion() {
    let (mut bench, id) = streaming(&declared());
    bench.delay_ns = DELAY_NS * 3 / 2;
    bench.run(3 * RTT_NS);
    lose_data(&mut bench, 2);
    bench.run(4 * RTT_NS);
    assert_eq!(bench.a.stats(id).unwrap().lost_packets, [2, 0, 0, 0]);
    finish(&mut bench, id);
}

#[test]
fn with_a_declared_rate_a_run_of_losses_is_an_outage_even_if_no_cycle_began() {
    let patient = ProbingConfig { late_intervals: 100, ..ProbingConfig::standard() };
    let (mut bench, id) = streaming(&Config { probing: Some(patient), ..declared() });
    bench.drop = Box::new(|_, _| true);
    bench.run(150 * MS);
    heal(&mut bench);
    bench.run(4 * RTT_NS);
    let stats = bench.a.stats(id).unwrap();
    let [congestion, corruption, outage, unknown] = stats.lost_packets;
    assert!(outage >= 8, "{outage} packets");
    assert_eq!((stats.probe_cycles, congestion, corruption, unknown), (0, 0, 0, 0));
    finish(&mut bench, id);
}

#[test]
fn with_a_declared_rate_a_short_run_of_losses_may_be_damage_as_well_and_is_unknown() {
    let patient = ProbingConfig { late_intervals: 100, ..ProbingConfig::standard() };
    let (mut bench, id) = streaming(&Config { probing: Some(patient), ..declared() });
    bench.drop = Box::new(|_, _| true);
    bench.run(60 * MS);
    heal(&mut bench);
    bench.run(4 * RTT_NS);
    let [congestion, corruption, outage, unknown] = bench.a.stats(id).unwrap().lost_packets;
    assert!(unknown >= 8, "{unknown} packets");
    assert_eq!((congestion, corruption, outage), (0, 0, 0));
    finish(&mut bench, id);
}

#[test]
fn one_answer_ends_an_outage_under_a_declared_rate_and_data_goes_at_once() {
    let (mut bench, id) = streaming(&declared());
    lose_everything(&mut bench);
    let (from, alarm) = run_to_alarm(&mut bench);
    assert_eq!(alarm, Alarm::Silence);
    bench.run(5 * SECOND);
    assert_eq!(sent(&bench, SD, from, Instant::MAX), []);
    let back = bench.now;
    heal(&mut bench);
    bench.run(2 * RTT_NS);
    let (to, verdict) = ending(&bench).unwrap();
    assert_eq!(verdict, Some(Verdict::Outage));
    assert!(to.since(back) <= RTT_NS + 80 * MS, "{} ms", to.since(back) / MS);
    assert_eq!(sent(&bench, SD, to, Instant::MAX)[0].0, to, "data at once");
    assert!(bench.a.stats(id).unwrap().lost_packets[Verdict::Outage as usize] > 0);
    finish(&mut bench, id);
}

#[test]
fn after_an_outage_the_round_trip_may_be_another_and_later_losses_are_compared_with_it() {
    let (mut bench, id) = streaming(&declared());
    lose_everything(&mut bench);
    run_to_alarm(&mut bench);
    bench.run(3 * SECOND);
    heal(&mut bench);
    bench.delay_ns = DELAY_NS * 3 / 2;
    bench.run(4 * RTT_NS);
    assert_eq!(ending(&bench).unwrap().1, Some(Verdict::Outage));
    lose_data(&mut bench, 1);
    bench.run(3 * RTT_NS);
    let [congestion, corruption, _, _] = bench.a.stats(id).unwrap().lost_packets;
    assert_eq!((congestion, corruption), (0, 1), "150 ms are the normal delay now");
    finish(&mut bench, id);
}

/// The line is cut for a second, and then a round trip takes so many times as long. How many cycles began
/// and ended in the time of ten of them.
fn cycles_after_the_way_grew(config: &Config, times: u64) -> [u64; 2] {
    let (mut bench, id) = streaming(config);
    lose_everything(&mut bench);
    bench.run(SECOND);
    heal(&mut bench);
    bench.delay_ns = times * DELAY_NS;
    bench.run(20 * bench.delay_ns);
    let stats = bench.a.stats(id).unwrap();
    [stats.probe_cycles, stats.probe_link + stats.probe_congestion + stats.probe_aborted]
}

#[test]
fn a_cycle_ends_even_if_the_round_trip_has_become_longer_than_the_map_can_hold() {
    for (times, config) in [(8, paper()), (100, paper()), (100, Config::standard()), (20, declared())] {
        let [begun, ended] = cycles_after_the_way_grew(&config, times);
        assert!(begun > 0 && ended > 0, "{times} times as long: {ended} of {begun} cycles ended");
    }
}

/// Why `paper` has a rule that the paper lacks.
#[test]
fn without_moving_probes_apart_a_cycle_need_not_end() {
    let as_written = ProbingConfig { spaces_probes: false, ..ProbingConfig::paper() };
    let config = Config { probing: Some(as_written), ..paper() };
    assert_eq!(cycles_after_the_way_grew(&config, 8), [1, 0]);
}
