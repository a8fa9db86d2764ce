//! Routers that rule the rate: headers on data, their sum in STATs, and peers and paths without.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use skyhaul_congestion::ControllerKind;
use skyhaul_core::event::RuledBy;
use skyhaul_core::{ConnectionId, Connections, Event, MS, PathHeader, SECOND};

use super::bench::{Bench, Side};
use crate::Config;
use crate::segment::Segment;

fn asking() -> Config {
    Config { controller: ControllerKind::PXcp, ..Config::standard() }
}

/// Router that grants what it is asked for, up to so many octets a second a packet.
fn grants(most: i32) -> impl FnMut(&mut PathHeader) {
    move |header| {
        header.routers = 1;
        header.delta_bytes_per_s = header.delta_bytes_per_s.min(most);
    }
}

/// A sends so many octets.
fn transfer(bench: &mut Bench, octets: usize, seconds: u64) -> ConnectionId {
    transfer_by(asking(), bench, octets, seconds)
}

fn transfer_by(config: Config, bench: &mut Bench, octets: usize, seconds: u64) -> ConnectionId {
    let id = bench.open_with(config);
    let payload: Vec<u8> = (0..octets).map(|i| (i * 7) as u8).collect();
    assert_eq!(bench.a.write(id, &payload).unwrap(), octets);
    bench.a.finish(id);
    bench.run(seconds * SECOND);
    assert!(bench.received(1) == payload, "{} octets of {octets} arrived", bench.received(1).len());
    id
}

fn rules(bench: &Bench) -> Vec<RuledBy> {
    let by = |(_, _, event): &(_, _, Event)| if let Event::Ruled { by } = event { Some(*by) } else { None };
    bench.trace.iter().filter_map(by).collect()
}

fn rates(bench: &Bench) -> Vec<u64> {
    let rate = |(_, _, event): &(_, _, Event)| match event {
        Event::Rate { rate_bps } => Some(*rate_bps),
        _ => None,
    };
    bench.trace.iter().filter_map(rate).collect()
}

#[test]
fn data_asks_and_reports_do_not() {
    let mut bench = Bench::new();
    bench.router = alloc::boxed::Box::new(grants(2000));
    transfer(&mut bench, 600_000, 10);
    assert_eq!(rules(&bench), [RuledBy::Routers]);
    let data = bench.count(Side::A, "SD") + bench.count(Side::A, "REPAIR") + bench.count(Side::A, "BLOCK");
    assert_eq!(bench.headers.len(), data - 1, "all but the last with an opening");
    let first = bench.headers[0];
    assert!(!first.rtt.is_known() && !first.inter_packet.is_known() && first.delta_bytes_per_s == 0);
    let asked = bench.headers[20];
    let loop_ms = asked.rtt.as_ns() / MS;
    assert!((250..420).contains(&loop_ms), "round trip and time between POLLs: {loop_ms} ms");
    assert!(asked.delta_bytes_per_s > 0 && asked.inter_packet.is_known());
}

/// Rate after a second of a transfer of 4 MB whose writer gives as much at a time as is taken, beside a
/// router that grants much.
fn rate_bps(unsent_limit_ns: Option<u64>) -> u64 {
    let mut bench = Bench::new();
    bench.router = alloc::boxed::Box::new(grants(50_000));
    let id = bench.open_with(Config { unsent_limit_ns, ..asking() });
    let data = vec![7; 4_000_000];
    let mut left = data.len();
    for _ in 0..100 {
        if left > 0 {
            left -= bench.a.write(id, &data[..left]).unwrap();
        }
        bench.run(10 * MS);
    }
    *rates(&bench).last().unwrap()
}

#[test]
fn who_holds_data_back_until_older_data_leaves_asks_for_what_is_behind_it() {
    let (held_back, at_once) = (rate_bps(Some(100 * MS)), rate_bps(None));
    assert!(held_back * 2 > at_once, "{held_back} of {at_once} bit/s");
}

#[test]
fn the_rate_is_what_was_granted() {
    let mut bench = Bench::new();
    let granted = Rc::new(Cell::new(0_i64));
    let sum = Rc::clone(&granted);
    let mut router = grants(500);
    bench.router = alloc::boxed::Box::new(move |header| {
        router(header);
        sum.set(sum.get() + i64::from(header.delta_bytes_per_s));
    });
    let id = bench.open_with(asking());
    bench.a.write(id, &vec![7; 900_000]).unwrap();
    bench.run(4 * SECOND);
    let rates = rates(&bench);
    let gained = (rates.last().unwrap() - rates[0]) / 8;
    let granted = granted.get() as u64;
    assert!(gained <= granted && gained > granted / 4, "{gained} of {granted} octets a second are known");
}

/// Packets that are granted anything, and how much.
const GRANTS: (u32, i32) = (20, 700);

/// Highest rate of a transfer whose STATs with these numbers, from 1 on, are lost. Nothing is probed, so that
/// no silence passes for an outage, which halves the rate.
fn highest_rate(is_lost: impl Fn(usize) -> bool + 'static) -> u64 {
    let mut bench = Bench::new();
    let (mut left, most) = GRANTS;
    bench.router = alloc::boxed::Box::new(move |header| {
        header.routers = 1;
        let is_granted = header.delta_bytes_per_s > 0 && left > 0;
        left -= u32::from(is_granted);
        header.delta_bytes_per_s = if is_granted { header.delta_bytes_per_s.min(most) } else { 0 };
    });
    let mut stats = 0;
    bench.drop = alloc::boxed::Box::new(move |from, segment: &Segment<'_>| {
        let is_stat = from == Side::B && segment.stat.is_some();
        stats += usize::from(is_stat);
        is_stat && is_lost(stats)
    });
    transfer_by(Config { probing: None, ..asking() }, &mut bench, 900_000, 60);
    *rates(&bench).iter().max().unwrap()
}

#[test]
fn a_lost_stat_loses_no_feedback() {
    let all = highest_rate(|_| false);
    let (packets, most) = GRANTS;
    let granted = u64::from(packets) * most as u64 * 8;
    let first = all - granted;
    assert!(first > 0, "all of the {granted} bit/s");
    for kept in [2, 3, 5] {
        assert_eq!(highest_rate(move |stat| stat > 3 && stat % kept != 0), all, "every {kept}th STAT");
    }
    assert_eq!(highest_rate(|stat| (2..=20).contains(&stat)), all, "all but the first and the last");
}

/// Rate of a sender whose router takes so many octets a second with each packet, after the one STAT with the
/// option that is not lost: the first one behind `LOST_STATS` others that tells of all data. Headers, too.
fn rate_by_the_last_stat(taken: i32) -> (u64, usize) {
    const LOST_STATS: usize = 10;
    let mut bench = Bench::new();
    bench.router = alloc::boxed::Box::new(move |header| {
        header.routers = 1;
        header.delta_bytes_per_s -= taken;
    });
    let (lost, kept) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let counts = (Rc::clone(&lost), Rc::clone(&kept));
    bench.drop = alloc::boxed::Box::new(move |from, segment: &Segment<'_>| {
        let tells = from == Side::B && segment.stat.as_ref().is_some_and(|stat| stat.feedback.is_some());
        let (lost, kept) = &counts;
        let passes = tells && kept.get() == 0 && lost.get() >= LOST_STATS;
        kept.set(kept.get() + usize::from(passes));
        lost.set(lost.get() + usize::from(tells && !passes));
        tells && !passes
    });
    let id = bench.open_with(Config { probing: None, ..asking() });
    bench.a.write(id, &vec![7; 12_000]).unwrap();
    bench.run(60 * SECOND);
    assert_eq!(bench.received(1).len(), 12_000);
    assert_eq!(kept.get(), 1, "after {} lost ones", lost.get());
    assert_eq!(rules(&bench), [RuledBy::Routers]);
    (*rates(&bench).last().unwrap(), bench.headers.len())
}

/// Until a STAT tells that there is a router nothing is asked for, so that all that it can tell is taken
/// away.
#[test]
fn the_last_stat_tells_all_feedback_where_every_other_one_is_lost() {
    let taken = 300;
    let ((whole, headers), (lowered, same)) = (rate_by_the_last_stat(0), rate_by_the_last_stat(taken));
    assert!(headers > 5 && headers == same, "{headers} and {same} headers");
    assert_eq!(whole - lowered, 8 * taken as u64 * headers as u64, "{whole} bit/s, {lowered} of {headers}");
}

#[test]
fn an_old_peer_still_gets_the_file() {
    let mut bench = Bench::new();
    bench.is_b_without_headers = true;
    bench.router = alloc::boxed::Box::new(grants(2000));
    transfer(&mut bench, 600_000, 20);
    assert_eq!(rules(&bench), [RuledBy::PeerWithout]);
    let with_headers = bench.headers.len();
    assert!(with_headers <= 10, "{with_headers} packets beside the first opening");
}

#[test]
fn headers_that_do_not_arrive_are_given_up() {
    let mut bench = Bench::new();
    bench.drops_headers = true;
    transfer(&mut bench, 600_000, 20);
    assert_eq!(rules(&bench), [RuledBy::PeerWithout]);
    assert!(bench.headers.len() <= 30, "{} packets with one", bench.headers.len());
}

#[test]
fn a_path_without_routers_is_measured() {
    let mut bench = Bench::new();
    transfer(&mut bench, 600_000, 10);
    assert_eq!(rules(&bench), [RuledBy::NoRouter]);
    assert!(bench.headers.len() <= 20, "{} headers", bench.headers.len());
}

#[test]
fn no_more_is_believed_than_was_asked_for() {
    let mut bench = Bench::new();
    let asked = Rc::new(Cell::new(0_i64));
    let sum = Rc::clone(&asked);
    bench.router = alloc::boxed::Box::new(move |header| {
        sum.set(sum.get() + i64::from(header.delta_bytes_per_s));
        (header.routers, header.delta_bytes_per_s) = (1, i32::MAX / 64);
    });
    let id = bench.open_with(asking());
    bench.a.write(id, &vec![7; 900_000]).unwrap();
    bench.run(2 * SECOND);
    let rates = rates(&bench);
    let gained = (rates.iter().max().unwrap() - rates[0]) / 8;
    assert!(gained > 0 && i64::try_from(gained).unwrap() <= asked.get(), "{gained} of {}", asked.get());
}

#[test]
fn connections_of_a_path_share_what_is_granted() {
    let mut bench = Bench::new();
    let rate = Rc::new(RefCell::new(grants(3000)));
    bench.router = alloc::boxed::Box::new(move |header| (rate.borrow_mut())(header));
    let ids = [bench.open_with(asking()), bench.open_with(asking())];
    for id in ids {
        bench.a.write(id, &vec![7; 900_000]).unwrap();
    }
    bench.run(2 * SECOND);
    let got = [1, 2].map(|id| bench.received(id).len());
    assert!(got[0].abs_diff(got[1]) < 10_000 && got[0] > 100_000, "{got:?}");
}
