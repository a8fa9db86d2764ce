//! Faults of a link.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{
    ChannelConfig, ChannelState, DirectionConfig, Order, Outage, QueueLimit, RedConfig, Reordering,
    StateConfig,
};

use crate::common::dice::Dice;

pub(crate) fn direction(d: &mut Dice) -> DirectionConfig {
    let rate_bps = (!d.percent(10)).then(|| d.scale(10_000, 50_000_000));
    let queue = match rate_bps {
        Some(rate) if rate < 1_000_000 || d.percent(60) => QueueLimit::Packets(d.scale(2, 200) as u32),
        Some(_) if d.percent(50) => QueueLimit::Bytes(d.scale(3_000, 1_000_000)),
        _ => QueueLimit::Unlimited,
    };
    let delay_ns = d.scale(MS, 600 * MS);
    DirectionConfig {
        rate_bps,
        delay_ns,
        order: d.pick(&[Order::default(), Order::Free]),
        queue,
        loss: if d.percent(60) { d.scale(100, 300_000) as f64 / 1e6 } else { 0.0 },
        bit_error_rate: if d.percent(20) { d.scale(1, 100) as f64 / 1e6 } else { 0.0 },
        reordering: Reordering {
            probability: if d.percent(40) { d.scale(1_000, 300_000) as f64 / 1e6 } else { 0.0 },
            extra_delay_ns: d.scale(MS / 10, 2 * delay_ns + MS),
        },
        ..DirectionConfig::default()
    }
}

/// Up to five outages of up to 20 s until a little after the link heals (which ends them).
pub(crate) fn outages(d: &mut Dice, heal_at: Instant) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut at = Instant::ZERO;
    let count = if d.percent(50) { d.below(6) } else { 0 };
    for _ in 0..count {
        let from = at.after(d.scale(1, heal_at.as_ns()));
        at = from.after(d.scale(10 * MS, 20 * SECOND));
        outages.push(Outage { from, to: at });
    }
    outages
}

pub(crate) fn channel(d: &mut Dice) -> ChannelConfig {
    ChannelConfig {
        good: channel_state(d, &[0.0, 0.0, 0.01]),
        bad: channel_state(d, &[0.05, 0.5, 1.0, 1.0]),
        start: d.pick(&[ChannelState::Good, ChannelState::Bad]),
    }
}

fn channel_state(d: &mut Dice, losses: &[f64]) -> StateConfig {
    let min_delay_ns = d.pick(&[0, 0, 20 * MS, 300 * MS]);
    StateConfig {
        mean_stay_ns: d.scale(20 * MS, 20 * SECOND),
        loss: d.pick(losses),
        min_delay_ns,
        max_delay_ns: min_delay_ns + d.pick(&[0, 0, 50 * MS, 500 * MS]),
    }
}

/// A queue that marks packets before it drops them.
pub(crate) fn marking_queue(d: &mut Dice, direction: &mut DirectionConfig) {
    let (QueueLimit::Packets(limit), true) = (direction.queue, direction.rate_bps.is_some()) else { return };
    let min = d.scale(1, u64::from(limit)) as u32;
    direction.red = Some(RedConfig {
        min: QueueLimit::Packets(min),
        max: QueueLimit::Packets(min + d.scale(1, 50) as u32),
        max_probability: d.pick(&[0.02, 0.1, 1.0]),
        weight: d.pick(&[0.002, 0.1, 1.0]),
        gentle: d.percent(50),
        ecn: d.percent(80),
        ..RedConfig::default()
    });
}
