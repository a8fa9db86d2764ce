//! Arguments that set the parameters of connections, and what they come to.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use skyhaul_congestion::ControllerKind;
use skyhaul_core::units::{parse_rate_bps, parse_time_ns};
use skyhaul_core::{MAX_MTU_BYTES, MS, SECOND};
use skyhaul_stp::Config;
use skyhaul_tcp::Keepalive;

use crate::args::MORE;
use crate::failure::Failure;

/// Use that a sender makes of the path.
#[derive(Debug, clap::Args)]
pub(crate) struct SenderArgs {
    /// Rate of the path (every IP byte that is sent counts): 10M, 1.5Mbit/s. Declare it if you know
    /// it: nothing has to be found out then
    #[arg(long, value_parser = parse_rate_bps)]
    pub(crate) rate: Option<u64>,
    /// Whether the sender stops and asks when answers fail to come or packets vanish, until an answer
    /// tells why: a full queue, damage, or a link that was gone. Off: it sends on into a link that is
    /// gone, and without --rate it slows down at every loss
    #[arg(long, value_enum, default_value_t = ProbingSwitch::On, hide_possible_values = true, value_name = "on|off", help_heading = MORE)]
    pub(crate) probing: ProbingSwitch,
    /// What decides on the rate where none is declared: model (it is measured), p-xcp, xcp (the path's
    /// routers tell it, where there are any) [default: model; profile paper: a window]. Of TCP: cubic, bbr,
    /// reno, vegas, slow-start-avoidance [default: cubic; profile paper: reno]. Of SCPS-TP: vegas [default]
    #[arg(long, value_name = "NAME", value_parser = controller, help_heading = MORE)]
    pub(crate) controller: Option<ControllerKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbingSwitch {
    On,
    Off,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommonArgs {
    /// Set of protocol parameters
    #[arg(long, value_enum, default_value_t = ProfileName::Default, help_heading = MORE)]
    profile: ProfileName,
    /// End a connection without a sign of life, an opening without an answer, and a transfer that stands
    /// still after this time, 1s at least [default: 10min, an opening 30s; profile paper: never]
    #[arg(long, value_parser = give_up, value_name = "TIME", help_heading = MORE)]
    pub(crate) give_up: Option<u64>,
    /// Largest IP packet to send or take, in bytes: 296 at least, by --transport scps-tp 90. What the path
    /// takes is found out below that [default: what the route to the peer takes; 1500 where that is not
    /// known]
    #[arg(long, value_parser = mtu, value_name = "BYTES", help_heading = MORE)]
    pub(crate) mtu: Option<u32>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileName {
    /// What a user today should have
    Default,
    /// The constants of the papers
    Paper,
}

impl CommonArgs {
    /// Parameters of a connection that a peer opens.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config { discover_mtu: true, ..self.of_profile() };
        if let Some(ns) = self.give_up {
            config.give_up_ns = Some(ns);
            config.connect_give_up_ns = Some(ns);
            // Whoever has nothing to say is asked before that: two questions may be lost.
            config.keepalive_ns = config.keepalive_ns.map(|own| own.min(ns / 3));
        }
        config
    }

    fn of_profile(&self) -> Config {
        match self.profile {
            ProfileName::Default => Config::standard(),
            ProfileName::Paper => Config::paper(),
        }
    }

    /// Patience with the opening at an address behind which others wait for their turn: no longer than the
    /// profile's own. Whoever is given more time for a long path is not to wait as long for a dead address.
    pub(crate) fn opening_before_others_ns(&self) -> Option<u64> {
        [self.of_profile().connect_give_up_ns, self.give_up].into_iter().flatten().min()
    }

    /// Refuses a largest packet that is too small for STP.
    pub(crate) fn check_stp(&self) -> Result<(), Failure> {
        self.check_mtu(MIN_STP_MTU_BYTES)
    }

    /// Refuses a largest packet of less than `least_bytes`: packets would be larger than what was asked for.
    pub(crate) fn check_mtu(&self, least_bytes: u32) -> Result<(), Failure> {
        match self.mtu.filter(|&bytes| bytes < least_bytes) {
            Some(bytes) => Err(Failure::usage(format!("--mtu: {}", no_largest_packet(&bytes.to_string())))),
            None => Ok(()),
        }
    }

    /// Parameters of a connection of TCP.
    pub(crate) fn tcp_config(&self) -> skyhaul_tcp::Config {
        let config = match self.profile {
            // Files and results are written whole: by Nagle's rule their ends would wait for a round trip.
            ProfileName::Default => skyhaul_tcp::Config { nagle: false, ..skyhaul_tcp::Config::standard() },
            ProfileName::Paper => skyhaul_tcp::Config::paper(),
        };
        let keepalive = Some(self.give_up.map_or(KEEPALIVE, within));
        let config = skyhaul_tcp::Config { discover_mtu: true, keepalive, ..config };
        let Some(ns) = self.give_up else { return config };
        // Time decides alone: more repeats than it lets happen.
        let repeats =
            MAX_QUICK_REPEATS.saturating_add((ns / config.max_rto_ns).min(u64::from(u32::MAX)) as u32);
        let (max_syn_repeats, max_repeats) = (repeats, repeats);
        skyhaul_tcp::Config { user_timeout_ns: Some(ns), max_syn_repeats, max_repeats, ..config }
    }

    /// Parameters of a connection of SCPS-TP, but for its own, and of the TCP that a plain peer meets.
    pub(crate) fn scps_config(&self) -> Result<skyhaul_tcp::Config, Failure> {
        match self.profile {
            ProfileName::Default => Ok(self.tcp_config()),
            ProfileName::Paper => Err(Failure::usage(
                "--profile paper is for --transport stp and tcp: the papers have no one set of SCPS-TP's parameters",
            )),
        }
    }
}

/// Least value of `--give-up`: less ends what a satellite's round trip has not had time to answer.
const MIN_GIVE_UP_NS: u64 = SECOND;

fn give_up(text: &str) -> Result<u64, String> {
    let ns = parse_time_ns(text)?;
    if ns < MIN_GIVE_UP_NS {
        return Err(format!("'{text}' leaves no time for an answer: the least is 1s"));
    }
    Ok(ns)
}

/// Least value of `--mtu` of STP.
const MIN_STP_MTU_BYTES: u32 = 296;

fn mtu(text: &str) -> Result<u32, String> {
    largest_packet(text, min_scps_mtu_bytes()..=MAX_MTU_BYTES).map_err(|_| no_largest_packet(text))
}

/// Least value of `--mtu` of SCPS-TP.
fn min_scps_mtu_bytes() -> u32 {
    skyhaul_tcp::Config::scps_tp().min_mtu_bytes(true)
}

fn no_largest_packet(text: &str) -> String {
    format!(
        "'{text}' is no largest packet: it has {MIN_STP_MTU_BYTES} to {MAX_MTU_BYTES} bytes, by --transport scps-tp {} \
         at least",
        min_scps_mtu_bytes()
    )
}

/// Size of a largest packet in bytes, within `bounds`: a plain number, or with a B as in files.
pub(crate) fn largest_packet(text: &str, bounds: RangeInclusive<u32>) -> Result<u32, String> {
    let bytes = text.strip_suffix('B').unwrap_or(text).parse().ok().filter(|bytes| bounds.contains(bytes));
    let (least, most) = (bounds.start(), bounds.end());
    bytes.ok_or_else(|| format!("'{text}' is no largest packet: it has {least} to {most} bytes"))
}

/// A receiver has nothing to repeat: it notices that the sender vanished by asking, here after two minutes.
const KEEPALIVE: Keepalive = Keepalive { idle_ns: 60 * SECOND, interval_ns: 10 * SECOND, max_questions: 6 };

/// Repeats of TCP before each waits for the longest time: it doubles from 1 ns at least.
const MAX_QUICK_REPEATS: u32 = 64;

/// Questions within a patience of `ns` in all, the first after a third of it at most.
fn within(ns: u64) -> Keepalive {
    let Keepalive { idle_ns, interval_ns, max_questions } = KEEPALIVE;
    let idle_ns = idle_ns.min(ns / 3);
    let left_ns = (ns - idle_ns) / u64::from(max_questions);
    Keepalive { idle_ns, interval_ns: interval_ns.min(left_ns), max_questions }
}

/// A file that the receiver refuses is dropped at once, but for what was written until then. Half of it must
/// outlast a machine that is busy for a while.
const UNSENT_LIMIT_NS: u64 = 100 * MS;

impl SenderArgs {
    /// Parameters of the connection that the files go over.
    pub(crate) fn config(&self, common: &CommonArgs) -> Config {
        let own = common.config();
        let probing = own.probing.filter(|_| self.probing == ProbingSwitch::On);
        let controller = self.controller.clone().unwrap_or(own.controller.clone());
        Config { rate_bps: self.rate, controller, probing, unsent_limit_ns: Some(UNSENT_LIMIT_NS), ..own }
    }

    /// Refuses a controller that STP has not, or that would have nothing to decide.
    pub(crate) fn check_stp(&self) -> Result<(), Failure> {
        let Some(controller) = &self.controller else { return Ok(()) };
        if !controller.measures() {
            let of_stp = names(&OF_STP);
            let name = controller.name();
            return Err(Failure::usage(format!(
                "--controller {name} is for --transport tcp: `send` has that; STP has {of_stp}"
            )));
        }
        if self.rate.is_some() {
            return Err(Failure::usage(
                "--rate declares the rate, --controller finds it out: give one of them",
            ));
        }
        Ok(())
    }

    /// Controller of a window that TCP has; an error if it is one of STP's.
    pub(crate) fn tcp_controller(&self) -> Result<Option<&ControllerKind>, Failure> {
        match &self.controller {
            Some(controller) if controller.measures() => {
                let (name, of_tcp) = (controller.name(), names(&ControllerKind::WINDOWS));
                Err(Failure::usage(format!(
                    "--controller {name} is STP's: TCP over a device has {of_tcp}, SCPS-TP vegas"
                )))
            }
            controller => Ok(controller.as_ref()),
        }
    }
}

/// Controllers by which STP may send: those of a rate.
const OF_STP: [(&str, ControllerKind); 3] =
    [("model", ControllerKind::Model), ("p-xcp", ControllerKind::PXcp), ("xcp", ControllerKind::Xcp)];

/// Controller of this name, of STP or of TCP.
fn controller(name: &str) -> Result<ControllerKind, String> {
    let mut known = OF_STP.into_iter().chain(ControllerKind::WINDOWS);
    known.find(|&(known, _)| known == name).map(|(_, kind)| kind).ok_or_else(|| {
        let [of_stp, of_tcp] = [names(&OF_STP), names(&ControllerKind::WINDOWS)];
        format!("no such controller; there are {of_stp}, and of TCP {of_tcp}")
    })
}

fn names(kinds: &[(&str, ControllerKind)]) -> String {
    kinds.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Args {
        #[command(flatten)]
        common: CommonArgs,
    }

    /// A peer is asked early enough that several questions may be lost.
    #[test]
    fn questions_of_tcp_and_its_repeats_end_with_the_patience() {
        for (words, ns) in [("1s", SECOND), ("2min", 120 * SECOND), ("1h", 3600 * SECOND)] {
            let config = Args::parse_from(["x", "--give-up", words]).common.tcp_config();
            let Keepalive { idle_ns, interval_ns, max_questions } = config.keepalive.unwrap();
            assert!(idle_ns + u64::from(max_questions) * interval_ns <= ns && idle_ns <= ns / 3);
            assert_eq!((config.user_timeout_ns, config.opening_ns()), (Some(ns), ns));
        }
    }

    /// The last segment waited for a round trip, wherever a file did not fill it.
    #[test]
    fn no_end_of_a_file_waits_for_acknowledgements_of_what_is_before_it() {
        let of = |switches: &[&str]| Args::parse_from(switches).common.tcp_config().nagle;
        assert!(!of(&["x"]) && of(&["x", "--profile", "paper"]), "the papers' TCP has it");
    }
}
