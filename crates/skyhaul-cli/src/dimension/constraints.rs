//! What keys of a scenario file break that no option of `dimension` has: those which the formulas take for
//! granted.

use skyhaul_core::units::show_rate;
use skyhaul_petra::dimensioning::{Plan, SplitPath};
use skyhaul_petra::stpp;
use skyhaul_scenario::{Flow, Hop};

/// Ends of the wires and of the satellite hop, with what carries them.
pub(super) struct Split<'a> {
    pub(super) flow: &'a Flow,
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
pub(super) fn broken(split: &Split<'_>, link: &SplitPath, plan: &Plan) -> Vec<String> {
    let found = [rate(split, link), rtt(split, link), timeout(split, link), far_window(split, plan)];
    found.into_iter().flatten().chain(controls(split)).collect()
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

/// What arrives over the satellite link in a round trip of the last wire fits into its window: (16), there.
fn far_window(split: &Split<'_>, plan: &Plan) -> Option<String> {
    let (window, key) = smaller(wire_windows(split.far_opener, split.far, &split.key(2, "")));
    let least = (plan.without_errors().drain_per_s() * plan.path().wires[1].rtt_s).ceil() as u64;
    (window < least).then(|| {
        format!(
            "(16): a window of {window} segments ({key}) on the last wire is below the {least} that come in a round \
             trip of it: the satellite link will wait"
        )
    })
}

/// (15) to (19) are about ACK stop and STOP_TX.
fn controls<'a>(split: &'a Split<'_>) -> impl Iterator<Item = String> + 'a {
    let by_window = split.flow.via.iter().enumerate().filter(|(_, via)| !via.buffer.holds);
    by_window.map(|(place, _)| {
        format!(
            "(15) to (19): flows.{}.via.{place}.control is `window`: the threshold holds nobody back, and the buffer \
             fills up",
            split.flow.name
        )
    })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
