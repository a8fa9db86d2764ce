//! Every tunable of TCP. What each is for is in `docs/spec/tcp-conformance.md`.

use std::sync::LazyLock;

use skyhaul_core::PathHeader;
use skyhaul_tcp::{
    AcceleratedOpen, Asks, Config, ControllerKind, Counting, ExplicitConfig, MIN_MSS_BYTES, Recovery,
};

use super::ack_policy::read_ack_policy;
use super::keepalive::read_keepalive;
use skyhaul_scenario::keys::Key;
use skyhaul_scenario::kinds::{
    Bytes, Choice, Count, Or, Pair, PayloadBytes, Rate, Switch, Time, UnlimitedTries,
};

/// Of a rate: pacing may be slower or faster than it.
pub(in crate::protocols) const PERCENT_OF_RATE: Count = Count { min: 1, max: 1000 };

/// Controllers of a window, those that follow routers behind the others.
static CONTROLLERS: [(&str, ControllerKind); 9] = {
    let [a, b, c, d, e] = ControllerKind::WINDOWS;
    let [f, g, h] = ControllerKind::EXPLICIT;
    let [i] = ControllerKind::LOW_PRIORITY;
    [a, b, c, d, e, f, g, h, i]
};

/// All but `loss_judge`, which is code.
pub(in crate::protocols) fn config_keys() -> Vec<Key<Config>> {
    let mut keys = congestion_keys();
    keys.extend(segment_keys());
    keys.extend(timer_keys());
    keys.extend(lifetime_keys());
    keys
}

fn congestion_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("controller", Choice(&CONTROLLERS), |c: &mut Config| &mut c.controller).means(
            "What decides on the congestion window. `xcp`, `p-xcp` and `p-xcp-literal` follow the routers of \
             `explicit` links, and are as `reno` where there is none. `peach-plus` finds out what the path has left \
             by segments of low class, which links drop first (`low_limit`).",
        ),
        Key::table("explicit", explicit_keys, |c: &mut Config| &mut c.explicit)
            .means("Explicit rate control, for controllers that follow routers."),
        Key::new(
            "recovery",
            Choice(&[
                ("reno", Recovery::Reno),
                ("newreno", Recovery::NewReno),
                ("sack", Recovery::Sack),
                ("rack", Recovery::Rack),
            ]),
            |c: &mut Config| &mut c.recovery,
        )
        .means(
            "How losses are repaired: one a round trip with the rest left to the timer [RFC 2581], one a round \
             trip [RFC 6582], or by selective acknowledgements where the peer agrees: by what arrived beyond \
             [RFC 2018, 6675], or by the time of sending, with probes of the last segment [RFC 8985].",
        ),
        Key::new("initial_window_packets", Or("rfc6928", Count::at_least(1)), |c: &mut Config| {
            &mut c.initial_window_packets
        })
        .means("First congestion window; \"rfc6928\": 10, at most 14 600 bytes or 2 segments."),
        Key::new(
            "counting",
            Choice(&[("acks", Counting::Acks), ("bytes", Counting::Bytes), ("reports", Counting::Reports)]),
            |c: &mut Config| &mut c.counting,
        )
        .means(
            "What the window grows by: each acknowledgement [RFC 5681], what is acknowledged but for bursts \
             [RFC 3465], or everything that is acknowledged.",
        ),
        Key::new("rate_reduction", Switch, |c: &mut Config| &mut c.rate_reduction)
            .means("With SACK, a repair sends in proportion to what arrives [RFC 6937]; else all at once that the window leaves."),
        Key::new("limited_transmit", Switch, |c: &mut Config| &mut c.limited_transmit)
            .means("The first two duplicate acknowledgements release a new segment each [RFC 3042]."),
        Key::new("idle_restart", Switch, |c: &mut Config| &mut c.idle_restart)
            .means("A silence of one retransmission timeout brings the first window back [RFC 5681 4.1]."),
        Key::new("pacing_percent", Or("none", Pair(PERCENT_OF_RATE)), |c: &mut Config| &mut c.pacing_percent)
            .means(
                "Pacing rate over window per round trip, in slow start and in avoidance; \"none\": segments leave \
                 as the window lets them, but for a controller with a rate of its own.",
            ),
        Key::new("rate", Or("none", Rate), |c: &mut Config| &mut c.rate_bps).means(
            "Declared rate of the path, counting every IP byte, for all connections to one peer together: a bound; \
             the congestion window holds, too. Counts at the end that opens; `acceptor.rate` at the other.",
        ),
        Key::new("budget_burst", Time::ANY, |c: &mut Config| &mut c.budget_burst_ns)
            .means("Credit that the declared rate saves while the sender is late or silent."),
        Key::new("hystart", Switch, |c: &mut Config| &mut c.hystart)
            .means("CUBIC's first slow start ends early, as the Linux kernel's does."),
        Key::new("ecn", Switch, |c: &mut Config| &mut c.ecn)
            .means("Ask for explicit congestion notification, and agree to it [RFC 3168]."),
    ]
}

pub(super) fn explicit_keys() -> &'static [Key<ExplicitConfig>] {
    static KEYS: LazyLock<Vec<Key<ExplicitConfig>>> = LazyLock::new(|| {
        vec![
            Key::new(
                "asks",
                Choice(&[("window", Asks::Window), ("always", Asks::Always)]),
                |e: &mut ExplicitConfig| &mut e.asks,
            )
            .means(
                "Rate that a sender asks for: no more than the peer's window, the data that is there and the declared \
                 rate can use, or always as much as there may be (as in ns-2: no flow ever counts as limited).",
            ),
            Key::new("header", Choice(&[("counted", PathHeader::BYTES), ("included", 0)]), |e: &mut ExplicitConfig| {
                &mut e.header_bytes
            })
            .means(
                "The 20 octets of a path header make packets longer, or are part of the sizes that the file says, as in \
                 papers: acknowledgements without data count as if they had no options then.",
            ),
        ]
    });
    &KEYS
}

/// Key of the largest payload, which is so large at least.
pub(in crate::protocols) fn mss_key(min_bytes: u16) -> Key<Config> {
    Key::new("mss", PayloadBytes::at_least(u64::from(min_bytes)), |c: &mut Config| &mut c.mss_bytes).means(
        "Largest payload of a segment, options counted; the path's largest packet of 1500 bytes, and the peer, \
         may lower it.",
    )
}

fn segment_keys() -> Vec<Key<Config>> {
    vec![
        mss_key(MIN_MSS_BYTES),
        Key::new("send_limit", Bytes::BUFFER, |c: &mut Config| &mut c.send_limit_bytes)
            .means("Most application bytes held for sending, acknowledged or not."),
        Key::new("receive_limit", Bytes::BUFFER, |c: &mut Config| &mut c.receive_limit_bytes)
            .means("Most application bytes held for reading or reassembly: the largest window advertised."),
        Key::new("window_scale", Switch, |c: &mut Config| &mut c.window_scale)
            .means("Ask for window scaling; without it windows end at 65 535 bytes [RFC 7323 2]."),
        Key::new("timestamps", Switch, |c: &mut Config| &mut c.timestamps)
            .means("Ask for timestamps [RFC 7323 3]."),
        Key::new("timestamp_tick", Time::POSITIVE, |c: &mut Config| &mut c.timestamp_tick_ns)
            .means("Unit of the timestamps."),
        Key::new("nagle", Switch, |c: &mut Config| &mut c.nagle)
            .means("Hold back a small segment while data is unacknowledged."),
        Key::new("bare_acks", Switch, |c: &mut Config| &mut c.bare_acks).means(
            "The peer's SYN and its end are acknowledged by packets of their own, in front of what goes with them: so \
             hosts do whose applications write, and end, once they are woken.",
        ),
        Key::custom("ack_policy", "a table", read_ack_policy)
            .means("When received data is acknowledged; its `kind` decides which other keys count."),
    ]
}

fn timer_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("timer_granularity", Time::ANY, |c: &mut Config| &mut c.timer_granularity_ns).means(
            "Round trips are measured, and the retransmission timer runs out, in multiples of this; \"0s\": \
             exactly.",
        ),
        Key::new("initial_rto", Time::POSITIVE, |c: &mut Config| &mut c.initial_rto_ns)
            .means("Retransmission timeout before the first round trip was measured."),
        Key::new("min_rto", Time::POSITIVE, |c: &mut Config| &mut c.min_rto_ns).means("Shortest retransmission timeout."),
        Key::new("rto_margin", Time::ANY, |c: &mut Config| &mut c.rto_margin_ns)
            .means("The timeout is at least so much longer than the smoothed round trip and, unless this is 0, the last one."),
        Key::new("max_rto", Time::POSITIVE, |c: &mut Config| &mut c.max_rto_ns)
            .means("Longest retransmission timeout, and longest wait between window probes."),
    ]
}

fn lifetime_keys() -> Vec<Key<Config>> {
    vec![
        Key::new(
            "accelerated_open",
            Or("none", Choice(&[("ttcp", AcceleratedOpen::Ttcp), ("tfo", AcceleratedOpen::FastOpen)])),
            |c: &mut Config| &mut c.accelerated_open,
        )
        .means(
            "Openings carry data, by counts of connections (T/TCP, RFC 1644) or by cookies (Fast Open, RFC 7413), once \
             an ordinary handshake has made the hosts known to each other. Both ends need it.",
        ),
        Key::new("max_syn_repeats", UnlimitedTries, |c: &mut Config| &mut c.max_syn_repeats)
            .means("Repeats of SYN before connecting fails."),
        Key::new("max_repeats", UnlimitedTries, |c: &mut Config| &mut c.max_repeats)
            .means("Timeouts in a row, or unanswered window probes, before the connection fails."),
        Key::new("user_timeout", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.user_timeout_ns).means(
            "A peer that owes an answer and gives no sign of life is given up after this [RFC 9293 3.8.3]; \
             \"none\": repeats are counted alone.",
        ),
        Key::new("time_wait", Time::POSITIVE, |c: &mut Config| &mut c.time_wait_ns)
            .means("How long the end that closes first answers late repeats."),
        Key::new("fin_wait", Time::POSITIVE, |c: &mut Config| &mut c.fin_wait_ns).means(
            "A connection that the application has let go of waits so long for the end of the other side.",
        ),
        Key::new("black_hole_timeouts", Or("none", Count::at_least(1)), |c: &mut Config| {
            &mut c.black_hole_timeouts
        })
        .means("After so many timeouts in a row smaller segments are tried; \"none\": never."),
        Key::new("discover_mtu", Switch, |c: &mut Config| &mut c.discover_mtu).means(
            "With SACK, two timeouts at most make a black hole, after which the largest packet that the path takes is \
             found out, up to 1500 bytes, by segments of the data [RFC 4821].",
        ),
        Key::custom("keepalive", "true, false or a table", read_keepalive)
            .means("Ask a peer that has long been silent. A table changes how."),
        Key::new("max_challenges_per_s", Count::at_least(0), |c: &mut Config| &mut c.max_challenges_per_s)
            .means("Challenge acknowledgements a second [RFC 5961 7]."),
    ]
}
