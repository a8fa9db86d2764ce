//! The path's MTU: transfers over paths of every size, falling and rising, to peers of any version.

use alloc::vec::Vec;

use skyhaul_core::{CloseReason, ConnectionId, Connections, Event, Limit, MS, SECOND, StreamEvent, Verdict};

use super::bench::{Bench, RTT_NS, Side};
use crate::{Config, ControllerKind};

/// Parameters of a sender that finds out what the path takes: at a declared rate, a measured one, by a
/// window.
pub(super) fn senders() -> [Config; 3] {
    let discovering = Config { discover_mtu: true, max_rate_bps: Some(20_000_000), ..Config::standard() };
    [
        Config { rate_bps: Some(20_000_000), ..discovering.clone() },
        discovering.clone(),
        Config { controller: ControllerKind::Cubic, ..discovering },
    ]
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

/// A transfer that has begun: bench, connection, data.
pub(super) struct Transfer {
    pub(super) bench: Bench,
    pub(super) id: ConnectionId,
    data: Vec<u8>,
    written: usize,
}

impl Transfer {
    fn begin(config: &Config, path_bytes: u32, bytes: usize) -> Self {
        Self::on(Bench::new(), config, path_bytes, bytes)
    }

    /// Begins on this bench.
    pub(super) fn on(mut bench: Bench, config: &Config, path_bytes: u32, bytes: usize) -> Self {
        bench.path_bytes = [path_bytes; 2];
        let id = bench.open_with(config.clone());
        let mut transfer = Self { bench, id, data: pattern(bytes), written: 0 };
        transfer.write();
        transfer
    }

    pub(super) fn write(&mut self) {
        self.written += self.bench.a.write(self.id, &self.data[self.written..]).unwrap();
    }

    /// True if all data was written.
    pub(super) fn has_written_all(&self) -> bool {
        self.written == self.data.len()
    }

    /// Runs for so many tenths of a second.
    pub(super) fn run(&mut self, tenths: u64) {
        for _ in 0..tenths {
            self.bench.run(SECOND / 10);
            self.write();
        }
    }

    /// Runs until everything has arrived; `None`: not within two minutes. Result: seconds.
    pub(super) fn finish(&mut self) -> Option<f64> {
        let begin = self.bench.now;
        for _ in 0..1200 {
            self.run(1);
            if self.bench.received(1).len() == self.data.len() {
                assert!(self.bench.received(1) == self.data);
                return Some(self.bench.now.since(begin) as f64 / 1e9);
            }
        }
        None
    }

    pub(super) fn mtu(&self) -> Option<u32> {
        self.bench.a.stats(self.id).unwrap().path_mtu_bytes
    }
}

#[test]
fn data_crosses_paths_of_every_size_whatever_decides_on_the_rate() {
    for config in senders() {
        for path_bytes in [296, 576, 700, 1280, 1300, 1400, 1492, 1500] {
            let mut transfer = Transfer::begin(&config, path_bytes, 10_000_000);
            let took_s = transfer.finish();
            let what = alloc::format!("{path_bytes}, {:?}: {took_s:?}", config.controller);
            assert!(took_s.is_some(), "{what}");
            let found = transfer.mtu().unwrap();
            assert!(found <= path_bytes.max(576) && found + 32 >= path_bytes, "{what}: {found}");
        }
    }
}

/// Nothing of the first train arrives: the opening that goes alone behind it must not wait for the timer,
/// though openings in that train count as tries.
#[test]
fn data_of_a_path_below_the_base_flows_within_three_round_trips() {
    let uncapped = Config { max_rate_bps: None, ..senders()[1].clone() };
    for config in senders().into_iter().chain([uncapped]) {
        let mut transfer = Transfer::begin(&config, 576, 100_000);
        transfer.bench.run(3 * RTT_NS + 20 * MS);
        let received = transfer.bench.received(1).len();
        assert!(received > 5_000, "{:?}: {received}", config.controller);
    }
}

#[test]
fn a_search_loses_no_data_raises_no_alarm_and_costs_a_hundredth() {
    for config in senders() {
        let mut transfer = Transfer::begin(&config, 1400, 10_000_000);
        transfer.finish().unwrap();
        let stats = transfer.bench.a.stats(transfer.id).unwrap();
        assert_eq!(stats.lost_packets, [0; 4], "{:?}", config.controller);
        assert_eq!((stats.probe_cycles, stats.retransmitted_packets), (0, 0), "{:?}", config.controller);
        assert_eq!(stats.path_mtu_bytes, Some(1400));
        assert_eq!(transfer.bench.b.stats(1).unwrap().duplicates, 0, "padding is no data");
        let sizes: Vec<u32> = transfer.bench.trace.iter().filter_map(|(_, _, event)| mtu_of(event)).collect();
        assert_eq!(sizes.last(), Some(&1400), "{sizes:?}");
    }
}

fn mtu_of(event: &Event) -> Option<u32> {
    if let Event::PathMtu { mtu_bytes } = event { Some(*mtu_bytes) } else { None }
}

#[test]
fn a_path_that_shrinks_in_mid_flow_carries_data_again_soon_and_what_was_cut_before_crosses_in_pieces() {
    for config in senders() {
        for (small, most_s) in [(1300, 3.0), (576, 6.0)] {
            let mut transfer = Transfer::begin(&config, 1500, 12_000_000);
            transfer.run(20);
            assert_eq!(transfer.mtu(), Some(1500), "{:?}", config.controller);
            let before = transfer.bench.received(1).len();
            transfer.bench.path_bytes = [small; 2];
            transfer.run((most_s * 10.0) as u64);
            let what = alloc::format!("{small}, {:?}: {:?}", config.controller, transfer.mtu());
            let after = transfer.bench.received(1).len();
            assert!(after > before + 600_000 || after == 12_000_000, "{what}: {before} to {after}");
            transfer.finish().unwrap_or_else(|| panic!("{what}"));
            assert!(transfer.bench.cut_packets > 0, "{what}");
            let told =
                transfer.bench.trace.iter().any(|(_, _, event)| matches!(event, Event::Oversized { .. }));
            assert!(told, "{what}");
        }
    }
}

#[test]
fn packets_that_no_fragments_bring_across_end_the_connection_though_the_peer_answers() {
    for (give_up_ns, most_s) in [(None, 64), (Some(5 * SECOND), 9)] {
        let config = senders()[1].clone();
        let config = Config { give_up_ns: give_up_ns.or(config.give_up_ns), ..config };
        let mut transfer = Transfer::begin(&config, 1500, 12_000_000);
        transfer.run(20);
        transfer.bench.path_bytes = [1300; 2];
        transfer.bench.carries_fragments = false;
        transfer.bench.run(most_s * SECOND);
        let closed = StreamEvent::Closed(Some(CloseReason::Oversized));
        assert!(
            transfer.bench.heard(Side::A, closed),
            "{give_up_ns:?}: {:?}",
            transfer.bench.a.stats(transfer.id)
        );
    }
}

#[test]
fn a_path_that_grows_again_is_used() {
    let config = Config { rate_bps: Some(4_000_000), ..senders()[0].clone() };
    let mut transfer = Transfer::begin(&config, 1500, 30_000_000);
    transfer.run(30);
    transfer.bench.path_bytes = [1300; 2];
    transfer.run(100);
    assert_eq!(transfer.mtu(), Some(1300));
    transfer.bench.path_bytes = [1500; 2];
    transfer.run(250);
    assert_eq!(transfer.mtu(), Some(1500));
}

#[test]
fn a_peer_of_the_last_version_answers_probes_for_it_takes_their_padding_for_a_duplicate() {
    let mut transfer = Transfer::begin(&senders()[0], 1400, 10_000_000);
    transfer.bench.is_b_old = true;
    transfer.finish().unwrap();
    assert_eq!(transfer.mtu(), Some(1400));
    assert!(transfer.bench.b.stats(1).unwrap().duplicates > 0);
}

#[test]
fn a_way_back_that_takes_less_carries_long_reports_in_pieces() {
    let mut transfer = Transfer::begin(&senders()[1], 1500, 10_000_000);
    transfer.bench.path_bytes = [1500, 576];
    let mut count = 0u32;
    transfer.bench.drop = alloc::boxed::Box::new(move |side, segment| {
        count += u32::from(side == Side::A);
        side == Side::A && segment.data.is_some() && count.is_multiple_of(3)
    });
    transfer.finish().unwrap();
    assert!(transfer.mtu().unwrap() >= 1400, "{:?}", transfer.mtu());
}

#[test]
fn nothing_larger_than_the_base_leaves_before_an_answer() {
    let mut transfer = Transfer::begin(&senders()[0], u32::MAX, 100_000);
    transfer.bench.run(RTT_NS - 1);
    assert_eq!(transfer.bench.largest_bytes, 1280);
    transfer.finish().unwrap();
    // A transfer this short is not worth a probe.
    assert_eq!((transfer.bench.largest_bytes, transfer.mtu()), (1280, Some(1280)));
}

#[test]
fn probes_that_are_lost_or_late_do_no_harm() {
    for every in [2, 3] {
        let mut transfer = Transfer::begin(&senders()[0], 1500, 10_000_000);
        let mut probes = 0;
        transfer.bench.drop = alloc::boxed::Box::new(move |_, segment| {
            let is_probe = segment.poll.is_some_and(|poll| poll.pads);
            probes += u32::from(is_probe);
            is_probe && probes % every != 0
        });
        transfer.finish().unwrap();
        assert_eq!(transfer.mtu(), Some(1500), "{every}");
        assert_eq!(transfer.bench.a.stats(transfer.id).unwrap().lost_packets, [0; 4]);
    }
}

/// It answers the newest of the POLLs that it finds, and says of a probe that it arrived.
#[test]
fn probes_that_reach_a_busy_receiver_beside_later_polls_are_not_taken_for_lost() {
    let mut transfer = Transfer::begin(&senders()[0], 1500, 10_000_000);
    transfer.bench.b_looks_ns = RTT_NS / 2;
    transfer.finish().unwrap();
    let is_probe = |event: &Event| matches!(event, Event::Sent { payload_bytes: 0, wire_bytes: 1500, .. });
    let probes = transfer.bench.trace.iter().filter(|(_, _, event)| is_probe(event)).count();
    assert_eq!((transfer.mtu(), probes), (Some(1500), 1));
}

#[test]
fn what_the_machine_refuses_and_what_routers_say_is_told_to_the_path() {
    let mut transfer = Transfer::begin(&senders()[0], 1500, 8_000_000);
    transfer.run(10);
    assert_eq!(transfer.mtu(), Some(1500));
    let (now, peer) = (transfer.bench.now, Side::B.address());
    for absurd in [0, 68, 576, 1499] {
        transfer.bench.a.packet_too_big(now, peer, absurd);
        transfer.run(2);
        assert_eq!(transfer.mtu(), Some(1500), "{absurd}");
    }
    let elsewhere = "192.0.2.1:9".parse().unwrap();
    transfer.bench.a.packet_refused(now, elsewhere, 1500, Some(1300));
    assert_eq!(transfer.mtu(), Some(1500));
    transfer.bench.path_bytes = [1300; 2];
    transfer.bench.a.packet_refused(now, peer, 1500, Some(1300));
    assert_eq!(transfer.mtu(), Some(1300));
    transfer.finish().unwrap();
}

/// As in front of a full queue, all data is lost for two round trips, whatever its size.
#[test]
fn a_row_of_losses_makes_new_packets_smaller_for_a_while_and_cuts_none() {
    for config in senders() {
        let mut transfer = Transfer::begin(&config, 1500, 8_000_000);
        transfer.run(20);
        assert_eq!(transfer.mtu(), Some(1500), "{:?}", config.controller);
        let before = transfer.bench.trace.len();
        transfer.bench.drop =
            alloc::boxed::Box::new(|side, segment| side == Side::A && segment.data.is_some());
        transfer.bench.run(2 * RTT_NS);
        transfer.bench.drop = alloc::boxed::Box::new(|_, _| false);
        transfer.finish().unwrap();
        let count = |of: &dyn Fn(&Event) -> bool| {
            transfer.bench.trace[before..].iter().filter(|(_, _, event)| of(event)).count()
        };
        let told = count(&|event| matches!(event, Event::Oversized { .. } | Event::PathMtu { .. }));
        assert_eq!((transfer.mtu(), told), (Some(1500), 0), "{:?}", config.controller);
        let small = count(&|event| matches!(event, Event::Sent { wire_bytes: 1280, repeat: None, .. }));
        assert!((1..2000).contains(&small), "{:?}: {small} new packets in doubt", config.controller);
    }
}

/// A link that takes less is there: packets that are too large for it tell of no outage, and of no damage.
#[test]
fn what_became_too_large_is_counted_as_unknown_and_its_time_as_that_of_losses() {
    for config in senders() {
        for carries_fragments in [true, false] {
            let mut transfer = Transfer::begin(&config, 1500, 12_000_000);
            transfer.run(20);
            transfer.bench.path_bytes = [1300; 2];
            transfer.bench.carries_fragments = carries_fragments;
            transfer.run(30);
            let stats = transfer.bench.a.stats(transfer.id).unwrap();
            let what =
                alloc::format!("{:?}, {carries_fragments}: {:?}", config.controller, stats.lost_packets);
            let lost = |verdict| stats.lost_packets[verdict as usize];
            assert_eq!((lost(Verdict::Outage), lost(Verdict::Corruption)), (0, 0), "{what}");
            assert!(lost(Verdict::Unknown) > 100, "{what}");
            let limits = stats.limits.unwrap().until(transfer.bench.now);
            assert_eq!(limits.spent_ns(Limit::Outage), 0, "{what}: {limits:?}");
            assert!(limits.spent_ns(Limit::Losses) > 0, "{what}: {limits:?}");
        }
    }
}

/// An outage that is over before the path takes less has nothing to do with it.
#[test]
fn an_outage_before_a_fall_stays_one() {
    for config in senders() {
        let mut transfer = Transfer::begin(&config, 1500, 30_000_000);
        transfer.run(20);
        transfer.bench.drop = alloc::boxed::Box::new(|_, _| true);
        transfer.bench.run(2 * SECOND);
        transfer.bench.drop = alloc::boxed::Box::new(|_, _| false);
        transfer.run(20);
        let outage_ns = |transfer: &Transfer| {
            let limits = transfer.bench.a.stats(transfer.id).unwrap().limits.unwrap();
            limits.until(transfer.bench.now).spent_ns(Limit::Outage)
        };
        let before_ns = outage_ns(&transfer);
        assert!(before_ns > SECOND, "{:?}: {before_ns}", config.controller);
        transfer.bench.path_bytes = [1300; 2];
        transfer.run(30);
        assert!(transfer.mtu() < Some(1500), "{:?}", config.controller);
        assert!(outage_ns(&transfer) >= before_ns, "{:?}", config.controller);
    }
}
