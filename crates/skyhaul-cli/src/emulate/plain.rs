//! A link that the command line says, without a scenario file.

use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_lab::standard;
use skyhaul_link::{MAX_MTU_BYTES, MIN_MTU_BYTES, QueueLimit};
use skyhaul_scenario::{File, ScenarioError};

use crate::parameters::largest_packet;

/// Size of the packets that a queue of ten is counted in: no queue that nobody chose is shorter.
const PACKET_BYTES: u64 = 1500;
const MIN_QUEUE_BYTES: u64 = 10 * PACKET_BYTES;

/// A link between two hosts called `near`, where the command runs, and `far`.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "plain")]
pub(crate) struct PlainLink {
    /// Rate, both ways, like 10M [default: unlimited]
    #[arg(long, value_name = "RATE", value_parser = parse_rate_bps)]
    rate: Option<u64>,
    /// Rate towards the command, where it is another [default: as --rate]
    #[arg(long, value_name = "RATE", value_parser = parse_rate_bps, requires = "rate")]
    down: Option<u64>,
    /// Propagation delay, each way, like 275ms [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    delay: Option<u64>,
    /// Probability that a packet is lost, each way, from 0 to 1 [default: 0]
    #[arg(long, value_name = "P", value_parser = probability)]
    loss: Option<f64>,
    /// Most that waits, each way, like 100packets or 125kB [default: what the rate sends in two delays, at
    /// least 15 kB]
    #[arg(long, value_name = "QUEUE", value_parser = queue)]
    queue: Option<QueueLimit>,
}

fn probability(text: &str) -> Result<f64, String> {
    if text.ends_with('%') {
        return Err("write 0.01 for 1 %".into());
    }
    let loss: Option<f64> = text.parse().ok();
    loss.filter(|loss| (0.0..=1.0).contains(loss)).ok_or_else(|| "a probability lies between 0 and 1".into())
}

fn queue(text: &str) -> Result<QueueLimit, String> {
    let is_some = |limit: &u64| *limit > 0;
    let packets = text.strip_suffix("packets").map(|number| number.trim().parse::<u32>());
    let limit = match packets {
        Some(packets) => packets.ok().filter(|&packets| is_some(&packets.into())).map(QueueLimit::Packets),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => None,
        None => parse_bytes(text).ok().filter(is_some).map(QueueLimit::Bytes),
    };
    limit.ok_or_else(|| format!("'{text}' is no queue; write it like 100packets or 125kB"))
}

/// Largest packet of a link or of devices.
pub(super) fn mtu(text: &str) -> Result<u32, String> {
    largest_packet(text, MIN_MTU_BYTES..=MAX_MTU_BYTES)
}

impl PlainLink {
    /// The link as a scenario, with its largest packet, and with keys changed as `overrides` says.
    pub(super) fn file(
        &self,
        mtu_bytes: Option<u32>,
        overrides: &[(String, String)],
    ) -> Result<File, ScenarioError> {
        let [forward, reverse] =
            [self.rate, self.down.or(self.rate)].map(|rate| self.direction(rate, mtu_bytes));
        let text = format!(
            "title = \"A link\"\n[run]\nduration = \"1h\"\n[nodes]\nnear = {{ kind = \"host\" }}\nfar = {{ \
             kind = \"host\" }}\n[links.link]\nbetween = [\"near\", \"far\"]\nforward = {{ {forward} }}\nreverse \
             = {{ {reverse} }}\n[transports.tcp]\nprotocol = \"tcp\"\n[flows.any]\nfrom = \"near\"\nto = \
             \"far\"\ntransport = \"tcp\"\nworkload = {{ kind = \"bulk\" }}\n"
        );
        File::load(&standard(), "link", &text, overrides)
    }

    /// Keys of a direction.
    fn direction(&self, rate_bps: Option<u64>, mtu_bytes: Option<u32>) -> String {
        let delay_ns = self.delay.unwrap_or(0);
        let queue = match (self.queue, rate_bps) {
            (Some(QueueLimit::Packets(packets)), _) => format!("{packets}packets"),
            (Some(QueueLimit::Bytes(bytes)), _) => format!("{bytes}B"),
            (Some(QueueLimit::Unlimited), _) | (None, None) => "unlimited".to_string(),
            (None, Some(rate_bps)) => format!("{}B", two_delays_bytes(rate_bps, delay_ns)),
        };
        let rate = rate_bps.map_or("unlimited".to_string(), |bps| format!("{bps}bit/s"));
        let mtu = mtu_bytes.map_or("none".to_string(), |bytes| format!("{bytes}B"));
        let loss = self.loss.unwrap_or(0.0);
        format!(
            "rate = \"{rate}\", delay = \"{delay_ns}ns\", loss = {loss}, mtu = \"{mtu}\", queue = \"{queue}\""
        )
    }
}

/// What is sent in two delays, at least ten packets.
fn two_delays_bytes(rate_bps: u64, delay_ns: u64) -> u64 {
    let bits = u128::from(rate_bps) * u128::from(delay_ns) * 2 / 1_000_000_000;
    u64::try_from(bits / 8).unwrap_or(u64::MAX).max(MIN_QUEUE_BYTES)
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
