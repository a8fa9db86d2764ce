use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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

/// Row of the page about a link: rates, queues, delays.
fn row(name: &str) -> Vec<&'static str> {
    let page = include_str!("../../../docs/guide/links.md");
    let start = format!("| `{name}` |");
    let line = page.lines().find(|line| line.starts_with(&start));
    line.unwrap_or_else(|| panic!("docs/guide/links.md has no row for {name}")).split(" | ").collect()
}

fn grouped(bytes: u64) -> String {
    format!("{},{:03}", bytes / 1000, bytes % 1000)
}

#[test]
fn the_page_about_links_has_every_one_with_its_numbers() {
    for (name, _) in PRESETS {
        let config = preset(name).unwrap();
        let (row, directions) = (row(name), [&config.forward, &config.reverse]);
        let [forward, reverse] = directions.map(|direction| match direction.rate_bps.unwrap() {
            bps if bps < 1_000_000 => format!("{} kbit/s", bps / 1000),
            bps => format!("{} Mbit/s", bps / 1_000_000),
        });
        let queues = directions.map(|direction| match direction.queue {
            QueueLimit::Bytes(bytes) => grouped(bytes),
            other => panic!("{name}: {other:?}"),
        });
        let delay = match &config.channel {
            None => format!("{} ms", config.forward.delay_ns / MS),
            Some(ChannelConfig { good, .. }) => {
                format!("{} or {} ms", good.min_delay_ns / MS, good.max_delay_ns / MS)
            }
        };
        let expected = [forward, reverse, format!("{} B", queues.join(" / ")), delay];
        assert_eq!(row[1..5], expected, "{name}");
    }
}
