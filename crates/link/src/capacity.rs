//! The physical limit: what a link could have carried.

use skyhaul_core::Instant;

use crate::LinkConfig;
use crate::channel::{Channel, Fate};

/// How many packets of `packet_bytes` bytes on the wire a sender that never lets the queue of `port`
/// run empty (nor overflow) gets through this very link and seed: those whose serialisation starts
/// at or after `from` and ends by `until`, and that neither an outage nor chance takes.
///
/// The first packet starts at `from` and meets the first random draws, as the first packet of a run
/// does. Queue limit and delay play no part. A packet with bit errors is not carried, also where
/// [`Damage::Deliver`](crate::Damage::Deliver) hands it over.
///
/// `None`: there is no such number, because the rate is unlimited, `packet_bytes` is 0 or the
/// configuration is not valid. The time needed grows with the number of packets, some tens of
/// nanoseconds each.
///
/// # Panics
/// If `port` is neither 0 nor 1.
pub fn carried_packets(
    config: &LinkConfig,
    seed: u64,
    port: u32,
    from: Instant,
    until: Instant,
    packet_bytes: u32,
) -> Option<u64> {
    config.validate().ok()?;
    let countable = config.direction(port).rate_bps.is_some() && packet_bytes > 0;
    countable.then(|| saturate(Channel::new(config, port, seed), config, from, until, packet_bytes))
}

fn saturate(mut channel: Channel, config: &LinkConfig, from: Instant, until: Instant, bytes: u32) -> u64 {
    let mut carried = 0;
    loop {
        // There from the beginning, so it starts when the one before it ends.
        let (slot, fate) = channel.send(from, bytes, &config.outages);
        // Time stands still at its maximum: nothing ends there.
        if slot.end > until || slot.end == Instant::MAX {
            return carried;
        }
        carried += u64::from(matches!(fate, Fate::Intact { .. }));
    }
}
