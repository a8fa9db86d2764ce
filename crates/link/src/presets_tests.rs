use skyhaul_core::{MS, SECOND};

use crate::test_support::state;
use crate::{ChannelConfig, ChannelState, LinkConfig, PRESETS, QueueLimit, preset};

/// Rate, queue limit in bytes and bit error rate, forward and reverse.
fn figures(config: &LinkConfig) -> [(u64, u64, f64); 2] {
    [&config.forward, &config.reverse].map(|direction| {
        let QueueLimit::Bytes(queue_bytes) = direction.queue else { panic!("{:?}", direction.queue) };
        assert_eq!(direction.delay_ns, 275 * MS);
        (direction.rate_bps.unwrap(), queue_bytes, direction.bit_error_rate)
    })
}

#[test]
fn the_built_in_links_are_what_they_say() {
    let of = |name| figures(&preset(name).unwrap());
    assert_eq!(of("geo"), [(10_000_000, 687_500, 0.0); 2]);
    assert_eq!(of("geo-noisy"), [(10_000_000, 687_500, 1e-5); 2]);
    assert_eq!(of("thin-return"), [(10_000_000, 687_500, 0.0), (10_000, 15_000, 0.0)]);
    assert_eq!(of("geo-noisy-thin"), [(10_000_000, 687_500, 1e-5), (10_000, 15_000, 1e-5)]);
}

/// Rate and queue limit in bytes, which both directions share, and the channel.
fn low_orbit(name: &str) -> (u64, u64, ChannelConfig) {
    let config = preset(name).unwrap();
    assert_eq!(config.forward, config.reverse);
    let QueueLimit::Bytes(queue_bytes) = config.forward.queue else { panic!("{:?}", config.forward.queue) };
    assert_eq!((config.forward.delay_ns, config.forward.loss), (0, 0.0), "all of it is the channel's");
    (config.forward.rate_bps.unwrap(), queue_bytes, config.channel.unwrap())
}

#[test]
fn the_links_of_low_orbits_are_there_and_gone() {
    let channel = |there_ns, gone_ns| ChannelConfig {
        good: state(there_ns, 0.0, [100 * MS, 150 * MS]),
        bad: state(gone_ns, 1.0, [100 * MS, 150 * MS]),
        start: ChannelState::Good,
    };
    assert_eq!(low_orbit("leo-handoff"), (10_000_000, 375_000, channel(9 * SECOND, SECOND)));
    assert_eq!(low_orbit("leo-passes"), (10_000_000, 375_000, channel(5 * SECOND, 11_666_666_666)));
}

#[test]
fn every_name_that_is_listed_exists_and_is_valid() {
    for (name, line) in PRESETS {
        let config = preset(name).unwrap();
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(config.name, *name);
        assert!(!line.is_empty());
    }
    assert_eq!(preset("warp"), None);
}
