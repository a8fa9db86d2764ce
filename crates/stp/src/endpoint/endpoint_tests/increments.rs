//! STATs that leave out what they have told before, and USTATs that nobody needs.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use skyhaul_core::{Connections, SECOND};

use super::bench::*;
use crate::Config;
use crate::segment::{Poll, Report, Segment};

const PACKETS: usize = 2000;

fn config() -> Config {
    Config { rate_bps: Some(8_000_000), ..Config::standard() }
}

/// Segments that were sent in a transfer.
#[derive(Default)]
struct Heard {
    polls: Vec<Poll>,
    reports: Vec<Report>,
    ustats: usize,
}

impl Heard {
    /// How often packets were called missing in all.
    fn told(&self) -> u64 {
        self.reports.iter().flat_map(|report| report.runs.iter().step_by(2)).map(|&run| u64::from(run)).sum()
    }
}

/// A transfer of which `drops` says what gets lost: (who sends it, segment, how many data packets, and how
/// many STATs, came before it).
fn transfer(
    config: Config,
    accept: Config,
    mut drops: impl FnMut(Side, &Segment<'_>, usize, usize) -> bool + 'static,
) -> (Bench, Heard) {
    let mut bench = Bench::with(accept, 1);
    let heard = Rc::new(RefCell::new(Heard::default()));
    let book = Rc::clone(&heard);
    let mut data = 0;
    bench.drop = Box::new(move |side, segment| {
        let mut book = book.borrow_mut();
        book.polls.extend(segment.poll.filter(|_| side == Side::A));
        book.ustats += usize::from(segment.ustat.is_some());
        let is_lost = drops(side, segment, data, book.reports.len());
        data += usize::from(segment.data.is_some());
        book.reports.extend(segment.stat.iter().map(|stat| stat.report.clone()));
        is_lost
    });
    let id = bench.open_with(config);
    let payload: Vec<u8> = (0..PACKETS * 1400).map(|i| (i * 7) as u8).collect();
    assert_eq!(bench.a.write(id, &payload).unwrap(), payload.len());
    bench.a.finish(id);
    bench.run(30 * SECOND);
    assert!(bench.received(1) == payload, "{} bytes", bench.received(1).len());
    bench.drop = Box::new(|_, _| false);
    let heard = core::mem::take(&mut *heard.borrow_mut());
    (bench, heard)
}

/// Every tenth packet with data is lost.
fn tenth(_: Side, segment: &Segment<'_>, data: usize, _: usize) -> bool {
    segment.data.is_some() && data % 10 == 9
}

fn lost(bench: &Bench) -> u64 {
    let losses = bench.a.stats(1).unwrap();
    losses.lost_packets.iter().sum()
}

#[test]
fn a_gap_is_told_once_while_its_repeat_is_under_way() {
    let (bench, heard) = transfer(config(), config(), tenth);
    let (lost, told) = (lost(&bench), heard.told());
    assert!(lost > 150 && told < lost * 5 / 4, "{lost} lost, told {told} times");
    let (_, complete) = transfer(Config { incremental_stats: false, ..config() }, config(), tenth);
    assert!(complete.told() > 2 * told, "{} times without it", complete.told());
}

#[test]
fn nothing_that_arrived_is_sent_again() {
    let (bench, _) = transfer(config(), config(), tenth);
    assert_eq!(bench.b.stats(1).unwrap().duplicates, 0);
}

#[test]
fn a_repeat_that_is_lost_is_told_again() {
    let mut first = None;
    let twice = move |side: Side, segment: &Segment<'_>, data: usize, _: usize| {
        if side == Side::A && segment.data.is_some() && data == 300 {
            first = Some(segment.number);
        }
        segment.data.is_some() && Some(segment.number) == first && data < 700
    };
    let (bench, heard) = transfer(config(), config(), twice);
    let polls_in_a_round_trip = 4;
    assert!((2..=1 + 2 * polls_in_a_round_trip).contains(&heard.told()), "{}", heard.told());
    assert!(bench.a.stats(1).unwrap().retransmitted_packets >= 2);
}

#[test]
fn behind_a_lost_stat_everything_is_asked_for_once() {
    let without = |lost: usize| {
        move |side: Side, segment: &Segment<'_>, data: usize, stats: usize| {
            tenth(side, segment, data, stats) || segment.stat.is_some() && stats == lost
        }
    };
    let (bench, heard) = transfer(config(), config(), without(12));
    let complete = heard.polls.iter().skip(12).take(20).filter(|poll| poll.settled.is_none()).count();
    assert!((1..=4).contains(&complete), "{complete} of 20 POLLs ask for everything");
    assert_eq!(bench.b.stats(1).unwrap().duplicates, 0);
}

#[test]
fn a_peer_that_does_not_know_it_is_asked_for_everything() {
    let (_, heard) = transfer(config(), Config { incremental_stats: false, ..config() }, tenth);
    assert!(heard.polls.iter().all(|poll| poll.settled.is_none()));
    assert!(heard.reports.iter().all(|report| report.silent.is_none()));
}

#[test]
fn under_a_window_everything_is_asked_for() {
    use skyhaul_congestion::ControllerKind;
    let window = Config { rate_bps: None, controller: ControllerKind::SlowStartAvoidance, ..config() };
    let (_, heard) = transfer(window, config(), tenth);
    assert!(heard.polls.iter().all(|poll| poll.settled.is_none() && !poll.spares_ustats));
    assert!(heard.ustats > 0);
}

#[test]
fn who_repairs_the_tail_wants_no_ustats() {
    let (_, heard) = transfer(config(), config(), tenth);
    assert_eq!(heard.ustats, 0);
    let (_, heard) = transfer(config(), Config { coded_tail: false, ..config() }, tenth);
    assert!(heard.ustats > 20, "{}", heard.ustats);
}

#[test]
fn an_outage_is_asked_about_in_full() {
    let mut polls_gone = 0;
    let outage = move |side: Side, segment: &Segment<'_>, data: usize, _: usize| {
        let is_gone = side == Side::A && data >= 600 && polls_gone < 8;
        polls_gone += usize::from(is_gone && segment.poll.is_some());
        is_gone
    };
    let (bench, heard) = transfer(config(), config(), outage);
    assert!(bench.a.stats(1).unwrap().probe_cycles >= 1);
    let from_the_second_on = heard.polls.iter().filter(|poll| poll.settled.is_none()).count() - 1;
    assert!(from_the_second_on as u64 >= bench.a.stats(1).unwrap().probes, "{from_the_second_on}");
}
