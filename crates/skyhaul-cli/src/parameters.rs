//! Arguments that set the parameters of connections, and what they come to.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use skyhaul_congestion::ControllerKind;
use skyhaul_core::units::{parse_rate_bps, parse_time_ns};
use skyhaul_core::{MAX_MTU_BYTES, MS, SECOND};
use skyhaul_stp::Config;
use skyhaul_tcp::Keepalive;

use crate::args::MORE;

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
    /// Congestion control of TCP: cubic, bbr, reno, vegas, slow-start-avoidance [default: cubic; profile
    /// paper: reno]
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
    /// End a connection without a sign of life, and a transfer that stands still, after this time [default:
    /// 10min; profile paper: never]
    #[arg(long, value_parser = parse_time_ns, value_name = "TIME", help_heading = MORE)]
    pub(crate) give_up: Option<u64>,
    /// Largest IP packet to send or take, in bytes. What the path takes is found out below that [default:
    /// what the route to the peer takes; 1500 where that is not known]
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
        let mut config = match self.profile {
            ProfileName::Default => Config::standard(),
            ProfileName::Paper => Config::paper(),
        };
        config.discover_mtu = true;
        if let Some(ns) = self.give_up {
            config.give_up_ns = Some(ns);
            config.connect_give_up_ns = Some(config.connect_give_up_ns.map_or(ns, |own| own.min(ns)));
        }
        config
    }

    /// Parameters of a connection of TCP.
    pub(crate) fn tcp_config(&self) -> skyhaul_tcp::Config {
        let config = match self.profile {
            ProfileName::Default => skyhaul_tcp::Config::standard(),
            ProfileName::Paper => skyhaul_tcp::Config::paper(),
        };
        skyhaul_tcp::Config { discover_mtu: true, keepalive: Some(KEEPALIVE), ..config }
    }
}

/// Least value of `--mtu`.
const MIN_MTU_BYTES: u32 = 296;

fn mtu(text: &str) -> Result<u32, String> {
    largest_packet(text, MIN_MTU_BYTES..=MAX_MTU_BYTES)
}

/// Size of a largest packet in bytes, within `bounds`: a plain number, or with a B as in files.
pub(crate) fn largest_packet(text: &str, bounds: RangeInclusive<u32>) -> Result<u32, String> {
    let bytes = text.strip_suffix('B').unwrap_or(text).parse().ok().filter(|bytes| bounds.contains(bytes));
    let (least, most) = (bounds.start(), bounds.end());
    bytes.ok_or_else(|| format!("'{text}' is no largest packet: it has {least} to {most} bytes"))
}

/// A receiver has nothing to repeat: it notices that the sender vanished by asking, here after two minutes.
const KEEPALIVE: Keepalive = Keepalive { idle_ns: 60 * SECOND, interval_ns: 10 * SECOND, max_questions: 6 };

/// A file that the receiver refuses is dropped at once, but for what was written until then. Half of it must
/// outlast a machine that is busy for a while.
const UNSENT_LIMIT_NS: u64 = 100 * MS;

impl SenderArgs {
    /// Parameters of the connection that the files go over.
    pub(crate) fn config(&self, common: &CommonArgs) -> Config {
        let own = common.config();
        let probing = own.probing.filter(|_| self.probing == ProbingSwitch::On);
        Config { rate_bps: self.rate, probing, unsent_limit_ns: Some(UNSENT_LIMIT_NS), ..own }
    }
}

/// The controllers by which TCP may send.
fn controller(name: &str) -> Result<ControllerKind, String> {
    let known = ControllerKind::WINDOWS.into_iter().find(|&(known, _)| known == name);
    known.map(|(_, kind)| kind).ok_or_else(|| {
        let names = ControllerKind::WINDOWS.map(|(name, _)| name).join(", ");
        format!("no such controller; there are {names}")
    })
}
