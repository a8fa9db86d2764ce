//! Every tunable of STP. What each is for, and why it has its defaults, is in `docs/spec/stp.md`,
//! sections 8 and 13.

use skyhaul_stp::{Baseline, Config, ControllerKind, ProbingConfig, RetransmitRule, Spread};

use super::remembered::read_remembered;
use skyhaul_scenario::keys::Key;
use skyhaul_scenario::kinds::{Bytes, Choice, Count, Or, PayloadBytes, Rate, Switch, Time, UnlimitedTries};

const PERCENT: Count = Count { min: 1, max: 100 };
const TOLERANCE: Count = Count { min: 0, max: 10_000 };

/// All but `probing`, which is a table or a switch.
pub(super) fn config_keys() -> Vec<Key<Config>> {
    let mut keys = sending_keys();
    keys.extend(polling_keys());
    keys.extend(lifetime_keys());
    keys
}

fn sending_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("rate", Or("none", Rate), |c: &mut Config| &mut c.rate_bps).means(
            "Declared rate, counting every IP byte; replaces window control. Counts at the end \
             that opens; `acceptor.rate` at the other.",
        ),
        Key::new("min_rate", Or("none", Rate), |c: &mut Config| &mut c.min_rate_bps)
            .means("Pacing under window control or a measured rate never falls below this."),
        Key::new("max_rate", Or("none", Rate), |c: &mut Config| &mut c.max_rate_bps)
            .means("Pacing under window control or a measured rate never rises above this."),
        Key::new("max_payload", PayloadBytes::ANY, |c: &mut Config| &mut c.max_payload_bytes)
            .means("Largest payload of a packet; the path's largest packet of 1500 bytes may lower it."),
        Key::new("discover_mtu", Switch, |c: &mut Config| &mut c.discover_mtu).means(
            "The largest packet that the path takes is found out, up to 1500 bytes (docs/spec/stp.md, section 14); \
             without it packets have that size.",
        ),
        Key::new("controller", Choice(&ControllerKind::PATH_NAMES), |c: &mut Config| &mut c.controller).means(
            "What decides on rate or congestion window where no rate is declared. `xcp` and `p-xcp` follow the routers \
             of `explicit` links, and are as `model` where there is none.",
        ),
        Key::custom("remembered", "a table", read_remembered).means(
            "What an earlier connection found out about the path, for a controller that begins with it \
             (docs/spec/remembered-paths.md). The accepting end has none but its own.",
        ),
        Key::new("initial_window_packets", Count::at_least(1), |c: &mut Config| &mut c.initial_window_packets)
            .means("First congestion window."),
        Key::new("idle_restart", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.idle_restart_ns)
            .means("Silence after which slow start begins again."),
        Key::new(
            "spread",
            Choice(&[("over-rtt", Spread::OverRtt), ("controller", Spread::Controller)]),
            |c: &mut Config| &mut c.spread,
        )
        .means(
            "What a report allows is spread over one round trip, or sent at the controller's \
             pacing rate.",
        ),
        Key::new("few_packets", Count::at_least(0), |c: &mut Config| &mut c.few_packets)
            .means("So many allowed packets or fewer go in one burst."),
        Key::new("burst_packets", Count::at_least(1), |c: &mut Config| &mut c.burst_packets)
            .means("Packets that may leave back to back."),
        Key::new("budget_burst", Time::ANY, |c: &mut Config| &mut c.budget_burst_ns)
            .means("Credit that the declared rate saves while the sender is late or silent."),
        Key::new("send_limit", Bytes::BUFFER, |c: &mut Config| &mut c.send_limit_bytes)
            .means("Most application bytes held for sending, acknowledged or not."),
        Key::new("send_limit_bdps", Or("none", Count::at_least(1)), |c: &mut Config| &mut c.send_limit_bdps).means(
            "With a declared rate the send limit is this many bandwidth-delay products, at most \
             `send_limit`.",
        ),
        Key::new("receive_limit", Bytes::BUFFER, |c: &mut Config| &mut c.receive_limit_bytes)
            .means("Most application bytes held for reading or reassembly."),
        Key::new("initial_rtt", Time::POSITIVE, |c: &mut Config| &mut c.initial_rtt_ns)
            .means("Round-trip time assumed before the first sample."),
        Key::new(
            "retransmit",
            Choice(&[
                ("sent-before-poll", RetransmitRule::SentBeforePoll),
                ("rtt-elapsed", RetransmitRule::RttElapsed),
            ]),
            |c: &mut Config| &mut c.retransmit,
        )
        .means("When a packet that is listed as missing may be sent again."),
        Key::new("reorder_packets", Count::at_least(0), |c: &mut Config| &mut c.reorder_packets)
            .means("Transmissions that the network may reorder."),
        Key::new("retransmit_within_window", Switch, |c: &mut Config| &mut c.retransmit_within_window)
            .means("Retransmissions wait for the congestion window, too."),
        Key::new("nagle", Switch, |c: &mut Config| &mut c.nagle)
            .means("Hold back a small segment while data is unacknowledged."),
        Key::new("idle_repeat", Switch, |c: &mut Config| &mut c.idle_repeat)
            .means("With a declared rate, unconfirmed packets are repeated while the link would idle."),
        Key::new("coded_tail", Switch, |c: &mut Config| &mut c.coded_tail).means(
            "With a declared rate, repair symbols over the unconfirmed packets are sent while the link would idle, \
             in place of repeats. Counts if both ends have it.",
        ),
    ]
}

fn polling_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("polls_per_rtt", Count::at_least(1), |c: &mut Config| &mut c.polls_per_rtt)
            .means("POLLs per round trip."),
        Key::new("polls_per_slow_rtt", Count::at_least(1), |c: &mut Config| &mut c.polls_per_slow_rtt)
            .means("POLLs per round trip when the last one was half as long again as the shortest."),
        Key::new("polls_per_rtt_tail", Count::at_least(1), |c: &mut Config| &mut c.polls_per_rtt_tail)
            .means("POLLs per round trip when nothing new is left to send."),
        Key::new("min_poll_interval", Time::ANY, |c: &mut Config| &mut c.min_poll_interval_ns)
            .means("POLLs are at least this far apart."),
        Key::new("spares_stats", Switch, |c: &mut Config| &mut c.spares_stats)
            .means("At a rate of its own, POLLs are so rare that answers cost half a percent, down to one per round trip."),
        Key::new("poll_first_burst", Switch, |c: &mut Config| &mut c.poll_first_burst)
            .means("The first burst carries a POLL."),
        Key::new("forced_poll_percent", PERCENT, |c: &mut Config| &mut c.forced_poll_percent)
            .means("A POLL is forced after this share of the send limit."),
        Key::new("small_window_packets", Count::at_least(0), |c: &mut Config| &mut c.small_window_packets)
            .means("Below this window the last packet of each burst carries the POLL."),
        Key::new("ustat_threshold", Or("none", Count::at_least(0)), |c: &mut Config| &mut c.ustat_threshold)
            .means("Packets beyond a gap before it is reported by USTAT; \"none\": no USTATs."),
        Key::new("ustats_per_poll", Or("none", Count::at_least(0)), |c: &mut Config| &mut c.ustats_per_poll)
            .means("USTATs allowed per POLL received; \"none\": no limit."),
        Key::new("spares_ustats", Switch, |c: &mut Config| &mut c.spares_ustats)
            .means("With a rate of its own and repair symbols a sender does without USTATs."),
        Key::new("incremental_stats", Switch, |c: &mut Config| &mut c.incremental_stats)
            .means("With a rate of its own a sender asks STATs to leave out what they told before, while its repeat is under way."),
    ]
}

fn lifetime_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("early_data", Switch, |c: &mut Config| &mut c.early_data)
            .means("Data may follow BGN before BGNAK."),
        Key::new("trusts_peers", Switch, |c: &mut Config| &mut c.trusts_peers).means(
            "What goes to an address before it is proven is not held to three times what came from it, as in a network \
             whose operator controls both ends. Counts at the end that accepts. Only in scenarios.",
        ),
        Key::new("early_window", Bytes::BUFFER, |c: &mut Config| &mut c.early_window_bytes)
            .means("Bytes that may follow BGN before the peer's window is known."),
        Key::new("bgn_repeats", Count::at_least(0), |c: &mut Config| &mut c.bgn_repeats)
            .means("The first so many data packets repeat BGN until it is answered."),
        Key::new("end_with_data", Switch, |c: &mut Config| &mut c.end_with_data)
            .means("END goes with the last data instead of after its acknowledgement."),
        Key::new("bgn_timer", Time::POSITIVE, |c: &mut Config| &mut c.bgn_timer_ns)
            .means("First BGN timer; doubles up to `max_timer`."),
        Key::new("end_timer", Time::POSITIVE, |c: &mut Config| &mut c.end_timer_ns)
            .means("Floor of the END timer; doubles up to `max_timer`."),
        Key::new("max_timer", Time::POSITIVE, |c: &mut Config| &mut c.max_timer_ns)
            .means("Longest BGN, END and persist timer."),
        Key::new("max_tries", UnlimitedTries, |c: &mut Config| &mut c.max_tries)
            .means("BGNs, and ENDs, sent without an answer before giving up."),
        Key::new("connect_give_up", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.connect_give_up_ns)
            .means("Connecting fails after this."),
        Key::new("give_up", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.give_up_ns)
            .means("A connection without a sign of life fails after this."),
        Key::new("keepalive", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.keepalive_ns)
            .means("An idle connection polls its peer this often."),
    ]
}

/// All of them.
pub(super) fn probing_keys() -> Vec<Key<ProbingConfig>> {
    vec![
        Key::new("max_probes", Count { min: 2, max: 4096 }, |p: &mut ProbingConfig| &mut p.max_probes)
            .means("Exchanges tracked at most."),
        Key::new("req_probes", Count { min: 1, max: 4096 }, |p: &mut ProbingConfig| &mut p.req_probes)
            .means("Consecutive answered exchanges that end a cycle under window control."),
        Key::new("req_probes_declared", Count { min: 1, max: 4096 }, |p: &mut ProbingConfig| {
            &mut p.req_probes_declared
        })
        .means("The same with a declared rate."),
        Key::new(
            "baseline",
            Choice(&[("smoothed", Baseline::Smoothed), ("smallest", Baseline::Smallest)]),
            |p: &mut ProbingConfig| &mut p.baseline,
        )
        .means(
            "What round trips are compared with: the estimate at the loss, or the shortest of the \
             path.",
        ),
        Key::new("rtt_tolerance_percent", TOLERANCE, |p: &mut ProbingConfig| &mut p.rtt_tolerance_percent)
            .means("A round trip counts as longer only beyond this share of what it is compared with."),
        Key::new("outage_tolerance_percent", TOLERANCE, |p: &mut ProbingConfig| {
            &mut p.outage_tolerance_percent
        })
        .means("The same after an outage."),
        Key::new("rtt_slack", Time::ANY, |p: &mut ProbingConfig| &mut p.rtt_slack_ns)
            .means("Nor does a round trip that is longer by no more than this."),
        Key::new("counts_alarm_rtt", Switch, |p: &mut ProbingConfig| &mut p.counts_alarm_rtt)
            .means("A row of losses after a round trip that was longer than before is no outage."),
        Key::new("gap_starts_declared", Switch, |p: &mut ProbingConfig| &mut p.gap_starts_declared)
            .means("With a declared rate a gap starts a cycle, too, not silence alone."),
        Key::new("probes_per_rtt", Count::at_least(1), |p: &mut ProbingConfig| &mut p.probes_per_rtt)
            .means("Probes per round trip."),
        Key::new("min_interval", Time::ANY, |p: &mut ProbingConfig| &mut p.min_interval_ns)
            .means("Probes are at least this far apart."),
        Key::new("age_divisor", Or("none", Count::at_least(1)), |p: &mut ProbingConfig| &mut p.age_divisor)
            .means(
                "As a cycle lasts, probes are at least this part of its age apart; \"none\": no \
             back-off.",
            ),
        Key::new("max_interval", Time::ANY, |p: &mut ProbingConfig| &mut p.max_interval_ns)
            .means("But back-off moves them no further apart than this."),
        Key::new("silent_probes", Count::at_least(1), |p: &mut ProbingConfig| &mut p.silent_probes)
            .means("So many probes in a row without an answer mean an outage."),
        Key::new("silent_packets", Or("none", Count::at_least(1)), |p: &mut ProbingConfig| {
            &mut p.silent_packets
        })
        .means("So many packets that left in a row and vanished mean an outage."),
        Key::new("congested_percent", Or("none", PERCENT), |p: &mut ProbingConfig| &mut p.congested_percent)
            .means("Under window control, a link that seems to lose so much or more is congested."),
        Key::new("judges_in_passing", Switch, |p: &mut ProbingConfig| &mut p.judges_in_passing).means(
            "With a declared rate, losses that start no cycle are judged by the round trips of \
             the POLLs around them.",
        ),
        Key::new("late_intervals", Count::at_least(1), |p: &mut ProbingConfig| &mut p.late_intervals)
            .means("POLL intervals that an answer may be late before a cycle starts."),
        Key::new("late_deviations", Count::at_least(0), |p: &mut ProbingConfig| &mut p.late_deviations)
            .means(
                "But it may be late by so many deviations of the round-trip time at least; four while \
             the window is small.",
            ),
        Key::new("queue_holds_probes", Switch, |p: &mut ProbingConfig| &mut p.queue_holds_probes)
            .means("Probes that a queue held and delivered together with a later one are no silence."),
        Key::new("spaces_probes", Switch, |p: &mut ProbingConfig| &mut p.spaces_probes).means(
            "Probes move apart if the round trip has become too long for `max_probes`; without \
             it such a cycle does not end.",
        ),
        Key::new("declared_percent", PERCENT, |p: &mut ProbingConfig| &mut p.declared_percent)
            .means("With a declared rate, probes take at most this share of it."),
    ]
}
