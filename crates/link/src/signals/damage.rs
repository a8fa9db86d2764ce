//! Damage of a link, as the router behind it sees it [SCPS-TP 3.1.2].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::event::RouterSignal;

use super::flow::has_number;
use super::{Flow, Passing, Quote, SignalConfig, SignalMessage, message};

/// Destination of packets that came by the link.
#[derive(Clone, Debug)]
struct Destination {
    seen_at: Instant,
    told_at: Option<Instant>,
    /// Beginning of the last packet.
    quote: Quote,
}

/// Average of a link, and the destinations of what came by it.
#[derive(Clone, Debug, Default)]
pub(super) struct DamageWatch {
    /// Share of damaged packets, the newest ones by their weight.
    average: f64,
    is_damaging: bool,
    destinations: BTreeMap<Flow, Destination>,
}

impl DamageWatch {
    pub(super) fn arrived(
        &mut self,
        now: Instant,
        damaged: u64,
        packet: Option<&Passing>,
        config: &SignalConfig,
        out: &mut Vec<SignalMessage>,
    ) {
        for _ in 0..damaged {
            self.average += config.damage_weight * (1.0 - self.average);
        }
        self.average -= config.damage_weight * self.average;
        let was_damaging = core::mem::replace(&mut self.is_damaging, self.average > config.damage_threshold);
        let named =
            packet.and_then(|packet| Flow::of(packet).filter(|_| has_number(packet)).zip(Some(packet)));
        if let Some((flow, packet)) = named {
            self.see(flow, now, Quote::of(packet), config);
        }
        if !self.is_damaging {
            return;
        }
        if !was_damaging {
            self.forget_old(now, config);
            for (flow, destination) in &mut self.destinations {
                destination.tell(flow, now, config, out);
            }
        } else if let Some((flow, _)) = named
            && let Some(destination) = self.destinations.get_mut(&flow)
        {
            destination.tell(&flow, now, config, out);
        }
    }

    fn see(&mut self, flow: Flow, now: Instant, quote: Quote, config: &SignalConfig) {
        if let Some(destination) = self.destinations.get_mut(&flow) {
            (destination.seen_at, destination.quote) = (now, quote);
            return;
        }
        if self.destinations.len() >= config.max_destinations as usize {
            let oldest = self.destinations.iter().min_by_key(|(_, destination)| destination.seen_at);
            let Some((&oldest, _)) = oldest else { return };
            self.destinations.remove(&oldest);
        }
        self.destinations.insert(flow, Destination { seen_at: now, told_at: None, quote });
    }

    fn forget_old(&mut self, now: Instant, config: &SignalConfig) {
        self.destinations.retain(|_, known| now.since(known.seen_at) <= config.destination_age_ns);
    }
}

impl Destination {
    fn tell(&mut self, flow: &Flow, now: Instant, config: &SignalConfig, out: &mut Vec<SignalMessage>) {
        if self.told_at.is_none_or(|told_at| now.since(told_at) >= config.interval_ns) {
            self.told_at = Some(now);
            out.push(message(RouterSignal::CorruptionExperienced, flow, self.quote.clone()));
        }
    }
}
