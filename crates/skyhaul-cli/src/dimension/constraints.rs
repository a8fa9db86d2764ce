//! What keys of a scenario file break that no option of `dimension` has: those which the formulas take for
//! granted.

use skyhaul_core::units::show_rate;
use skyhaul_petra::dimensioning::{Plan, SplitPath};
use skyhaul_petra::stpp;
use skyhaul_scenario::{Flow, Hop, RelayBuffer, Scenario};

use super::read::{SEGMENT_HEADER_BYTES, config};

/// Ends of the wires and of the satellite hop between a pair of relays, with what carries them.
pub(super) struct Split<'a> {
    pub(super) flow: &'a Flow,
    /// Place of the first relay of the pair among those of the flow; the second one follows it.
    pub(super) place: usize,
    pub(super) hops: [Hop<'a>; 3],
    /// At the first relay.
    pub(super) tcp: &'a skyhaul_tcp::Config,
    /// At the sender.
    pub(super) tcp_opener: &'a skyhaul_tcp::Config,
    /// At the second relay.
    pub(super) stpp: &'a stpp::Config,
    /// At the first relay.
    pub(super) stpp_opener: &'a stpp::Config,
    /// At the receiver.
    pub(super) far: &'a skyhaul_tcp::Config,
    /// At the second relay.
    pub(super) far_opener: &'a skyhaul_tcp::Config,
}

impl Split<'_> {
    /// Windows of the first wire, segments, each with the key that sets it: what the receiver has room for,
    /// and what the sender keeps.
    pub(super) fn ltl_windows(&self) -> [(u64, String); 2] {
        wire_windows(self.tcp_opener, self.tcp, &self.key(0, ""))
    }

    /// Windows of the last wire, likewise.
    pub(super) fn far_windows(&self) -> [(u64, String); 2] {
        wire_windows(self.far_opener, self.far, &self.key(2, ""))
    }

    /// Windows of the satellite hop, PDUs, each with the key that sets it.
    pub(super) fn stpp_windows(&self) -> [(u64, String); 4] {
        let (sender, receiver) = (self.stpp_opener, self.stpp);
        let payload = u64::from(sender.payload_bytes.min(receiver.payload_bytes)).max(1);
        [
            (u64::from(sender.window_pdus), self.key(1, "window_pdus")),
            (u64::from(receiver.window_pdus), self.key(1, "window_pdus")),
            (sender.send_limit_bytes / payload, self.key(1, "send_limit in PDUs,")),
            (receiver.receive_limit_bytes / payload, self.key(1, "receive_limit in PDUs,")),
        ]
    }

    /// Bounds of the first relay's buffer (0) or of the second one's (1).
    pub(super) fn buffer(&self, relay: usize) -> RelayBuffer {
        // A hop begins at each of them.
        self.flow.via[self.place + relay].buffer
    }

    /// Name of the first relay (0) or the second one (1).
    pub(super) fn name<'s>(&self, scenario: &'s Scenario, relay: usize) -> &'s str {
        &scenario.nodes[self.flow.via[self.place + relay].node].name
    }

    /// Key of a relay of the pair, with the relay's name.
    pub(super) fn relay_key(&self, scenario: &Scenario, relay: usize, key: &str) -> String {
        let (place, name) = (self.place + relay, self.name(scenario, relay));
        format!("flows.{}.via.{place}.{key} (relay {name})", self.flow.name)
    }

    /// Octets of the stream that arrive at once behind a PDU that went again: what the hop has under way
    /// until a status asks for it, within its window.
    fn burst_bytes(&self, plan: &Plan) -> u64 {
        let window = smaller(self.stpp_windows()).0;
        let under_way = plan.stpp_window_for_pdus(seconds(self.stpp.status_interval_ns()));
        let payload = u64::from(self.stpp_opener.payload_bytes.min(self.stpp.payload_bytes));
        window.min(under_way).saturating_mul(payload)
    }

    /// Key of the transport of hop `hop`, counted from 0.
    fn key(&self, hop: usize, key: &str) -> String {
        format!("transports.{}.{key}", self.hops[hop].transport.name)
    }
}

fn wire_windows(
    opener: &skyhaul_tcp::Config,
    acceptor: &skyhaul_tcp::Config,
    prefix: &str,
) -> [(u64, String); 2] {
    let payload = u64::from(opener.mss_bytes.min(acceptor.mss_bytes)).max(1);
    [
        (acceptor.receive_limit_bytes / payload, format!("{prefix}receive_limit")),
        (opener.send_limit_bytes / payload, format!("{prefix}send_limit")),
    ]
}

/// The window that holds, and its key: the first of the smallest ones.
pub(super) fn smaller<const N: usize>(windows: [(u64, String); N]) -> (u64, String) {
    // There is one: no caller has an empty list.
    windows.into_iter().min_by_key(|(window, _)| *window).unwrap_or_default()
}

/// What the keys break, with the number of the formula or the rule. `link`: the path with the rate of the
/// satellite link, whatever is declared.
pub(super) fn broken(scenario: &Scenario, split: &Split<'_>, link: &SplitPath, plan: &Plan) -> Vec<String> {
    let found = [
        rate(split, link),
        rtt(split, link),
        timeout(split, link),
        far_threshold(scenario, split, plan),
        far_size(scenario, split, plan),
    ];
    found.into_iter().flatten().chain(frames(scenario, split)).chain(controls(scenario, split)).collect()
}

/// Departures (3) go by the declared rate where one is.
fn rate(split: &Split<'_>, link: &SplitPath) -> Option<String> {
    let declared_bps = split.stpp_opener.rate_bps? as f64;
    let link_bps = link.satellite.rate_bps;
    let (side, harm) = if declared_bps < link_bps {
        ("below", "the satellite link will wait")
    } else if declared_bps > link_bps {
        ("above", "PDUs will wait in the link's queue, and overflow one that has an end")
    } else {
        return None;
    };
    let (declared, linked) = (show_rate(declared_bps), show_rate(link_bps));
    Some(format!("(3): {} of {declared} is {side} the link's {linked}: {harm}", split.key(1, "rate")))
}

/// No PDU goes again within `RTT_sat` [PETRA III-F 3].
fn rtt(split: &Split<'_>, link: &SplitPath) -> Option<String> {
    let (given_s, link_s) = (seconds(split.stpp_opener.rtt_ns), link.satellite.rtt_s);
    (given_s < link_s).then(|| {
        let key = split.key(1, "rtt");
        format!("(1), III-F 3: {key} of {given_s} s is below the link's {link_s} s: PDUs will go again for nothing")
    })
}

/// A status that speaks of a PDU comes within the round trip and `T_stat` [PETRA III-F 3, 5].
fn timeout(split: &Split<'_>, link: &SplitPath) -> Option<String> {
    let given_s = seconds(split.stpp_opener.timeout_ns());
    let least_s = link.satellite.rtt_s + seconds(split.stpp.status_interval_ns());
    (given_s < least_s).then(|| {
        let key = split.key(1, "timeout");
        format!(
            "III-F 3: {key} of {given_s} s is below {least_s} s, round trip and time between statuses: PDUs will go \
             again for nothing"
        )
    })
}

/// The second relay tells nobody to stop for what comes at once where PDUs go again: (1), in its buffer.
fn far_threshold(scenario: &Scenario, split: &Split<'_>, plan: &Plan) -> Option<String> {
    let (given, least) = (split.buffer(1).threshold_bytes, split.burst_bytes(plan));
    (plan.path().satellite.bit_error_rate > 0.0 && given < least).then(|| {
        format!(
            "(1), III-F: {} of {given} B is below the {least} B that come at once behind a PDU that went again: the \
             satellite link will be stopped",
            split.relay_key(scenario, 1, "threshold")
        )
    })
}

/// What is under way when the second relay says STOP_TX has room in its buffer: (19), with the window of the
/// satellite hop.
fn far_size(scenario: &Scenario, split: &Split<'_>, plan: &Plan) -> Option<String> {
    let buffer = split.buffer(1);
    let least = buffer.threshold_bytes.saturating_add(split.burst_bytes(plan));
    (buffer.size_bytes < least).then(|| {
        format!(
            "(19): {} of {} B is below {least} B, its threshold and what is under way over the hop: what comes after \
             STOP_TX has no room",
            split.relay_key(scenario, 1, "size"),
            buffer.size_bytes
        )
    })
}

/// What a hop sends at once fits through its link: PDUs are not cut there, and segments of a wire vanish
/// until TCP has found out.
fn frames(scenario: &Scenario, split: &Split<'_>) -> Vec<String> {
    let pdu = split.stpp_opener.pdu_bytes().min(split.stpp.pdu_bytes());
    let segment = |opener: &skyhaul_tcp::Config, acceptor: &skyhaul_tcp::Config| {
        u32::from(opener.mss_bytes.min(acceptor.mss_bytes)) + u32::from(SEGMENT_HEADER_BYTES)
    };
    let sent = [
        (0, "(4)", "mss", segment(split.tcp_opener, split.tcp)),
        (1, "(22)", "payload", pdu),
        (2, "(4)", "mss", segment(split.far_opener, split.far)),
    ];
    let found = sent.into_iter().filter_map(|(hop, formula, key, bytes)| {
        let (link, port) = config(scenario, split.hops[hop])?;
        let mtu_bytes = link.direction(port).mtu_bytes.filter(|mtu_bytes| *mtu_bytes < bytes)?;
        Some(format!(
            "{formula}: {} with its header has {bytes} B, and links.{} takes {mtu_bytes}: nothing of full size arrives",
            split.key(hop, key),
            link.name
        ))
    });
    found.collect()
}

/// (15) to (19) are about ACK stop and STOP_TX.
fn controls<'a>(scenario: &'a Scenario, split: &'a Split<'_>) -> impl Iterator<Item = String> + 'a {
    let by_window = (0..2).filter(|relay| !split.buffer(*relay).holds);
    by_window.map(|relay| {
        format!(
            "(15) to (19): {} is `window`: the threshold holds nobody back, and the buffer fills up",
            split.relay_key(scenario, relay, "control")
        )
    })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
