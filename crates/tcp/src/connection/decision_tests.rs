//! Agreement of what a connection says with what it does, whatever happened before.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use proptest::prelude::*;
use skyhaul_congestion::ControllerKind;
use skyhaul_core::endpoint::Connection as _;
use skyhaul_core::{
    DeclaredRate, Ecn, Instant, MS, NetworkFields, NullSink, Path, PathConfig, SECOND, Verdict,
};

use super::{Connection, Context, Entropy, Names};
use crate::scps::{Scps, Snack, SnackOption};
use crate::segment::{ExtraOptions, SackBlocks, Way, decode, flags};
use crate::{AckPolicy, Config, IcmpMessage, Keepalive, Recovery, Unreachable};

#[path = "../../../core/tests/decision/mod.rs"]
mod decision;

const MAX_OPERATIONS: usize = 400;

fn config(choice: u32) -> Config {
    let bit = |n: u32| choice >> n & 1 != 0;
    let mut config = if bit(0) { Config::standard() } else { Config::paper() };
    if bit(1) {
        config.recovery = if bit(2) { Recovery::NewReno } else { Recovery::Reno };
    } else if bit(2) {
        config.recovery = Recovery::Sack;
    }
    if bit(3) {
        config.controller = if bit(4) { ControllerKind::Bbr } else { ControllerKind::Reno };
    }
    if bit(5) {
        config.ack_policy = AckPolicy::Reduced { every_packets: 4, delay_ns: 300 * MS };
    }
    if bit(6) {
        config.keepalive = Some(Keepalive { idle_ns: 2 * SECOND, interval_ns: SECOND, max_questions: 3 });
    }
    if bit(7) {
        config.pacing_percent = Some((200, 120));
    }
    if bit(8) {
        (config.send_limit_bytes, config.receive_limit_bytes) = (8192, 4096);
    }
    if bit(9) {
        let snack = if bit(8) { Snack::Short } else { Snack::Vector };
        config.scps = Some(Scps { snack, ..Scps::standard() });
    }
    config.rate_bps = bit(10).then_some(200_000);
    config.discover_mtu = bit(14);
    (config.nagle, config.timestamps, config.max_repeats) = (bit(11), bit(12), if bit(13) { 3 } else { 15 });
    config
}

fn names(end: usize) -> Names {
    let way = Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2).into() };
    if end == 0 {
        Names { peer: way, local_port: 5000, remote_port: 80 }
    } else {
        Names { peer: way.reversed(), local_port: 80, remote_port: 5000 }
    }
}

/// Two connections, their paths, and what is under way from each.
struct Ends {
    configs: [Arc<Config>; 2],
    connections: [Option<Connection>; 2],
    paths: [Path; 2],
    under_way: [VecDeque<(Ecn, Vec<u8>)>; 2],
    now: Instant,
    sink: NullSink,
}

impl Ends {
    /// End 0 opens; both do if `crossing`.
    fn new(choices: [u32; 2], crossing: bool) -> Self {
        let configs = choices.map(|choice| Arc::new(config(choice)));
        let sizes = PathConfig { mtu_bytes: 1500, carrier_bytes: 20, head_bytes: 0, tail_bytes: 0 };
        let paths = [0, 1].map(|end: usize| {
            let mut path = Path::new(sizes);
            if let Some(rate_bps) = configs[end].rate_bps {
                path.declare(Instant::ZERO, DeclaredRate { rate_bps, burst_ns: 10 * MS, peak: None });
            }
            path
        });
        let now = Instant::from_ns(1);
        let mut ends = Self {
            configs,
            connections: [None, None],
            paths,
            under_way: Default::default(),
            now,
            sink: NullSink,
        };
        ends.open(0);
        if crossing {
            ends.open(1);
        }
        ends
    }

    fn open(&mut self, end: usize) {
        let (config, entropy) = (Arc::clone(&self.configs[end]), Self::entropy(end));
        let (connection, context) = self.parts(end);
        *connection = Some(Connection::open(1, names(end), entropy, config, &context));
    }

    fn entropy(end: usize) -> Entropy {
        Entropy { initial: u32::MAX - 3000 * end as u32, timestamp_offset: 7, number: None }
    }

    fn parts(&mut self, end: usize) -> (&mut Option<Connection>, Context<'_>) {
        let context = Context { now: self.now, path: &mut self.paths[end], sink: &mut self.sink };
        (&mut self.connections[end], context)
    }

    /// The first segment on its way from `end` arrives, after `change` of it.
    fn deliver(&mut self, end: usize, change: impl FnOnce(&mut crate::segment::Segment<'_>)) {
        let Some((ecn, bytes)) = self.under_way[end].pop_front() else { return };
        let to = 1 - end;
        let mut segment = decode(names(to).peer, &bytes).expect("an engine sends segments");
        change(&mut segment);
        let (config, entropy) = (Arc::clone(&self.configs[to]), Self::entropy(to));
        let (connection, mut context) = self.parts(to);
        match connection {
            Some(connection) => connection.handle(&segment, ecn.into(), bytes.len() as u32, &mut context),
            None if segment.flags == flags::SYN => {
                *connection = Some(Connection::accept(1, names(to), entropy, config, &segment, &context));
            }
            None => {}
        }
    }

    fn each_settles(&mut self) {
        for end in 0..2 {
            let now = self.now;
            let (Some(connection), context) = self.parts(end) else { continue };
            let sent = decision::settle(connection, now, context.path);
            let sent = sent.into_iter().map(|(NetworkFields { ecn, .. }, bytes)| (ecn, bytes));
            self.under_way[end].extend(sent);
        }
    }

    fn operate(&mut self, kind: u8, end: usize, amount: u16) {
        let now = self.now;
        match kind {
            0 => drop(self.under_way[end].pop_front()),
            1 => {
                let again = self.under_way[end].front().cloned();
                self.under_way[end].extend(again);
            }
            2 => {
                let last = self.under_way[end].pop_back();
                if let Some(last) = last {
                    self.under_way[end].push_front(last);
                }
            }
            3 => self.now = now.after(u64::from(amount) * 5000),
            4 => self.now = now.after(u64::from(amount % 4096) * MS),
            5 => self.pass_deadline(),
            6 => self.forge(end, amount),
            7 => {
                if let Some((ecn, _)) = self.under_way[end].front_mut().filter(|(ecn, _)| *ecn == Ecn::Ect0) {
                    *ecn = Ecn::Ce;
                }
                self.deliver(end, |_| ());
            }
            8..=16 => self.use_one(kind, end, amount),
            _ => (0..=amount % 8).for_each(|_| self.deliver(end, |_| ())),
        }
    }

    /// The first segment on its way from `end` arrives, but for one field.
    fn forge(&mut self, end: usize, amount: u16) {
        let number = u32::from(amount >> 4);
        self.deliver(end, |segment| match amount % 16 {
            0 => segment.flags ^= 1 << (number % 8),
            1..=5 => segment.sequence = segment.sequence.wrapping_add(number),
            6..=10 => segment.acknowledgement ^= number,
            11 | 12 if segment.options.sack == SackBlocks::default() => {
                let mut extra = ExtraOptions::default();
                let vector = &number.to_be_bytes()[2..];
                SnackOption { offset: amount >> 12, size: 1 + (amount >> 4 & 3), vector }.push(&mut extra);
                segment.options.extra = extra;
            }
            _ => segment.window = amount >> 5,
        });
    }

    fn pass_deadline(&mut self) {
        let now = self.now;
        let deadlines = [0, 1].map(|end| {
            let (connection, context) = self.parts(end);
            connection.as_ref().and_then(|connection| connection.deadline(now, context.path))
        });
        self.now = deadlines.into_iter().flatten().min().unwrap_or(now);
    }

    fn use_one(&mut self, kind: u8, end: usize, amount: u16) {
        let now = self.now;
        let (Some(connection), mut context) = self.parts(end) else { return };
        match kind {
            8..=10 => drop(connection.write(&vec![7; usize::from(amount)])),
            11 | 12 => drop(connection.read(&mut vec![0; usize::from(amount)])),
            13 if amount.is_multiple_of(20) => connection.finish(),
            13 if amount.is_multiple_of(63) => connection.abort(),
            13 if amount.is_multiple_of(31) => connection.release(now),
            14 => {
                let message = match amount % 4 {
                    0 => IcmpMessage::Unreachable(Unreachable::Port),
                    1 => IcmpMessage::TimeExceeded,
                    _ => IcmpMessage::PacketTooBig { mtu_bytes: u32::from(amount % 1600) },
                };
                let number = crate::sequence::truncate(connection.sender.una());
                connection.handle_icmp(message, number, &mut context);
            }
            15 => {
                let cause = if amount.is_multiple_of(2) { Verdict::Outage } else { Verdict::Unknown };
                connection.assume_loss_cause(cause);
            }
            _ => connection.report_damage(now),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 1000 } else { 5000 }))]

    #[test]
    fn something_is_due_if_and_only_if_a_segment_leaves(
        choices in any::<[u32; 2]>(),
        crossing in proptest::bool::weighted(0.1),
        operations in proptest::collection::vec((0u8..40, 0usize..2, any::<u16>()), 1..MAX_OPERATIONS),
    ) {
        let mut ends = Ends::new(choices, crossing);
        ends.each_settles();
        for (kind, end, amount) in operations {
            ends.operate(kind, end, amount);
            ends.each_settles();
        }
    }
}
