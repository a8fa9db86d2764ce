//! What a controller that goes by delivery rates is told. Other connections keep no log of it.

use alloc::boxed::Box;

use skyhaul_congestion::{ControllerConfig, Delivery, DeliveryLog};
use skyhaul_core::Path;

use super::{Connection, Context, Entropy};
use crate::config::Config;
use crate::segment::HEADER_BYTES;

/// What only the connection can tell its controller.
pub(super) fn controller_config(
    config: &Config,
    mss_bytes: usize,
    path: &Path,
    entropy: Entropy,
) -> ControllerConfig {
    ControllerConfig {
        overhead_bytes: u64::from(path.wire_bytes(HEADER_BYTES)),
        seed: u64::from(entropy.initial) << 32 | u64::from(entropy.timestamp_offset),
        ..config.controller_config(mss_bytes as u64)
    }
}

impl Connection {
    /// The controller is known; nothing was sent yet.
    pub(super) fn start_sampling(&mut self, context: &Context<'_>) {
        let is_wanted = self.controller.wants_delivery();
        self.delivery_log = is_wanted.then(|| Box::new(DeliveryLog::new(context.now)));
    }

    /// A packet leaves, with `in_flight_bytes` under way before it.
    pub(super) fn log_sent(&mut self, number: u64, in_flight_bytes: u64, context: &Context<'_>) {
        let Some(log) = self.delivery_log.as_mut() else { return };
        let bytes = self.cache.entry(number).map_or(0, |entry| u32::from(entry.bytes));
        log.on_sent(context.now, number, number + 1, bytes, in_flight_bytes);
    }

    /// A report tells that [first, end) arrived; below `forgotten` for good.
    pub(super) fn log_received(&mut self, first: u64, end: u64, forgotten: u64) {
        if let Some(log) = self.delivery_log.as_mut() {
            log.on_delivered(first, end);
            log.forget_below(forgotten);
        }
    }

    /// What the report being read says about delivery.
    pub(super) fn delivery(&mut self, context: &Context<'_>) -> Option<Delivery> {
        self.delivery_log.as_mut()?.finish(context.now, self.cache.in_flight_bytes())
    }

    /// Samples are marked while the controller keeps its rate low on purpose, and (`is_drained`) while the
    /// application is the reason that nothing more is sent.
    pub(super) fn note_limit(&mut self, is_drained: bool) {
        let Some(log) = self.delivery_log.as_mut() else { return };
        let in_flight_bytes = self.cache.in_flight_bytes();
        let is_idle = is_drained
            && self.cache.unsent_bytes() == 0
            && self.cache.queued_packets() == 0
            && in_flight_bytes < self.controller.window_bytes();
        if is_idle || self.controller.holds_back() {
            log.mark_limited(in_flight_bytes);
        }
    }

    /// A loss event is over when the oldest packet under way was sent after it.
    pub(super) fn end_loss_event(&mut self, context: &Context<'_>) {
        let oldest_sent_at = self.oldest_open_sent_at();
        if self.loss_events.ends(oldest_sent_at) {
            self.controller.on_recovered(context.now);
        }
    }
}
