//! `[run]` and `[metrics]`.

use std::sync::LazyLock;

use crate::error::ScenarioError;
use crate::keys::Key;
use crate::kinds::{Bytes, Choice, Count, Maybe, Switch, Time};
use crate::model::{DEFAULT_MAX_EVENTS, DEFAULT_MAX_MEMORY_BYTES, Metrics};
use crate::protocol::Carrier;
use crate::tree::{Node, Value};
use crate::wanted::Wanted;

/// Seeds are TOML integers, and a replication adds its number to them.
const MAX_SEED: u64 = i64::MAX as u64 / 2;
/// More would not make an interval narrower that anybody looks at.
const MAX_REPLICATIONS: u64 = 1_000_000;

/// `[run]` as the file says it.
#[derive(Clone, Debug)]
pub(crate) struct RunDraft {
    pub(crate) duration_ns: Option<u64>,
    pub(crate) goal: Option<Goal>,
    pub(crate) warm_up_ns: u64,
    pub(crate) seed: u64,
    pub(crate) replications: u32,
    pub(crate) carrier: Carrier,
    pub(crate) max_events: u64,
    pub(crate) max_memory_bytes: u64,
}

impl Default for RunDraft {
    fn default() -> Self {
        Self {
            duration_ns: None,
            goal: None,
            warm_up_ns: 0,
            seed: 1,
            replications: 1,
            carrier: Carrier::Udp,
            max_events: DEFAULT_MAX_EVENTS,
            max_memory_bytes: DEFAULT_MAX_MEMORY_BYTES,
        }
    }
}

/// Goal that ends a run before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Done,
}

pub(crate) fn run_keys() -> &'static [Key<RunDraft>] {
    static KEYS: LazyLock<Vec<Key<RunDraft>>> = LazyLock::new(|| {
        let goal = Choice(&[("done", Goal::Done)]);
        let carrier = Choice(&[("udp", Carrier::Udp), ("ip", Carrier::Ip)]);
        let seed = Count { min: 0, max: MAX_SEED };
        let replications = Count { min: 1, max: MAX_REPLICATIONS };
        let events = Count { min: 1, max: i64::MAX as u64 };
        let memory = Bytes::at_least(1);
        vec![
            Key::new("duration", Maybe(Time { min_ns: 1 }), |r: &mut RunDraft| &mut r.duration_ns)
                .means("Longest virtual time. Needed unless `goal` is there."),
            Key::new("goal", Maybe(goal), |r: &mut RunDraft| &mut r.goal)
                .means("Stop when all flows that have an end of their own are complete."),
            Key::new("warm_up", Time::default(), |r: &mut RunDraft| &mut r.warm_up_ns)
                .means("What is delivered before this time does not count."),
            Key::new("seed", seed, |r: &mut RunDraft| &mut r.seed)
                .means("Seed of the first replication; the next ones have the numbers that follow."),
            Key::new("replications", replications, |r: &mut RunDraft| &mut r.replications)
                .means("Runs of each point."),
            Key::new("carrier", carrier, |r: &mut RunDraft| &mut r.carrier).means(
                "What is around each segment: IP, UDP and the envelope (29 octets) as between real \
             endpoints, or IP alone (20 octets) as in the papers.",
            ),
            Key::new("max_events", events, |r: &mut RunDraft| &mut r.max_events).means(
                "A run stops after so many deliveries and wake-ups, with what it has, and counts as failed.",
            ),
            Key::new("max_memory", memory, |r: &mut RunDraft| &mut r.max_memory_bytes)
                .means("A run stops when the send buffers of its flows hold more, and counts as failed."),
        ]
    });
    &KEYS
}

/// `[metrics]` as the file says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetricsDraft {
    pub(crate) metrics: Metrics,
    pub(crate) wanted: Wanted,
}

pub(crate) fn metrics_keys() -> &'static [Key<MetricsDraft>] {
    static KEYS: LazyLock<Vec<Key<MetricsDraft>>> = LazyLock::new(|| {
        let series = Maybe(Time { min_ns: skyhaul_core::US });
        vec![
            Key::custom("wanted", "a list of names, in which * stands for anything", read_wanted)
                .means("Which metrics are reported. Without it, all."),
            Key::new("verdicts", Switch, |m: &mut MetricsDraft| &mut m.metrics.verdicts)
                .means("Compare every loss verdict with what the links did; costs time."),
            Key::new("series", series, |m: &mut MetricsDraft| &mut m.metrics.series_ns)
                .means("A sample of every flow and link this often. Without it, none."),
            Key::new("ladder", Switch, |m: &mut MetricsDraft| &mut m.metrics.ladder)
                .means("Every packet with departure and arrival, the phases of probing and its map, for ladder diagrams; a run of a few seconds."),
        ]
    });
    &KEYS
}

fn read_wanted(metrics: &mut MetricsDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let refuse = |node: &Node, hint: &str| {
        node.place.refuse(path, &node.shown(), "a list of names, in which * stands for anything", hint)
    };
    let Value::List(nodes) = &node.value else {
        return Err(refuse(node, "write it like [\"goodput_bps\", \"links.*\"]"));
    };
    let name = |node: &Node| match node.text() {
        Some(text) if !text.is_empty() => Ok(text.to_string()),
        _ => Err(refuse(node, "")),
    };
    metrics.wanted = Wanted::new(nodes.iter().map(name).collect::<Result<_, _>>()?);
    Ok(())
}
