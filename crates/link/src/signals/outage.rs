//! Outages of a link, as the router in front of it sees them [SCPS-TP 3.1.3].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::event::RouterSignal;

use super::flow::has_data;
use super::{Flow, Passing, Quote, SignalConfig, SignalMessage, message};
use crate::Conditions;

/// Source that was told.
#[derive(Clone, Debug)]
struct Told {
    at: Instant,
    /// Beginning of the first packet that it was told of. That was lost, so its number stays under way.
    quote: Quote,
}

/// State of a link as the router knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct OutageWatch {
    is_down: bool,
    /// Next time to look whether it is up again, if that is known.
    look_at: Option<Instant>,
    told: BTreeMap<Flow, Told>,
}

impl OutageWatch {
    pub(super) fn is_down(&self) -> bool {
        self.is_down
    }

    pub(super) fn look_at(&self) -> Option<Instant> {
        self.look_at
    }

    /// Takes in what the router can see of the link at `now`: it sees an outage that has lasted for a while,
    /// and its end when that has.
    pub(super) fn look(
        &mut self,
        now: Instant,
        conditions: &Conditions,
        config: &SignalConfig,
        out: &mut Vec<SignalMessage>,
    ) {
        match conditions.outage_at(now) {
            Some(outage) if self.is_down || outage.from.after(config.outage_delay_ns) <= now => {
                self.is_down = true;
                let seen_at = outage.to.after(config.restored_delay_ns);
                self.look_at = Some(seen_at).filter(|&at| at < Instant::MAX);
            }
            None if self.is_down => {
                let lately = conditions.outages(now.before(config.restored_delay_ns), now);
                let seen_at = lately.last().map(|outage| outage.to.after(config.restored_delay_ns));
                match seen_at.filter(|&at| at > now) {
                    Some(at) => self.look_at = Some(at),
                    None => self.restore(out),
                }
            }
            _ => {}
        }
    }

    fn restore(&mut self, out: &mut Vec<SignalMessage>) {
        (self.is_down, self.look_at) = (false, None);
        for (flow, told) in core::mem::take(&mut self.told) {
            out.push(message(RouterSignal::LinkRestored, &flow, told.quote));
        }
    }

    /// A packet is about to enter the link. One without data has no number that its sender waits for: nobody
    /// is told of it.
    pub(super) fn leaves(
        &mut self,
        now: Instant,
        packet: &Passing,
        config: &SignalConfig,
        out: &mut Vec<SignalMessage>,
    ) {
        let Some(flow) = Flow::of(packet).filter(|_| self.is_down && has_data(packet)) else { return };
        let is_full = self.told.len() >= config.max_destinations as usize;
        match self.told.get_mut(&flow) {
            Some(told) if now.since(told.at) < config.interval_ns => return,
            Some(told) => told.at = now,
            None if is_full => return,
            None => {
                self.told.insert(flow, Told { at: now, quote: Quote::of(packet) });
            }
        }
        out.push(message(RouterSignal::LinkOutage, &flow, Quote::of(packet)));
    }
}
