//! Router of one queue.

use skyhaul_core::{Instant, PathHeader, SECOND};

use crate::RouterConfig;
use crate::discipline::Counted;
use crate::load::Load;
use crate::shares::Shares;
use crate::standing_queue::StandingQueue;

/// Router of one queue: measures what arrives, and lowers the changes that departing packets ask for.
///
/// Whoever has the queue calls, in the order of time: [`catch_up`](Self::catch_up) before anything else of an
/// instant, [`on_arrival`](Self::on_arrival) of each packet, [`on_queued`](Self::on_queued) if it is not
/// dropped, and [`on_departure`](Self::on_departure) when its service begins. What happens is a matter of
/// these instants alone: how late the calls are made changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    config: RouterConfig,
    load: Load,
    shares: Shares,
    counted: Counted,
    queue: StandingQueue,
    /// Mean RTT of the flows, within the bounds of the interval, and so its length.
    mean_rtt_ns: u64,
    /// Nothing arrived in the last interval.
    was_idle: bool,
}

impl Router {
    /// Router whose first interval, of the shortest length, begins at `now`.
    pub fn new(config: RouterConfig, now: Instant) -> Self {
        Self {
            load: Load::starting_at(now, &config),
            shares: Shares::default(),
            counted: Counted::new(&config),
            queue: StandingQueue::starting_at(now),
            mean_rtt_ns: config.min_interval_ns,
            was_idle: true,
            config,
        }
    }

    /// A packet arrived. One that the queue drops counts, too: it is part of the load.
    pub fn on_arrival(&mut self, bytes: u32, header: Option<&PathHeader>) {
        self.load.add(bytes, header);
    }

    /// A packet took a place in the queue.
    pub fn on_queued(&mut self, bytes: u32) {
        self.queue.enter(bytes);
    }

    /// A packet's service begins: it waits no more, and its header gets its share. A minimal header stays as
    /// it is.
    pub fn on_departure(&mut self, bytes: u32, header: Option<&mut PathHeader>) {
        self.queue.leave(bytes);
        let Some(header) = header.filter(|header| header.is_for_routers()) else { return };
        let x_units = header.inter_packet.units();
        let share = self.shares.take(bytes, x_units, header.delta_bytes_per_s, self.config.set_off);
        self.counted.departed(x_units, &share);
        header.delta_bytes_per_s = share.delta_bytes_per_s;
        header.routers = header.routers.saturating_add(1).min(PathHeader::MAX_ROUTERS);
    }

    /// Next end of an interval or of a measurement of the queue. Nobody has to wake up for it.
    pub fn deadline(&self) -> Instant {
        self.control_due().min(self.queue.due())
    }

    /// Fires the timers that are due by `now`, in the order of time; `capacity_bps` says what the link can
    /// carry at a time, in bit/s. A long time without packets is passed over at once.
    pub fn catch_up(&mut self, now: Instant, capacity_bps: impl Fn(Instant) -> u64) {
        while self.deadline() <= now && self.deadline() < Instant::MAX {
            self.pass_over_idleness(now);
            let at = self.deadline();
            if at == self.queue.due() {
                self.queue.turn(self.mean_rtt_ns, capacity_bps(at));
            } else {
                self.end_interval(at, capacity_bps(at));
            }
        }
    }

    fn control_due(&self) -> Instant {
        self.load.since().after(self.mean_rtt_ns)
    }

    /// End of a control interval [XCP 4.2.2].
    fn end_interval(&mut self, now: Instant, capacity_bps: u64) {
        let &RouterConfig { min_interval_ns, max_interval_ns, .. } = &self.config;
        if let Some(rtt_ns) = self.load.mean_rtt_ns() {
            self.mean_rtt_ns = rtt_ns.min(max_interval_ns).max(min_interval_ns);
        }
        let factor = self.counted.turn(self.load.sum_x_s());
        let standing = (self.queue.standing_bytes() as f64, self.mean_rtt_ns as f64 / SECOND as f64);
        let rate = self.load.rate_bytes_per_s(now);
        self.shares = Shares::after(&self.load, rate, capacity_bps as f64 / 8.0, standing, factor);
        self.was_idle = self.load.is_empty();
        self.load = self.load.restarted_at(now);
    }

    /// While nothing arrives, waits or departs, interval follows interval with nothing to share: all but the
    /// last of each timer are left out.
    fn pass_over_idleness(&mut self, now: Instant) {
        if self.was_idle && self.load.is_empty() && self.queue.is_empty() {
            let intervals = now.since(self.load.since()) / self.mean_rtt_ns;
            let passed_ns = intervals.saturating_sub(1).saturating_mul(self.mean_rtt_ns);
            self.load = self.load.restarted_at(self.load.since().after(passed_ns));
            self.queue.pass_over(self.mean_rtt_ns, now);
        }
    }
}
