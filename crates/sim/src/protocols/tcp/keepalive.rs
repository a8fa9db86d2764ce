//! `keepalive` of a TCP transport.

use std::sync::LazyLock;

use skyhaul_core::SECOND;
use skyhaul_tcp::{Config, Keepalive};

use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::{Key, read_table};
use skyhaul_scenario::kinds::{Count, Time};
use skyhaul_scenario::tree::{Node, Value};

/// Where nothing else is said: the two hours of RFC 1122 4.2.3.6, and what follows them in the BSDs.
pub(super) const KEEPALIVE: Keepalive =
    Keepalive { idle_ns: 7200 * SECOND, interval_ns: 75 * SECOND, max_questions: 9 };

pub(super) fn keepalive_keys() -> &'static [Key<Keepalive>] {
    static KEYS: LazyLock<Vec<Key<Keepalive>>> = LazyLock::new(|| {
        vec![
            Key::new("idle", Time::POSITIVE, |k: &mut Keepalive| &mut k.idle_ns)
                .means("Silence before the first question."),
            Key::new("interval", Time::POSITIVE, |k: &mut Keepalive| &mut k.interval_ns)
                .means("From a question to the next one."),
            Key::new("max_questions", Count::at_least(1), |k: &mut Keepalive| &mut k.max_questions)
                .means("Unanswered questions after which the connection fails."),
        ]
    });
    &KEYS
}

pub(super) fn read_keepalive(config: &mut Config, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut keepalive = config.keepalive.unwrap_or(KEEPALIVE);
    config.keepalive = match &node.value {
        Value::Switch(on) => on.then_some(keepalive),
        Value::Table(_) => {
            read_table(keepalive_keys(), &mut keepalive, node, path)?;
            Some(keepalive)
        }
        _ => return Err(node.place.refuse(path, &node.shown(), "true, false or a table", "")),
    };
    Ok(())
}
