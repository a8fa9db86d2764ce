//! Tunables of SCPS-TP beside those of TCP. What each is for is in `docs/spec/scps-tp.md`.

use skyhaul_core::Verdict;
use skyhaul_tcp::scps::{Scps, Snack, SnackUnit};
use skyhaul_tcp::{Config, ControllerKind, MIN_SCPS_MSS_BYTES};

use crate::protocols::tcp::ack_policy::read_policy;
use crate::protocols::tcp::keys::{PERCENT_OF_RATE, config_keys, mss_key};
use crate::protocols::tcp::routes::routes_key;
use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::Key;
use skyhaul_scenario::kinds::{Bytes, Choice, Count, Or, Pair, Switch, Time};
use skyhaul_scenario::tree::Node;

/// Keys of TCP that SCPS-TP has its own of, or no use for. They are as in the profile where a peer speaks TCP
/// alone, which no simulated one does.
const NOT_OF_TCP: [&str; 12] = [
    "mss",
    "accelerated_open",
    "controller",
    "explicit",
    "pacing_percent",
    "counting",
    "ack_policy",
    "recovery",
    "hystart",
    "rate_reduction",
    "limited_transmit",
    "discover_mtu",
];

/// Keys of an end.
pub(super) fn end_keys() -> Vec<Key<Config>> {
    let mut keys: Vec<_> = scps_keys().into_iter().map(|key| key.within(scps)).collect();
    keys.extend(config_keys().into_iter().filter(|key| !NOT_OF_TCP.contains(&key.name)));
    keys.extend([mss_key(MIN_SCPS_MSS_BYTES), routes_key()]);
    keys
}

fn scps(config: &mut Config) -> &mut Scps {
    config.scps.get_or_insert_with(Scps::standard)
}

pub(super) fn scps_keys() -> Vec<Key<Scps>> {
    vec![
        Key::new(
            "controller",
            Choice(&[("vegas", ControllerKind::Vegas), ("none", ControllerKind::Off)]),
            |s: &mut Scps| &mut s.controller,
        )
        .means(
            "What decides on the congestion window; \"none\": nothing but the declared rate and the windows \
             of both ends, and no marks are asked for.",
        ),
        Key::new("pacing_percent", Or("none", Pair(PERCENT_OF_RATE)), |s: &mut Scps| &mut s.pacing_percent)
            .means("Pacing rate over window per round trip, in slow start and in avoidance; \"none\": segments leave as the window lets them."),
        Key::new("starts_each_round", Switch, |s: &mut Scps| &mut s.starts_each_round)
            .means("The slow start of Vegas doubles the window every round trip, not every other one."),
        Key::new("times_segments", Switch, |s: &mut Scps| &mut s.times_segments).means(
            "Vegas goes by the round trips of the segments that are timed, which delayed acknowledgements make \
             longer, not by those of the newest packet that arrived.",
        ),
        Key::new("bandwidth_delay", Or("none", Bytes::BUFFER), |s: &mut Scps| &mut s.bandwidth_delay_bytes)
            .means("Window in which slow start ends at the latest, as a path is known to hold no more; \"none\": nobody knows."),
        Key::custom("ack_policy", "a table", read_ack_policy)
            .means("When received data is acknowledged: `[transports.NAME.ack_policy]` of TCP."),
        Key::new(
            "loss_cause",
            Choice(&[("congestion", Verdict::Congestion), ("corruption", Verdict::Corruption)]),
            |s: &mut Scps| &mut s.loss_cause,
        )
        .means("What losses are taken for where no signal says otherwise; \"corruption\": window and timer stay as they are."),
        Key::new(
            "snack",
            Choice(&[("off", Snack::Off), ("short", Snack::Short), ("vector", Snack::Vector)]),
            |s: &mut Scps| &mut s.snack,
        )
        .means(
            "How receivers name what is missing: not at all, one hole an option as all implementations know it, or \
             with a vector behind it.",
        ),
        Key::new("max_snacks", Count { min: 1, max: 255 }, |s: &mut Scps| &mut s.max_snacks)
            .means("Options of an acknowledgement that name holes, at most; the next one goes on where it ended."),
        Key::new(
            "snack_unit",
            Choice(&[("payload", SnackUnit::Payload), ("mss", SnackUnit::Mss)]),
            |s: &mut Scps| &mut s.snack_unit,
        )
        .means(
            "What offsets and sizes of holes count in, alike at both ends: what a segment carries without timestamps, or \
             the largest segment, as the paper has it.",
        ),
        Key::new("repeats_each_request", Switch, |s: &mut Scps| &mut s.repeats_each_request).means(
            "What is asked for goes again however lately it did, as the paper has it; else once in a smoothed round trip \
             at most.",
        ),
        Key::new("compression", Switch, |s: &mut Scps| &mut s.compression).means(
            "Headers are compressed where both ends ask for it: IP protocol 105, 8 octets in front of data, 10 for an \
             acknowledgement.",
        ),
        Key::new("best_effort", Or("none", Time::POSITIVE), |s: &mut Scps| &mut s.best_effort_ns).means(
            "Best effort service is asked for: what is missing for so long is given up, and the stream goes on \
             behind the gap, where both ends ask for it and tell holes. For flows that read one stream, over one \
             hop. \"none\": everything arrives.",
        ),
        Key::new("best_effort_repeats", Count { min: 0, max: 255 }, |s: &mut Scps| &mut s.best_effort_repeats)
            .means(
                "Timeouts that a segment may meet in a row; at the next one the sender takes it for acknowledged, \
                 where gaps may be.",
            ),
        Key::new("source_quench", Switch, |s: &mut Scps| &mut s.source_quench).means(
            "Source quench of routers is taken for a mark of congestion, once a round trip at most.",
        ),
    ]
}

fn read_ack_policy(scps: &mut Scps, node: &Node, path: &str) -> Result<(), ScenarioError> {
    read_policy(&mut scps.ack_policy, node, path)
}
