//! `remembered` of an STP transport: what an earlier connection found out about the path.

use std::sync::LazyLock;

use skyhaul_core::SECOND;
use skyhaul_stp::{Config, SavedPath};

use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::{Key, read_table};
use skyhaul_scenario::kinds::{Rate, Time};
use skyhaul_scenario::tree::Node;

/// Values that the required keys replace.
pub(super) const SAVED: SavedPath = SavedPath { rate_bps: 1_000_000, rtt_min_ns: SECOND, age_ns: 0 };

pub(super) fn remembered_keys() -> &'static [Key<SavedPath>] {
    static KEYS: LazyLock<Vec<Key<SavedPath>>> = LazyLock::new(|| {
        vec![
            Key::new("rate", Rate, |s: &mut SavedPath| &mut s.rate_bps)
                .means("Rate that the path delivered, counting every IP byte.")
                .required(),
            Key::new("rtt", Time::POSITIVE, |s: &mut SavedPath| &mut s.rtt_min_ns)
                .means("Smallest round trip.")
                .required(),
            Key::new("age", Time::ANY, |s: &mut SavedPath| &mut s.age_ns).means(
                "How long ago. Up to an hour it is used from the first packet on, up to a day once a round trip \
                 fits, then not at all.",
            ),
        ]
    });
    &KEYS
}

pub(super) fn read_remembered(config: &mut Config, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut saved = config.remembered.unwrap_or(SAVED);
    read_table(remembered_keys(), &mut saved, node, path)?;
    config.remembered = Some(saved);
    Ok(())
}
