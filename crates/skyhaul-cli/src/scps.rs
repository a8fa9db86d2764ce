//! SCPS-TP of `send` and `receive`: its switches, and what the other end agreed to.

use clap::ValueEnum;
use serde::Serialize;
use skyhaul_core::Verdict;
use skyhaul_tcp::scps::{Agreement, Scps, Snack};
use skyhaul_tcp::{AckPolicy, ControllerKind, MAX_ACKS_PER_ROUND_TRIP, Route, Routes, SignalNumbers};

use crate::args::MORE;
use crate::failure::Failure;
use crate::routes::route;
use crate::signal_numbers::signal_numbers;

/// Switches of SCPS-TP.
#[derive(Debug, clap::Args)]
pub(crate) struct ScpsArgs {
    /// What losses are taken for where no signal says otherwise: congestion, or corruption (damage), at which
    /// nothing slows down. With --transport scps-tp [default: congestion]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "congestion|corruption", help_heading = MORE)]
    loss_cause: Option<LossCause>,
    /// How often this end acknowledges what comes, a round trip: 1 to 8, fewer for a thin way
    /// back. With --transport scps-tp, best alike at both ends [default: 8]
    #[arg(long, value_name = "NUMBER", value_parser = acks_per_rtt, help_heading = MORE)]
    acks_per_rtt: Option<u32>,
    /// Headers of 8 to 18 octets where the other end wants them, too. With --transport scps-tp; packets then
    /// have IP protocol 105, which some routers and firewalls drop
    #[arg(long, help_heading = MORE)]
    compressed_headers: bool,
    /// What is known of the way to peers behind a prefix, like 10.88.0.0/16,rate=9.5M,loss-cause=corruption:
    /// `rate` (one bucket for all of them, in place of --rate), its `depth` and `burst`, `loss-cause`,
    /// `bandwidth-delay`, and `obey-ecn`, `obey-corruption`, `obey-outage`, `obey-source-quench`, true or
    /// false. With --transport scps-tp; may be given several times, and the longest prefix counts
    #[arg(long, value_name = "PREFIX,KEY=VALUE,...", value_parser = route, help_heading = MORE)]
    route: Vec<Route>,
    /// Types and codes of ICMP that routers have for their signals, where they are not the reference
    /// implementation's, like link-outage=3/77,link-restored=200/1: `corruption-experienced`, `link-outage`,
    /// `link-restored`, over IPv6 with -v6 behind them. With --transport scps-tp
    #[arg(long, value_name = "NAME=TYPE/CODE,...", value_parser = signal_numbers, help_heading = MORE)]
    signal_numbers: Option<SignalNumbers>,
}

fn acks_per_rtt(text: &str) -> Result<u32, String> {
    let acks = text.parse().ok().filter(|acks| (1..=MAX_ACKS_PER_ROUND_TRIP).contains(acks));
    acks.ok_or_else(|| {
        format!(
            "a round trip has 1 to {MAX_ACKS_PER_ROUND_TRIP} acknowledgements with SCPS-TP; --transport tcp sends \
             one for two packets"
        )
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossCause {
    Congestion,
    Corruption,
}

impl ScpsArgs {
    /// Refuses switches that the transport of choice has no use for.
    pub(crate) fn check_unused(&self) -> Result<(), Failure> {
        let given = [
            (self.loss_cause.is_some(), "--loss-cause"),
            (self.acks_per_rtt.is_some(), "--acks-per-rtt"),
            (self.compressed_headers, "--compressed-headers"),
            (!self.route.is_empty(), "--route"),
            (self.signal_numbers.is_some(), "--signal-numbers"),
        ];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, name)) => {
                Err(Failure::usage(format!("{name} is for --transport scps-tp: add that, or leave it out")))
            }
            None => Ok(()),
        }
    }

    /// Routes that were given.
    pub(crate) fn routes(&self) -> Result<Routes, Failure> {
        Routes::new(self.route.clone()).map_err(|error| Failure::usage(format!("--route: {error}")))
    }

    /// Numbers of the signals that are heard.
    pub(crate) fn signals(&self) -> SignalNumbers {
        self.signal_numbers.unwrap_or_default()
    }

    /// Parameters that these switches come to.
    pub(crate) fn config(&self) -> Scps {
        let usual = Scps::standard();
        Scps {
            loss_cause: match self.loss_cause {
                None => usual.loss_cause,
                Some(LossCause::Congestion) => Verdict::Congestion,
                Some(LossCause::Corruption) => Verdict::Corruption,
            },
            ack_policy: self.acks_per_rtt.map_or(usual.ack_policy, |acks| AckPolicy::PerRoundTrip { acks }),
            compression: self.compressed_headers,
            ..usual
        }
    }
}

/// Parameters of an end that sends at a declared rate, if there is one: that decides alone then, as with STP,
/// unless a controller is named.
pub(crate) fn declaring(
    scps: Scps,
    rate_bps: Option<u64>,
    controller: Option<&ControllerKind>,
) -> Result<Scps, Failure> {
    match controller {
        None if rate_bps.is_some() => Ok(Scps { controller: ControllerKind::Off, ..scps }),
        None | Some(ControllerKind::Vegas) => Ok(scps),
        Some(other) => Err(Failure::usage(format!(
            "--controller {} is not for --transport scps-tp: that has vegas, and with --rate alone none",
            other.name()
        ))),
    }
}

/// Part of a transfer's result: what both ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ScpsResult {
    /// False: the other end speaks plain TCP, and so did this one.
    pub(crate) agreed: bool,
    /// Form in which receivers name what is missing: "vector", "short" or "off".
    pub(crate) snack: &'static str,
    pub(crate) compressed_headers: bool,
}

impl ScpsResult {
    /// Result of a connection with this agreement.
    pub(crate) fn new(agreement: Option<Agreement>) -> Self {
        let snack = match agreement.map(|agreement| agreement.snack) {
            None | Some(Snack::Off) => "off",
            Some(Snack::Short) => "short",
            Some(Snack::Vector) => "vector",
        };
        let compressed_headers = agreement.is_some_and(|agreement| agreement.compression);
        Self { agreed: agreement.is_some(), snack, compressed_headers }
    }

    /// The line of the table.
    pub(crate) fn words(&self) -> String {
        if !self.agreed {
            return "not spoken at the other end: plain TCP carried the files".into();
        }
        let headers = if self.compressed_headers { "compressed headers" } else { "headers as they are" };
        let holes = match self.snack {
            "vector" => "what is missing named by vectors",
            "short" => "what is missing named one by one",
            _ => "what is missing not named",
        };
        format!("agreed: {holes}, {headers}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_rate_decides_alone_unless_a_controller_is_named() {
        let usual = || Scps::standard();
        let controller = |rate_bps, named: Option<&ControllerKind>| {
            declaring(usual(), rate_bps, named).map(|scps| scps.controller).ok()
        };
        assert_eq!(controller(None, None), Some(ControllerKind::Vegas));
        assert_eq!(controller(Some(1_000_000), None), Some(ControllerKind::Off));
        assert_eq!(controller(Some(1_000_000), Some(&ControllerKind::Vegas)), Some(ControllerKind::Vegas));
        assert_eq!(controller(None, Some(&ControllerKind::Cubic)), None);
    }

    #[test]
    fn people_are_told_what_was_agreed_on() {
        let of = |agreement| ScpsResult::new(agreement).words();
        assert!(of(None).ends_with("plain TCP carried the files"));
        let both = Agreement { snack: Snack::Vector, compression: true, best_effort: false };
        assert_eq!(of(Some(both)), "agreed: what is missing named by vectors, compressed headers");
        let short = Agreement { snack: Snack::Short, compression: false, best_effort: false };
        assert_eq!(of(Some(short)), "agreed: what is missing named one by one, headers as they are");
    }
}
