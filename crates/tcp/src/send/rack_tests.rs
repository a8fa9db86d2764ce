//! RACK beside the plain loops of the RFC.

use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;
use skyhaul_core::{Instant, MS};

use super::rack::{Arrival, Late, Rack, Situation};
use super::scoreboard::Scoreboard;
use crate::sequence::TimestampClock;

const SRTT_NS: u64 = 100 * MS;

/// Segment of the RFC: one number each here.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    xmit_ns: u64,
    serial: u64,
    retransmitted: bool,
    acked: bool,
    lost: bool,
}

/// [RFC 8985 6.1, 6.2, 6.3], loop by loop, without adaptation to duplicates.
#[derive(Debug, Default)]
struct Plain {
    segments: Vec<Segment>,
    una: usize,
    serial: u64,
    latest: u64,
    rtt_ns: u64,
    min_rtt_ns: Option<u64>,
    fack: usize,
    reordering_seen: bool,
}

impl Plain {
    fn send(&mut self, at: usize, now_ns: u64) {
        self.serial += 1;
        if at == self.segments.len() {
            self.segments.push(Segment::default());
        }
        let segment = &mut self.segments[at];
        segment.retransmitted |= segment.serial > 0;
        (segment.xmit_ns, segment.serial, segment.lost) = (now_ns, self.serial, false);
    }

    fn arrive(&mut self, at: usize, now_ns: u64) {
        let segment = &mut self.segments[at];
        if core::mem::replace(&mut segment.acked, true) {
            return;
        }
        segment.lost = false;
        let segment = *segment;
        self.reordering_seen |= at + 1 < self.fack && !segment.retransmitted;
        self.fack = self.fack.max(at + 1);
        let rtt_ns = now_ns - segment.xmit_ns;
        if !segment.retransmitted {
            self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt_ns, |min_ns| min_ns.min(rtt_ns)));
        } else if self.min_rtt_ns.is_some_and(|min_ns| rtt_ns < min_ns) {
            return;
        }
        (self.rtt_ns, self.latest) = (rtt_ns, self.latest.max(segment.serial));
    }

    fn patience_ns(&self, in_recovery: bool) -> u64 {
        let sacked = self.segments[self.una..].iter().filter(|segment| segment.acked).count();
        let is_clear = !self.reordering_seen && (in_recovery || sacked >= 3);
        self.rtt_ns + if is_clear { 0 } else { (self.min_rtt_ns.unwrap_or(0) / 4).min(SRTT_NS) }
    }

    /// The longest time that remains, in the end as a moment.
    fn detect(&mut self, now_ns: u64, in_recovery: bool) -> Option<u64> {
        let patience_ns = self.patience_ns(in_recovery);
        let mut due_ns = None;
        for segment in &mut self.segments[self.una..] {
            let is_candidate = !segment.acked && !segment.lost && segment.serial < self.latest;
            if is_candidate && segment.xmit_ns + patience_ns <= now_ns {
                segment.lost = true;
            } else if is_candidate {
                due_ns = due_ns.max(Some(segment.xmit_ns + patience_ns));
            }
        }
        due_ns
    }

    fn time_out(&mut self, now_ns: u64, in_recovery: bool) {
        let (una, patience_ns) = (self.una, self.patience_ns(in_recovery));
        for (at, segment) in self.segments.iter_mut().enumerate().skip(una) {
            let is_late = at == una || segment.xmit_ns + patience_ns <= now_ns;
            segment.lost |= !segment.acked && is_late;
        }
    }

    fn lost(&self) -> Vec<u64> {
        (0..self.segments.len()).filter(|&at| self.segments[at].lost).map(|at| at as u64).collect()
    }
}

fn lost(rack: &Rack) -> Vec<u64> {
    let mut copy = rack.clone();
    core::iter::from_fn(|| {
        let (first, end, _) = copy.first_lost()?;
        copy.on_sent(Instant::ZERO, (first, end), true);
        Some(first..end)
    })
    .flatten()
    .collect()
}

proptest! {
    #[test]
    fn what_is_found_is_what_the_loop_of_the_rfc_finds(
        steps in proptest::collection::vec((0u8..8, 0usize..12, 1usize..5, 0u64..60), 1..80),
    ) {
        let (mut plain, mut rack, mut board) = (Plain::default(), Rack::new(), Scoreboard::default());
        let mut now_ns = 0;
        for (kind, at, count, wait_ms) in steps {
            let now = Instant::from_ns(now_ns);
            let arrival = Arrival { now, echo: None, clock: TimestampClock::new(MS, 0) };
            let in_recovery = at % 2 == 0;
            let (una, max) = (plain.una, plain.segments.len());
            match kind {
                0 | 1 => {
                    for at in max..max + count {
                        plain.send(at, now_ns);
                        rack.on_sent(now, (at as u64, at as u64 + 1), false);
                    }
                }
                2 => now_ns += wait_ms * MS,
                3 | 4 => {
                    let (first, end) = ((una + 1 + at).min(max), (una + 1 + at + count).min(max));
                    for gap in board.unknown(first as u64, end as u64).collect::<Vec<_>>() {
                        rack.on_delivered(gap, &arrival);
                    }
                    board.insert(first as u64, end as u64);
                    (first..end).for_each(|at| plain.arrive(at, now_ns));
                }
                5 => {
                    let to = (una + count).min(max);
                    (una..to).for_each(|at| plain.arrive(at, now_ns));
                    while plain.segments.get(plain.una).is_some_and(|segment| segment.acked) {
                        plain.una += 1;
                    }
                    board.remove_below(plain.una as u64);
                    rack.on_acknowledged((una as u64, plain.una as u64), &arrival);
                    rack.lose_nothing_below(plain.una as u64);
                }
                6 => {
                    for at in plain.lost().into_iter().take(count) {
                        plain.send(at as usize, now_ns);
                        rack.on_sent(now, (at, at + 1), true);
                    }
                }
                _ if at == 0 && una < max => {
                    let situation = Situation { now, una: una as u64, srtt_ns: SRTT_NS, in_recovery, doubts_requests: false };
                    rack.on_timeout(&board, max as u64, Late::All, &situation);
                    plain.time_out(now_ns, in_recovery);
                }
                _ => {}
            }
            let (now, una) = (Instant::from_ns(now_ns), plain.una as u64);
            let due_ns = plain.detect(now_ns, in_recovery);
            rack.detect(&board, &Situation { now, una, srtt_ns: SRTT_NS, in_recovery, doubts_requests: false });
            prop_assert_eq!(lost(&rack), plain.lost());
            prop_assert_eq!(rack.due().map(Instant::as_ns), due_ns);
            rack.check_invariants(&board, una, plain.segments.len() as u64);
        }
    }

    #[test]
    fn a_repeat_cut_otherwise_is_remembered_piece_by_piece(cuts in proptest::collection::vec(1u64..100, 1..9)) {
        let (mut rack, board) = (Rack::new(), Scoreboard::default());
        let situation = |ns| Situation {
            now: Instant::from_ns(ns),
            una: 0,
            srtt_ns: 1,
            in_recovery: false,
            doubts_requests: false,
        };
        rack.on_sent(Instant::ZERO, (0, 60), false);
        rack.on_sent(Instant::ZERO, (60, 100), false);
        rack.on_timeout(&board, 100, Late::All, &situation(10));
        prop_assert_eq!(rack.lost_bytes(), 100);
        let mut from = 0;
        for to in cuts.into_iter().filter(|&to| to < 100).chain([100]) {
            if to > from {
                rack.on_sent(Instant::from_ns(10), (from, to), true);
                from = to;
                prop_assert_eq!(rack.lost_bytes(), 100 - to);
            }
        }
        let found = rack.on_timeout(&board, 100, Late::All, &situation(20));
        prop_assert_eq!(found.bytes, 100);
        let known: Vec<_> = vec![rack.first_lost().map(|(first, end, _)| (first, end))];
        prop_assert_eq!(known, [Some((0, 100))]);
    }
}
