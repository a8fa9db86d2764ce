//! `ack_policy` of a TCP transport.

use std::sync::LazyLock;

use skyhaul_tcp::{AckPolicy, Config, MAX_ACKS_PER_ROUND_TRIP};

use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::{Key, expect_table, join, read_table};
use skyhaul_scenario::kinds::{Bytes, Choice, Count, Rate, Time};
use skyhaul_scenario::tree::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckKind {
    Immediate,
    Delayed,
    Heartbeat,
    Reduced,
    Bytes,
    PerRoundTrip,
    ShareOfRate,
}

/// A policy as the file says it.
#[derive(Clone, Copy, Debug)]
pub(in crate::protocols) struct AckDraft {
    kind: AckKind,
    every_packets: u32,
    every_bytes: u64,
    /// A tick, for the heartbeat.
    delay_ns: u64,
    acks: u32,
    rate_bps: u64,
    percent: u32,
}

impl From<AckPolicy> for AckDraft {
    fn from(policy: AckPolicy) -> Self {
        let (kind, every_packets, delay_ns) = match policy {
            AckPolicy::PerRoundTrip { acks } => {
                return Self { kind: AckKind::PerRoundTrip, acks, ..Self::PLAIN };
            }
            AckPolicy::ShareOfRate { rate_bps, percent } => {
                return Self { kind: AckKind::ShareOfRate, rate_bps, percent, ..Self::PLAIN };
            }
            AckPolicy::Bytes { every_bytes, delay_ns } => {
                return Self { kind: AckKind::Bytes, every_bytes, delay_ns, ..Self::PLAIN };
            }
            AckPolicy::Immediate => (AckKind::Immediate, 1, 1),
            AckPolicy::Delayed { every_packets, delay_ns } => (AckKind::Delayed, every_packets, delay_ns),
            AckPolicy::Heartbeat { every_packets, tick_ns } => (AckKind::Heartbeat, every_packets, tick_ns),
            AckPolicy::Reduced { every_packets, delay_ns } => (AckKind::Reduced, every_packets, delay_ns),
        };
        Self { kind, every_packets, delay_ns, ..Self::PLAIN }
    }
}

impl AckDraft {
    const PLAIN: Self = Self {
        kind: AckKind::Immediate,
        every_packets: 1,
        every_bytes: 12_000,
        delay_ns: 1,
        acks: 4,
        rate_bps: 1_000_000,
        percent: 50,
    };

    fn finish(self) -> AckPolicy {
        let Self { kind, every_packets, every_bytes, delay_ns, acks, rate_bps, percent } = self;
        match kind {
            AckKind::Immediate => AckPolicy::Immediate,
            AckKind::Delayed => AckPolicy::Delayed { every_packets, delay_ns },
            AckKind::Heartbeat => AckPolicy::Heartbeat { every_packets, tick_ns: delay_ns },
            AckKind::Reduced => AckPolicy::Reduced { every_packets, delay_ns },
            AckKind::Bytes => AckPolicy::Bytes { every_bytes, delay_ns },
            AckKind::PerRoundTrip => AckPolicy::PerRoundTrip { acks },
            AckKind::ShareOfRate => AckPolicy::ShareOfRate { rate_bps, percent },
        }
    }
}

pub(in crate::protocols) fn ack_policy_keys() -> &'static [Key<AckDraft>] {
    static KEYS: LazyLock<Vec<Key<AckDraft>>> = LazyLock::new(|| {
        let kinds = Choice(&[
            ("immediate", AckKind::Immediate),
            ("delayed", AckKind::Delayed),
            ("heartbeat", AckKind::Heartbeat),
            ("reduced", AckKind::Reduced),
            ("bytes", AckKind::Bytes),
            ("per-round-trip", AckKind::PerRoundTrip),
            ("share-of-rate", AckKind::ShareOfRate),
        ]);
        vec![
            Key::new("kind", kinds, |a: &mut AckDraft| &mut a.kind).means(
                "Every segment at once; the n-th, or an earlier one when its time has passed, but out of sequence \
                 at once [RFC 5681 4.2]; the same with one clock for the whole host; nothing at once but the end, \
                 for a thin way back, by number and time, by octets and time, or so many a round trip as the receiver knows it, or as \
                 many as take a share of the rate back.",
            ),
            Key::new("every_packets", Count::at_least(1), |a: &mut AckDraft| &mut a.every_packets)
                .means("The n-th segment is acknowledged at once. With \"delayed\", \"heartbeat\" and \"reduced\" alone."),
            Key::new("every", Bytes::BUFFER, |a: &mut AckDraft| &mut a.every_bytes)
                .means("So much data is acknowledged at once [SCPS-TP 3.2]. With \"bytes\" alone."),
            Key::new("delay", Time::POSITIVE, |a: &mut AckDraft| &mut a.delay_ns)
                .means("How long a lone segment waits; the tick of a heartbeat. Not with \"immediate\", \"per-round-trip\" and \"share-of-rate\"."),
            Key::new("acks", Count { min: 1, max: u64::from(MAX_ACKS_PER_ROUND_TRIP) }, |a: &mut AckDraft| &mut a.acks)
                .means("Acknowledgements a round trip, 1 to 8 as in the paper [SCPS-TP 3.2]; for more of them say \"delayed\". With \"per-round-trip\" alone."),
            Key::new("rate", Rate, |a: &mut AckDraft| &mut a.rate_bps)
                .means("Rate of the way that acknowledgements take. With \"share-of-rate\" alone."),
            Key::new("percent", Count { min: 1, max: 100 }, |a: &mut AckDraft| &mut a.percent)
                .means("Share of it for them [SCPS-TP 6.1.1]. With \"share-of-rate\" alone."),
        ]
    });
    &KEYS
}

/// Reads the table; keys that it lacks stay as in the profile.
pub(super) fn read_ack_policy(config: &mut Config, node: &Node, path: &str) -> Result<(), ScenarioError> {
    read_policy(&mut config.ack_policy, node, path)
}

/// Reads the table of a policy.
pub(in crate::protocols) fn read_policy(
    policy: &mut AckPolicy,
    node: &Node,
    path: &str,
) -> Result<(), ScenarioError> {
    let mut draft = AckDraft::from(*policy);
    read_table(ack_policy_keys(), &mut draft, node, path)?;
    let (kind, used): (_, &[_]) = match draft.kind {
        AckKind::Immediate => ("\"immediate\"", &["kind"]),
        AckKind::Bytes => ("\"bytes\"", &["kind", "every", "delay"]),
        AckKind::PerRoundTrip => ("\"per-round-trip\"", &["kind", "acks"]),
        AckKind::ShareOfRate => ("\"share-of-rate\"", &["kind", "rate", "percent"]),
        _ => ("this kind", &["kind", "every_packets", "delay"]),
    };
    if let Some(entry) = expect_table(node, path)?.entries.iter().find(|entry| !used.contains(&&*entry.name))
    {
        let found = format!("`{}`, which {kind} has no use for", entry.name);
        let (key, allowed) = (join(path, &entry.name), format!("`{}`", used.join("`, `")));
        let allowed = if used.len() == 1 { "`kind` alone" } else { &allowed };
        return Err(entry.place.refuse(&key, &found, allowed, "leave it out, or use another kind"));
    }
    *policy = draft.finish();
    Ok(())
}
