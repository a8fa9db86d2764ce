use skyhaul_core::MS;

use crate::{LinkConfig, PRESETS, QueueLimit, preset};

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
