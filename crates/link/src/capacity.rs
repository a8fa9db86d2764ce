//! The physical limit: what a link could have carried.

use skyhaul_core::Instant;

use crate::LinkConfig;
use crate::fragments::Pieces;
use crate::line::{Fate, TransmissionLine};
use crate::outages::KnownOutages;
use crate::policer::Policer;
use crate::timeline::Timeline;

/// Number of packets of `packet_bytes` bytes on the wire a sender that never lets the queue of `port`
/// run empty (nor overflow) gets to the far end of this very link and seed by `until_arrival`: those
/// whose serialisation starts at or after `from`, that neither an outage nor the channel nor chance
/// takes, and that are delivered at or before `until_arrival`, after all their delays.
///
/// The first packet starts at `from` and meets the first random draws, as the first packet of a run does; the
/// outages and the stays of the channel lie where they lie in the run. The queue limit and the largest packet
/// play no part, and copies do not count. A packet with bit errors is not carried, also where
/// [`Damage::Deliver`](crate::Damage::Deliver) hands it over. A policer lets through what it may: its bucket
/// is full at `from`, and each packet enters as soon as it passes.
///
/// `None`: there is no such number, because the rate is unlimited (if only for some time) and nobody polices
/// it, `packet_bytes` is 0 or the configuration is not valid. The time needed grows with the number of
/// packets (also those lost while the link is down), some tens of nanoseconds each.
///
/// # Panics
/// If `port` is neither 0 nor 1.
pub fn carried_packets(
    config: &LinkConfig,
    seed: u64,
    port: u32,
    from: Instant,
    until_arrival: Instant,
    packet_bytes: u32,
) -> Option<u64> {
    config.validate().ok()?;
    let direction = config.direction(port);
    let is_limited = Timeline::new(direction).is_limited() || direction.policer.is_some();
    (is_limited && packet_bytes > 0).then(|| {
        let policer = direction.policer.map(Policer::new);
        let line = TransmissionLine::new(config, port, seed);
        saturate(line, policer, config, from, until_arrival, packet_bytes)
    })
}

fn saturate(
    mut line: TransmissionLine,
    mut policer: Option<Policer>,
    config: &LinkConfig,
    from: Instant,
    until: Instant,
    bytes: u32,
) -> u64 {
    let (mut carried, mut now) = (0, from);
    let down = KnownOutages { scheduled: &config.outages, forced: None };
    loop {
        if let Some(policer) = &mut policer {
            now = policer.earliest(now, bytes);
            policer.passes(now, bytes);
        }
        // There from the beginning or as soon as it may, so it starts when the one before it ends.
        let service = line.serve(now, bytes);
        let fate = line.fate(now, service, Pieces::whole(bytes), true, down);
        let earliest = line.earliest_arrival(service.end);
        // Time stands still at its maximum: nothing arrives there.
        if earliest > until || earliest == Instant::MAX {
            return carried;
        }
        carried += u64::from(matches!(fate, Fate::Arrives(at, way) if !way.is_damaged() && at <= until));
    }
}
