//! `ack_policy` of a TCP transport.

use std::sync::LazyLock;

use skyhaul_tcp::{AckPolicy, Config};

use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::{Key, expect_table, join, read_table};
use skyhaul_scenario::kinds::{Choice, Count, Time};
use skyhaul_scenario::tree::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckKind {
    Immediate,
    Delayed,
    Heartbeat,
    Reduced,
}

/// A policy as the file says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckDraft {
    kind: AckKind,
    every_packets: u32,
    /// A tick, for the heartbeat.
    delay_ns: u64,
}

impl From<AckPolicy> for AckDraft {
    fn from(policy: AckPolicy) -> Self {
        let (kind, every_packets, delay_ns) = match policy {
            AckPolicy::Immediate => (AckKind::Immediate, 1, 1),
            AckPolicy::Delayed { every_packets, delay_ns } => (AckKind::Delayed, every_packets, delay_ns),
            AckPolicy::Heartbeat { every_packets, tick_ns } => (AckKind::Heartbeat, every_packets, tick_ns),
            AckPolicy::Reduced { every_packets, delay_ns } => (AckKind::Reduced, every_packets, delay_ns),
        };
        Self { kind, every_packets, delay_ns }
    }
}

impl AckDraft {
    fn finish(self) -> AckPolicy {
        let Self { kind, every_packets, delay_ns } = self;
        match kind {
            AckKind::Immediate => AckPolicy::Immediate,
            AckKind::Delayed => AckPolicy::Delayed { every_packets, delay_ns },
            AckKind::Heartbeat => AckPolicy::Heartbeat { every_packets, tick_ns: delay_ns },
            AckKind::Reduced => AckPolicy::Reduced { every_packets, delay_ns },
        }
    }
}

pub(super) fn ack_policy_keys() -> &'static [Key<AckDraft>] {
    static KEYS: LazyLock<Vec<Key<AckDraft>>> = LazyLock::new(|| {
        let kinds = Choice(&[
            ("immediate", AckKind::Immediate),
            ("delayed", AckKind::Delayed),
            ("heartbeat", AckKind::Heartbeat),
            ("reduced", AckKind::Reduced),
        ]);
        vec![
            Key::new("kind", kinds, |a: &mut AckDraft| &mut a.kind).means(
                "Every segment at once; the n-th, or an earlier one when its time has passed, but out of sequence \
                 at once [RFC 5681 4.2]; the same with one clock for the whole host; nothing at once but the end, \
                 for a thin way back.",
            ),
            Key::new("every_packets", Count::at_least(1), |a: &mut AckDraft| &mut a.every_packets)
                .means("The n-th segment is acknowledged at once. Not with \"immediate\"."),
            Key::new("delay", Time::POSITIVE, |a: &mut AckDraft| &mut a.delay_ns)
                .means("How long a lone segment waits; the tick of a heartbeat. Not with \"immediate\"."),
        ]
    });
    &KEYS
}

/// Reads the table; keys that it lacks stay as in the profile.
pub(super) fn read_ack_policy(config: &mut Config, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut draft = AckDraft::from(config.ack_policy);
    read_table(ack_policy_keys(), &mut draft, node, path)?;
    let unused = expect_table(node, path)?.entries.iter().find(|entry| entry.name != "kind");
    if let Some(entry) = unused.filter(|_| draft.kind == AckKind::Immediate) {
        let found = format!("`{}`, which \"immediate\" has no use for", entry.name);
        let key = join(path, &entry.name);
        return Err(entry.place.refuse(&key, &found, "`kind` alone", "leave it out, or use another kind"));
    }
    config.ack_policy = draft.finish();
    Ok(())
}
