//! Regulator of a sender: how much may be under way, and when the next packet may leave.

use alloc::boxed::Box;

use skyhaul_congestion::{
    Acked, Controller, ControllerConfig, Delivery, DeliveryLog, LossEvents, Lost, Signal, Snapshot,
};
use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, MS, Pacer, Path, SECOND, Terms, Verdict};

use super::Entropy;
use crate::config::Config;
use crate::segment::HEADER_BYTES;

/// Control of how much a connection may have under way, and of who paces it. It changes once at most: a
/// connection that measures goes on with a window when nobody measures its path any more
/// ([`Regulator::use_window`]).
#[derive(Clone, Debug)]
enum Control {
    /// A window of its own. Where the path keeps a rate, it keeps to both.
    Window(Box<dyn Controller>),
    /// The rate of the path: declared by this connection, or measured.
    Path(Terms),
}

/// Facts that decide how the packets that a report allows are spread over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spreading {
    pub(super) now: Instant,
    pub(super) smoothed_rtt_ns: u64,
    pub(super) in_flight_bytes: u64,
    pub(super) mss_bytes: u64,
}

/// Window or terms of the path, and the pace. Bytes are payload under way.
#[derive(Clone, Debug)]
pub(super) struct Regulator {
    control: Control,
    loss_events: LossEvents,
    /// For controllers that go by delivery rates.
    delivery_log: Option<Box<DeliveryLog>>,
    pacer: Pacer,
    /// Within the path's rate, if it is measured: the highest rate that the configuration allows this
    /// connection.
    cap: Option<Pacer>,
    /// Packets that may leave without pacing.
    unpaced_packets: u64,
}

impl Regulator {
    pub(super) fn new(
        config: &Config,
        mss_bytes: usize,
        entropy: Entropy,
        now: Instant,
        path: &Path,
    ) -> Self {
        let start = ControllerConfig {
            overhead_bytes: u64::from(path.data_wire_bytes(HEADER_BYTES)),
            seed: u64::from(entropy.initial) << 32 | u64::from(entropy.timestamp_offset),
            ..config.controller_config(mss_bytes as u64)
        };
        let control = match config.rate_bps {
            Some(rate_bps) => Control::Path(Terms::declared(rate_bps)),
            None if config.wants_timing() => {
                Control::Path(Terms::unmeasured(start.initial_window_bytes, config.controller.name()))
            }
            None => Control::Window(config.controller.build(start)),
        };
        let wants_delivery = matches!(&control, Control::Window(controller) if controller.needs().delivery);
        Self {
            control,
            loss_events: LossEvents::default(),
            delivery_log: wants_delivery.then(|| Box::new(DeliveryLog::new(now))),
            pacer: Pacer::new(1_000_000, 0),
            cap: config
                .max_rate_bps
                .filter(|_| config.wants_timing())
                .map(|rate_bps| Pacer::new(rate_bps, config.budget_burst_ns)),
            unpaced_packets: config.initial_window_packets.max(config.few_packets),
        }
    }

    /// Goes on with a window: nobody measures the path any more.
    pub(super) fn use_window(&mut self, config: &Config, mss_bytes: usize) {
        let start = config.controller_config(mss_bytes as u64);
        (self.control, self.cap) = (Control::Window(config.controller.build(start)), None);
    }

    /// Goes by new terms of the path.
    pub(super) fn take_terms(&mut self, now: Instant, terms: Terms) {
        if let Some(cap) = &mut self.cap {
            cap.set_rate(now, terms.rate_bps);
        }
        self.control = Control::Path(terms);
    }

    /// True if the path's rate paces what is sent, and not a pace of the connection's own.
    pub(super) fn is_rate_paced(&self) -> bool {
        matches!(self.control, Control::Path(_))
    }

    /// True if what may leave leaves at once: the path's rate is unknown.
    pub(super) fn is_unpaced(&self) -> bool {
        matches!(self.control, Control::Path(terms) if terms.is_unpaced())
    }

    fn window(&self) -> Option<&dyn Controller> {
        if let Control::Window(controller) = &self.control { Some(&**controller) } else { None }
    }

    fn window_mut(&mut self) -> Option<&mut dyn Controller> {
        if let Control::Window(controller) = &mut self.control { Some(&mut **controller) } else { None }
    }

    /// Bytes that may be under way.
    pub(super) fn window_bytes(&self) -> u64 {
        match &self.control {
            Control::Window(controller) => controller.window_bytes(),
            Control::Path(terms) => terms.window_bytes,
        }
    }

    /// State for events and reports.
    pub(super) fn snapshot(&self) -> Snapshot {
        match &self.control {
            Control::Window(controller) => controller.snapshot(),
            Control::Path(Terms { name, phase, window_bytes, .. }) => {
                Snapshot { name, phase: *phase, cwnd_bytes: *window_bytes, ssthresh_bytes: u64::MAX }
            }
        }
    }

    /// When pacing lets the next data packet go; `None`: at any time. `in_train`: it belongs to a train. A
    /// path whose rate another connection has found has that rate for this one, too, before it hears of it.
    pub(super) fn paced_at(&self, in_train: bool, path: &Path) -> Option<Instant> {
        if in_train || self.is_unpaced() && !path.has_rate() {
            return None;
        }
        let own = match self.control {
            Control::Window(_) => Some(&self.pacer).filter(|_| self.unpaced_packets == 0),
            Control::Path(_) => self.cap.as_ref(),
        };
        path.grant().into_iter().chain(own.map(Pacer::ready_at)).max()
    }

    /// Phase of who paces data that waits; `None`: a declared rate or cap does.
    pub(super) fn pace_phase(&self, path: &Path) -> Option<Phase> {
        match &self.control {
            Control::Path(terms) => {
                let is_capped = self.cap.as_ref().is_some_and(|cap| Some(cap.ready_at()) > path.grant());
                (!is_capped).then_some(terms.phase)
            }
            Control::Window(_) if path.grant() > Some(self.pacer.ready_at()) => None,
            Control::Window(controller) => Some(controller.snapshot().phase),
        }
    }

    /// Sending begins again after `idle_ns`; an answer would be overdue after `rto_ns`.
    pub(super) fn on_idle(&mut self, now: Instant, idle_ns: u64, rto_ns: u64) {
        if let Some(controller) = self.window_mut() {
            controller.on_signal(now, Signal::Idle { idle_ns, rto_ns });
        }
    }

    /// A data packet leaves.
    pub(super) fn on_sent(&mut self, now: Instant, bytes: u64) {
        if let Some(controller) = self.window_mut() {
            controller.on_sent(now, bytes);
        }
    }

    /// Packets have another size from now on.
    pub(super) fn take_segment_size(&mut self, now: Instant, mss_bytes: u64) {
        if let Some(controller) = self.window_mut() {
            controller.on_signal(now, Signal::SegmentSize { mss_bytes });
        }
    }

    /// A packet leaves that counts among those that need no pacing.
    pub(super) fn use_unpaced(&mut self) {
        self.unpaced_packets = self.unpaced_packets.saturating_sub(1);
    }

    /// A segment left: a cap counts all of them, the pace of a window data and repair (`is_paced`).
    pub(super) fn spend(&mut self, now: Instant, wire_bytes: u32, is_paced: bool) {
        let own = match self.control {
            Control::Window(_) => Some(&mut self.pacer).filter(|_| is_paced),
            Control::Path(_) => self.cap.as_mut(),
        };
        if let Some(pacer) = own {
            pacer.spend(now, wire_bytes);
        }
    }

    /// Packet `number` leaves, with `in_flight_bytes` under way before it.
    pub(super) fn log_sent(&mut self, now: Instant, number: u64, bytes: u32, in_flight_bytes: u64) {
        if let Some(log) = self.delivery_log.as_mut() {
            log.on_sent(now, number, number + 1, bytes, in_flight_bytes);
        }
    }

    /// A report tells that [first, end) arrived; below `forgotten` for good.
    pub(super) fn log_received(&mut self, first: u64, end: u64, forgotten: u64) {
        if let Some(log) = self.delivery_log.as_mut() {
            log.on_delivered(first, end);
            log.forget_below(forgotten);
        }
    }

    /// Delivery as the report being read tells it.
    pub(super) fn delivery(&mut self, now: Instant, in_flight_bytes: u64) -> Option<Delivery> {
        self.delivery_log.as_mut()?.finish(now, in_flight_bytes)
    }

    /// Marks samples while the controller keeps its rate low on purpose, and while the application is the
    /// reason that nothing more is sent (`is_drained`).
    pub(super) fn note_limit(&mut self, is_drained: bool, in_flight_bytes: u64) {
        let Some(log) = self.delivery_log.as_mut() else { return };
        let Control::Window(controller) = &self.control else { return };
        if is_drained && in_flight_bytes < controller.window_bytes() || controller.needs().holds_back {
            log.mark_limited(in_flight_bytes);
        }
    }

    /// A report acknowledged packets.
    pub(super) fn on_acked(&mut self, now: Instant, acked: &Acked) {
        if let Some(controller) = self.window_mut() {
            controller.on_acked(now, acked);
        }
    }

    /// A loss event is over when the oldest packet under way was sent after it.
    pub(super) fn end_loss_event(&mut self, now: Instant, oldest_sent_at: Instant) {
        if self.loss_events.ends(oldest_sent_at)
            && let Some(controller) = self.window_mut()
        {
            controller.on_signal(now, Signal::Recovered);
        }
    }

    /// Packets were judged lost, the newest of them sent at `newest_sent_at`. Only congestion begins a loss
    /// event.
    pub(super) fn on_lost(&mut self, now: Instant, newest_sent_at: Instant, lost: Lost) {
        let begins_event =
            lost.verdict == Verdict::Congestion && self.loss_events.begins(now, newest_sent_at);
        if let Some(controller) = self.window_mut() {
            controller.on_lost(now, &Lost { begins_event, ..lost });
        }
    }

    /// Sets how the packets that a report allows are spread over time. Result: a new pace in bit/s.
    pub(super) fn spread(&mut self, facts: &Spreading, config: &Config) -> Option<u64> {
        let controller = self.window()?; // else the path's rate paces
        let allowed_bytes = controller.window_bytes().saturating_sub(facts.in_flight_bytes);
        let rtt_ns = facts.smoothed_rtt_ns;
        let rate_bps = match controller.pacing_rate_bps(rtt_ns) {
            Some(rate_bps) => rate_bps,
            None if allowed_bytes <= config.few_packets * facts.mss_bytes => {
                self.unpaced_packets = config.few_packets;
                return None;
            }
            None => (u128::from(allowed_bytes) * 8 * u128::from(SECOND) / u128::from(rtt_ns)) as u64,
        };
        self.unpaced_packets = 0;
        self.set_pace(rate_bps, facts, config)
    }

    fn set_pace(&mut self, rate_bps: u64, facts: &Spreading, config: &Config) -> Option<u64> {
        let low = config.min_rate_bps.unwrap_or(1000);
        let high = config.max_rate_bps.unwrap_or(u64::MAX).max(low);
        let rate_bps = rate_bps.clamp(low, high);
        if rate_bps == self.pacer.rate_bps() {
            return None;
        }
        let burst_bytes = config.burst_packets * facts.mss_bytes;
        // Late wake-ups are caught up for a burst or 2 ms, whichever is longer.
        let burst_ns = Pacer::new(rate_bps, 0).duration_ns(burst_bytes).max(2 * MS);
        self.pacer = Pacer::starting_at(rate_bps, burst_ns, self.pacer.ready_at().min(facts.now));
        Some(rate_bps)
    }
}
