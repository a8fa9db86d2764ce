//! Sender that always has data, a bottleneck with a queue, and a receiver that acknowledges every packet: the
//! smallest world in which a controller shows how it behaves. A number is sent once; what is lost is
//! forgotten.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use core::fmt::Write as _;

use skyhaul_core::{Instant, MS, Pacer, RttEstimator, SECOND, Stream, Verdict};

use crate::{
    Acked, Controller, ControllerConfig, ControllerKind, Counting, DeliveryLog, IdleRestart, Lost, Signal,
};

pub(crate) const MSS_BYTES: u64 = 1000;
const OVERHEAD_BYTES: u64 = 40;
/// Packets beyond a missing one that make it lost.
const THRESHOLD: u64 = 3;

/// Bottleneck and round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate_bps: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) queue_packets: u64,
    /// Packets lost of a million.
    pub(crate) lost_per_million: u64,
}

pub(crate) fn config() -> ControllerConfig {
    ControllerConfig {
        mss_bytes: MSS_BYTES,
        initial_window_bytes: 10 * MSS_BYTES,
        max_window_bytes: 1 << 30,
        start_until_bytes: u64::MAX,
        counting: Counting::Bytes,
        idle_restart: IdleRestart::AfterRto,
        pacing_percent: None,
        hystart: false,
        vegas: crate::VegasConfig::default(),
        overhead_bytes: OVERHEAD_BYTES,
        rtt_ns: None,
        seed: 1,
    }
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) controller: Box<dyn Controller>,
    path: Path,
    now: Instant,
    pacer: Pacer,
    rtt: RttEstimator,
    log: DeliveryLog,
    random: Stream,
    /// Time at which the bottleneck is free.
    free_at: Instant,
    /// Acknowledgements on their way: when, of which packet.
    acks: VecDeque<(Instant, u64)>,
    /// Packets neither acknowledged nor found lost, and when they left.
    sent: BTreeMap<u64, Instant>,
    next: u64,
    /// Packet that ends the loss event, or a later one, once it is acknowledged.
    event_ends: Option<u64>,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    /// Longest queue since this was last set to zero.
    pub(crate) longest_queue: u64,
}

impl Run {
    pub(crate) fn new(kind: &ControllerKind, path: Path) -> Self {
        Self {
            controller: kind.build(config()),
            path,
            now: Instant::ZERO,
            pacer: Pacer::new(1, 0),
            rtt: RttEstimator::new(SECOND),
            log: DeliveryLog::new(Instant::ZERO),
            random: Stream::new(1, "pipe"),
            free_at: Instant::ZERO,
            acks: VecDeque::new(),
            sent: BTreeMap::new(),
            next: 0,
            event_ends: None,
            delivered: 0,
            lost: 0,
            longest_queue: 0,
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.sent.len() as u64 * MSS_BYTES
    }

    fn packet_ns(&self) -> u64 {
        (MSS_BYTES + OVERHEAD_BYTES) * 8 * SECOND / self.path.rate_bps
    }

    fn queue_packets(&self) -> u64 {
        self.free_at.since(self.now).div_ceil(self.packet_ns())
    }

    fn is_paced(&self) -> bool {
        self.controller.pacing_rate_bps(self.rtt.smoothed_ns()).is_some()
    }

    fn may_send(&self) -> bool {
        self.in_flight_bytes() + MSS_BYTES <= self.controller.window_bytes()
    }

    fn send(&mut self) {
        while self.may_send() && (!self.is_paced() || self.pacer.is_ready(self.now)) {
            if let Some(rate_bps) = self.controller.pacing_rate_bps(self.rtt.smoothed_ns()) {
                self.pacer.set_rate(self.now, rate_bps);
                self.pacer.spend(self.now, (MSS_BYTES + OVERHEAD_BYTES) as u32);
            }
            let (number, in_flight_bytes) = (self.next, self.in_flight_bytes());
            self.log.on_sent(self.now, number, number + 1, MSS_BYTES as u32, in_flight_bytes);
            self.controller.on_sent(self.now, MSS_BYTES);
            self.sent.insert(number, self.now);
            self.next += 1;
            self.enter_queue(number);
        }
    }

    fn enter_queue(&mut self, number: u64) {
        let damaged = self.random.below(1_000_000) < self.path.lost_per_million;
        if self.queue_packets() > self.path.queue_packets {
            return;
        }
        self.free_at = self.free_at.max(self.now).after(self.packet_ns());
        self.longest_queue = self.longest_queue.max(self.queue_packets());
        if !damaged {
            self.acks.push_back((self.free_at.after(self.path.rtt_ns), number));
        }
    }

    fn acknowledge(&mut self, number: u64) {
        let in_flight_before_bytes = self.in_flight_bytes();
        let Some(sent_at) = self.sent.remove(&number) else { return };
        self.delivered += 1;
        let rtt_ns = self.now.since(sent_at);
        self.rtt.sample(rtt_ns);
        self.lose(number);
        if self.event_ends.is_some_and(|end| number >= end) {
            self.event_ends = None;
            self.controller.on_signal(self.now, Signal::Recovered);
        }
        self.log.on_delivered(number, number + 1);
        self.log.forget_below(self.sent.first_key_value().map_or(self.next, |(&first, _)| first));
        let delivery = self.log.finish(self.now, self.in_flight_bytes());
        let acked = Acked {
            bytes: MSS_BYTES,
            packets: 1,
            in_flight_before_bytes,
            rtt_ns: Some(rtt_ns),
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            app_limited: false,
            in_recovery: self.event_ends.is_some(),
            delivery,
        };
        self.controller.on_acked(self.now, &acked);
        if self.controller.needs().holds_back {
            self.log.mark_limited(self.in_flight_bytes());
        }
    }

    fn lose(&mut self, acknowledged: u64) {
        let in_flight_bytes = self.in_flight_bytes();
        let kept = self.sent.split_off(&acknowledged.saturating_sub(THRESHOLD - 1));
        let lost = core::mem::replace(&mut self.sent, kept);
        if let Some((&newest, _)) = lost.last_key_value() {
            let packets = lost.len() as u32;
            self.lost += u64::from(packets);
            let begins_event = self.event_ends.is_none_or(|end| newest >= end);
            if begins_event {
                self.event_ends = Some(self.next);
            }
            let (bytes, verdict) = (u64::from(packets) * MSS_BYTES, Verdict::Congestion);
            self.controller
                .on_lost(self.now, &Lost { bytes, packets, begins_event, in_flight_bytes, verdict });
        }
    }

    /// Runs on for `ns`.
    pub(crate) fn go(&mut self, ns: u64) {
        let end = self.now.after(ns);
        loop {
            self.send();
            let ack = self.acks.front().map(|&(at, _)| at);
            let pace = (self.is_paced() && self.may_send()).then(|| self.pacer.ready_at());
            let Some(next) = ack.into_iter().chain(pace).min().filter(|&next| next <= end) else { break };
            self.now = self.now.max(next);
            while let Some((_, number)) = self.acks.pop_front_if(|ack| ack.0 <= next) {
                self.acknowledge(number);
            }
        }
        self.now = end;
    }

    /// Goodput over `ns`, in percent of what the bottleneck carries.
    pub(crate) fn share_percent(&mut self, ns: u64) -> u64 {
        let before = self.delivered;
        self.go(ns);
        (self.delivered - before) * 100 / (ns / self.packet_ns())
    }

    /// `rows` lines, one each `step_ns`.
    pub(crate) fn table(&mut self, step_ns: u64, rows: usize) -> String {
        let mut out =
            String::from("    ms  phase            cwnd  under way  queue  kbit/s  delivered  lost\n");
        for _ in 0..rows {
            self.go(step_ns);
            let snapshot = self.controller.snapshot();
            let pace = self.controller.pacing_rate_bps(self.rtt.smoothed_ns()).map_or(0, |bps| bps / 1000);
            let phase = alloc::format!("{:?}", snapshot.phase);
            let (ms, cwnd) = (self.now.as_ns() / MS, snapshot.cwnd_bytes / MSS_BYTES);
            let (flight, queue) = (self.sent.len(), self.queue_packets());
            let (delivered, lost) = (self.delivered, self.lost);
            let _ = writeln!(
                out,
                "{ms:6}  {phase:15} {cwnd:5}  {flight:9}  {queue:5}  {pace:6}  {delivered:9}  {lost:4}"
            );
        }
        out
    }
}
