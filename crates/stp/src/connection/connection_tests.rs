//! Any sequence of operations on two connections: what is decided is done, at the moment that was said and no
//! other.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_congestion::PathStart;
use skyhaul_core::{DeclaredRate, Instant, MS, MtuBounds, NullSink, Path, PathConfig, ResetReason, SECOND};

use super::{Connection, Context, Entropy, Names};
use crate::segment::{Segment, decode, encode};
use crate::{Config, ControllerKind};

const PATH: PathConfig = PathConfig { mtu_bytes: 1500, carrier_bytes: 28, head_bytes: 0, tail_bytes: 0 };
/// Segments that a connection may send at one moment before the next operation: what waits longer goes on
/// then.
const MAX_SEGMENTS: usize = 64;

#[derive(Clone, Debug)]
enum Operation {
    Wait {
        ns: u64,
    },
    /// Until the next deadline of one end.
    Sleep {
        side: usize,
    },
    Write {
        side: usize,
        bytes: usize,
    },
    Read {
        side: usize,
        bytes: usize,
    },
    Finish {
        side: usize,
    },
    Abort {
        side: usize,
    },
    Deliver {
        at: usize,
    },
    Duplicate {
        at: usize,
    },
    Lose {
        at: usize,
    },
    /// Nothing larger crosses from now on, and the sending system says so at one end.
    Narrow {
        side: usize,
        bytes: u32,
    },
    /// The segment arrives, but says something else.
    Tamper {
        at: usize,
        what: u8,
        value: u32,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let side = || 0..2usize;
    let at = || any::<usize>();
    prop_oneof![
        3 => (0..2 * SECOND).prop_map(|ns| Operation::Wait { ns }),
        3 => (0..20 * MS).prop_map(|ns| Operation::Wait { ns }),
        8 => side().prop_map(|side| Operation::Sleep { side }),
        4 => (side(), 0..40_000usize).prop_map(|(side, bytes)| Operation::Write { side, bytes }),
        2 => (side(), 0..40_000usize).prop_map(|(side, bytes)| Operation::Read { side, bytes }),
        1 => side().prop_map(|side| Operation::Finish { side }),
        1 => side().prop_map(|side| Operation::Abort { side }),
        24 => at().prop_map(|at| Operation::Deliver { at }),
        2 => at().prop_map(|at| Operation::Duplicate { at }),
        4 => at().prop_map(|at| Operation::Lose { at }),
        1 => (side(), prop_oneof![576..1500u32, Just(1500)])
            .prop_map(|(side, bytes)| Operation::Narrow { side, bytes }),
        3 => (at(), any::<u8>(), any::<u32>())
            .prop_map(|(at, what, value)| Operation::Tamper { at, what, value }),
    ]
}

fn config(choice: u8) -> Config {
    let mut config = if choice & 1 == 0 { Config::standard() } else { Config::paper() };
    config.rate_bps = (choice & 2 != 0).then_some(1_000_000);
    if choice & 4 != 0 {
        config.controller = if choice & 8 == 0 { ControllerKind::Cubic } else { ControllerKind::Bbr };
    }
    if choice & 16 != 0 {
        (config.receive_limit_bytes, config.send_limit_bytes) = (4096, 8192);
    }
    config.nagle = choice & 32 != 0;
    config.discover_mtu = choice & 64 != 0;
    config.send_limit_bytes = config.send_limit_bytes.min(1 << 18);
    config
}

struct End {
    path: Path,
    connection: Option<Connection>,
    /// Deadline as last said (or never), unless something but time has come since.
    promised: Option<Instant>,
}

struct Bench {
    config: Arc<Config>,
    ends: [End; 2],
    now: Instant,
    /// Segments under way: to whom, and the bytes.
    wire: Vec<(usize, Vec<u8>)>,
    /// Largest packet that crosses.
    wide_bytes: u32,
    link_bytes: u32,
}

impl Bench {
    fn new(choice: u8, held: bool) -> Self {
        let config = Arc::new(config(choice));
        let end = || End { path: Path::new(PATH), connection: None, promised: None };
        let mut bench = Self {
            config,
            ends: [end(), end()],
            now: Instant::from_ns(SECOND),
            wire: Vec::new(),
            wide_bytes: u32::MAX,
            link_bytes: if choice & 128 == 0 { 0 } else { 1500 },
        };
        let names = Names { local_port: 1, remote_port: 2, instance: 3, nonce: 4 };
        bench.with_path(0, |id, config, context| {
            Connection::open(id, names, entropy(id), config, held, context)
        });
        bench
    }

    /// Makes the connection of one end.
    fn with_path(
        &mut self,
        side: usize,
        make: impl FnOnce(u64, Arc<Config>, &mut Context<'_>) -> Connection,
    ) {
        let end = &mut self.ends[side];
        if self.config.discover_mtu {
            let (min_bytes, base_bytes, taken_bytes) = (576, 1280, 65_535);
            let bounds = MtuBounds { min_bytes, base_bytes, taken_bytes, link_bytes: self.link_bytes };
            end.path.discover_mtu(bounds, None);
        }
        if let Some(rate_bps) = self.config.rate_bps {
            end.path.declare(
                Instant::ZERO,
                DeclaredRate { rate_bps, burst_ns: self.config.budget_burst_ns, peak: None },
            );
        } else if self.config.wants_timing() {
            let start = PathStart { mss_bytes: 1400, first_window_bytes: 14_000, remembered: None };
            end.path.measure(self.config.budget_burst_ns, |_| self.config.controller.build_path(start));
        }
        let mut context = Context { now: self.now, path: &mut end.path, sink: &mut NullSink };
        end.connection = Some(make(side as u64 + 1, Arc::clone(&self.config), &mut context));
    }

    fn arrive(&mut self, side: usize, bytes: &[u8]) {
        let Ok(segment) = decode(bytes) else { return }; // tampered with
        if self.ends[side].connection.is_none() {
            let Some(opening) = segment.bgn else { return };
            let names =
                Names { local_port: 2, remote_port: 1, instance: segment.instance, nonce: opening.nonce };
            let withhold = opening.nonce % 2 == 1;
            self.with_path(side, |id, config, context| {
                Connection::accept(
                    id,
                    names,
                    entropy(id),
                    config,
                    (&opening, opening.initial),
                    withhold,
                    context,
                )
            });
        }
        let End { path, connection, promised } = &mut self.ends[side];
        let Some(connection) = connection else { return };
        *promised = None;
        let wire_bytes = path.wire_bytes(bytes.len());
        connection.handle(
            &segment,
            wire_bytes,
            None,
            &mut Context { now: self.now, path, sink: &mut NullSink },
        );
    }

    fn take(&mut self, at: usize, keeps: bool) -> Option<(usize, Vec<u8>)> {
        let at = at % self.wire.len().max(1);
        let flight = self.wire.get(at).cloned()?;
        if !keeps {
            self.wire.remove(at);
        }
        Some(flight)
    }

    fn operate(&mut self, operation: &Operation) {
        match *operation {
            Operation::Wait { ns } => self.now = self.now.after(ns),
            Operation::Sleep { side } => {
                let End { path, connection, .. } = &self.ends[side];
                let next = connection.as_ref().and_then(|connection| connection.next(self.now, path));
                self.now = next.map_or(self.now, |step| step.at.max(self.now));
            }
            Operation::Deliver { at } | Operation::Duplicate { at } => {
                let keeps = matches!(operation, Operation::Duplicate { .. });
                if let Some((to, bytes)) = self.take(at, keeps) {
                    self.arrive(to, &bytes);
                }
            }
            Operation::Lose { at } => {
                self.take(at, false);
            }
            Operation::Narrow { side, bytes } => {
                let (now, End { path, promised, .. }) = (self.now, &mut self.ends[side]);
                self.wide_bytes = bytes;
                *promised = None;
                let packet_bytes = path.mtu_bytes();
                if let Some(mtu) = path.mtu_mut().filter(|_| bytes < packet_bytes) {
                    mtu.refused(now, packet_bytes, Some(bytes));
                }
            }
            Operation::Tamper { at, what, value } => {
                if let Some((to, bytes)) = self.take(at, false) {
                    self.arrive(to, &tampered(&bytes, what, value));
                }
            }
            Operation::Write { side, bytes } => self.each(side, |connection| {
                let _ = connection.write(&vec![7; bytes]); // an ended connection takes nothing
            }),
            Operation::Read { side, bytes } => self.each(side, |connection| {
                let _ = connection.read(&mut vec![0; bytes]);
            }),
            Operation::Finish { side } => self.each(side, Connection::finish),
            Operation::Abort { side } => self.each(side, |connection| connection.abort(ResetReason::Aborted)),
        }
    }

    fn each(&mut self, side: usize, act: impl FnOnce(&mut Connection)) {
        self.ends[side].promised = None;
        if let Some(connection) = &mut self.ends[side].connection {
            act(connection);
        }
    }

    /// Fires what is due, and sends. What `next` says is what happens.
    fn pump(&mut self, side: usize) {
        let now = self.now;
        let End { path, connection, promised } = &mut self.ends[side];
        let Some(connection) = connection else { return };
        connection.handle_timeout(&mut Context { now, path, sink: &mut NullSink });
        for _ in 0..MAX_SEGMENTS {
            let next = connection.next(now, path);
            assert_eq!(next, connection.next(now, path), "the decision is pure");
            let mut bytes = Vec::new();
            let sent = connection.poll_transmit(&mut Context { now, path, sink: &mut NullSink }, &mut bytes);
            let is_due = next.is_some_and(|step| step.at <= now);
            assert_eq!(sent.is_ok(), is_due, "{next:?} at {now:?}, and sent {sent:?}");
            let is_early = promised.take().is_some_and(|at| at > now);
            assert!(!(is_due && is_early), "{next:?} at {now:?}, before the deadline");
            if let Err(told) = sent {
                let deadline = connection.next(now, path).map(|step| step.at);
                assert_eq!(told, deadline, "the deadline is the one that was told");
                assert!(deadline.is_none_or(|at| at > now), "{deadline:?} at {now:?}");
                *promised = Some(deadline.unwrap_or(Instant::MAX));
                break;
            }
            if path.wire_bytes(bytes.len()) <= self.wide_bytes || !self.config.discover_mtu {
                self.wire.push((1 - side, bytes));
            }
        }
        while connection.poll_event().is_some() {}
    }
}

fn entropy(id: u64) -> Entropy {
    Entropy {
        initial: 0xFF_FFF0 + id as u32,
        timestamp_offset: u32::MAX - 5,
        secret: id,
        last_timestamp: None,
    }
}

/// The segment with one of its words changed.
fn tampered(bytes: &[u8], what: u8, value: u32) -> Vec<u8> {
    let mut segment: Segment<'_> = decode(bytes).expect("it was encoded here");
    let small = value % 64;
    for opening in segment.bgn.iter_mut().chain(segment.bgnak.iter_mut()) {
        match what % 3 {
            0 => opening.window_bytes = value,
            1 => opening.max_payload_bytes = (value as u16).max(64),
            _ => opening.options = crate::segment::Options::default(),
        }
    }
    if let Some(stat) = &mut segment.stat {
        match what % 6 {
            0 => stat.echo = stat.echo.wrapping_sub(small),
            1 => stat.report.window_bytes = value,
            2 => stat.timing = None,
            3 => stat.wanting = Some((small as u8 % 2, small)),
            4 => (stat.report.start, stat.report.runs) = (0, vec![1 + small % 4, 1, 1]),
            _ => stat.report.next = stat.report.next.wrapping_add(small) & 0xFF_FFFF,
        }
    }
    if let Some(report) = &mut segment.ustat {
        report.window_bytes = value;
    }
    if let Some(poll) = &mut segment.poll {
        poll.settled = what.is_multiple_of(2).then_some(poll.next.wrapping_sub(small) & 0xFF_FFFF);
    }
    segment.end = segment.end.map(|end| end.wrapping_add(small % 2) & 0xFF_FFFF);
    // A BLOCK, a REPAIR, a PIECE and an RST stand alone.
    let stands_alone = segment.block.is_some()
        || segment.repair.is_some()
        || segment.piece.is_some()
        || segment.rst.is_some();
    segment.endak |= what == 255 && !stands_alone;
    let mut out = Vec::new();
    encode(&segment, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// After its timers a connection sends if and only if something is due, and then nothing is due any more.
    #[test]
    fn what_is_due_is_sent_and_nothing_else(
        choice in any::<u8>(),
        held in any::<bool>(),
        operations in proptest::collection::vec(operation(), 0..300),
    ) {
        let mut bench = Bench::new(choice, held);
        for operation in &operations {
            bench.operate(operation);
            bench.pump(0);
            bench.pump(1);
        }
    }
}
