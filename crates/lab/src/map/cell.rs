//! A cell of the map: who shares which bottleneck.

use std::fmt::{self, Write as _};

use serde::Deserialize;
use skyhaul_core::SECOND;
use skyhaul_core::units::show_rate;

/// What is delivered before this time does not count.
const WARM_UP_NS: u64 = 60 * SECOND;
/// A run is measured for so long at least, ...
const MIN_MEASURED_NS: u64 = 120 * SECOND;
/// ... and for so many round trips.
const MIN_MEASURED_RTTS: u64 = 300;
/// IP bytes of a full packet.
const PACKET_BYTES: u64 = 1500;
/// The queue has room for so many packets at least.
const MIN_QUEUE_PACKETS: u64 = 4;
/// Round trip over the links of the hosts.
const ACCESS_RTT_NS: u64 = 400_000;
/// Bounds of the buffers of each end.
const MIN_BUFFER_BYTES: u64 = 256 << 10;
const MAX_BUFFER_BYTES: u64 = 64 << 20;
/// Deliveries and wake-ups for each packet that the bottleneck can carry: a run that needs more is stopped.
const EVENTS_PER_PACKET: u64 = 60;

/// Hosts that the own connections begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hosts {
    /// One host: they share a path and its rate.
    One,
    /// A host each.
    Several,
}

/// Controller of the TCPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reno, with SACK.
    Reno,
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
}

/// What becomes of packets in front of a full, or filling, queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discipline {
    /// They are dropped when it is full.
    DropTail,
    /// Random early detection.
    Red,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Own connections.
    pub own: u32,
    /// Where they begin.
    pub hosts: Hosts,
    /// TCPs beside them.
    pub tcps: u32,
    /// Controller of these, and of those that are put in place of the own connections.
    pub kind: Kind,
    /// Queue in bandwidth-delay products.
    pub queue: f64,
    /// Its discipline.
    pub discipline: Discipline,
    /// Probability that a packet is lost by chance, either way.
    pub loss: f64,
    /// Round trip without a queue.
    pub rtt_ns: u64,
    /// Rate of the bottleneck.
    pub rate_bps: u64,
}

impl Kind {
    /// Name of the controller in a scenario file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

impl Hosts {
    /// Word in the map's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Several => "several",
        }
    }
}

impl Discipline {
    /// Word in the map's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::DropTail => "droptail",
            Self::Red => "red",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.own > 1 { format!(" of {} host", self.hosts.name()) } else { String::new() };
        let of = if self.own > 1 && self.hosts == Hosts::Several { of + "s" } else { of };
        write!(
            f,
            "{} own{of} beside {} {}, {}, {} ms, queue {} products {}, loss {} %",
            self.own,
            self.tcps,
            self.kind.name(),
            show_rate(self.rate_bps as f64),
            self.rtt_ns / 1_000_000,
            self.queue,
            self.discipline.name(),
            percent(self.loss),
        )
    }
}

/// Share in percent, without digits that only the machine sees.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

impl Cell {
    fn product_bytes(&self) -> u64 {
        (u128::from(self.rate_bps) * u128::from(self.rtt_ns) / (8 * u128::from(SECOND))) as u64
    }

    fn queue_bytes(&self) -> u64 {
        ((self.product_bytes() as f64 * self.queue) as u64).max(MIN_QUEUE_PACKETS * PACKET_BYTES)
    }

    /// Bytes under way and in the queue when both are full.
    pub(super) fn standing_bytes(&self) -> u64 {
        self.product_bytes() + self.queue_bytes()
    }

    /// Wait behind a full queue.
    pub(super) fn full_queue_ms(&self) -> f64 {
        self.queue_bytes() as f64 * 8e3 / self.rate_bps as f64
    }

    fn duration_ns(&self) -> u64 {
        WARM_UP_NS + MIN_MEASURED_NS.max(MIN_MEASURED_RTTS.saturating_mul(self.rtt_ns))
    }

    /// Packets that the bottleneck can carry in the runs of this cell, with the own connections and with TCPs
    /// in their place.
    pub(super) fn packets(&self) -> u64 {
        2 * self.packets_of_run()
    }

    fn packets_of_run(&self) -> u64 {
        (u128::from(self.rate_bps) * u128::from(self.duration_ns())
            / (8 * u128::from(PACKET_BYTES) * u128::from(SECOND))) as u64
    }

    /// True if our goodput beside the TCPs is judged: there are as many, and the queue is neither very short
    /// nor very long.
    pub fn is_beside_as_many(&self) -> bool {
        self.own == self.tcps && (0.5..=4.0).contains(&self.queue)
    }

    /// Names of the own flows.
    pub(super) fn own_flows(&self) -> impl Iterator<Item = String> {
        (1..=self.own).map(|number| format!("own{number}"))
    }

    /// Scenario file of the cell: its sweep has the own connections, then TCPs in their place.
    pub(super) fn scenario(&self, title: &str, seed: u64) -> String {
        let own_hosts = if self.hosts == Hosts::One { 1 } else { self.own };
        let events = (self.packets_of_run() + 100_000).saturating_mul(EVENTS_PER_PACKET);
        let buffer = (2 * self.standing_bytes()).clamp(MIN_BUFFER_BYTES, MAX_BUFFER_BYTES);
        let buffers = format!("send_limit = \"{buffer}B\", receive_limit = \"{buffer}B\"");
        let tcp = format!("{{ protocol = \"tcp\", controller = \"{}\", {buffers} }}", self.kind.name());
        let mut text = format!(
            "title = \"{title}: {self}\"\n\n[run]\nduration = \"{}ms\"\nwarm_up = \"{}ms\"\nseed = {seed}\n\
             max_events = {events}\nmax_memory = \"4GiB\"\n\n",
            self.duration_ns() / 1_000_000,
            WARM_UP_NS / 1_000_000,
        );
        let sources = (1..=own_hosts).map(|number| format!("host{number}"));
        let sources = sources.chain((self.tcps > 0).then(|| "rivals".to_string())).collect::<Vec<_>>();
        text += "[nodes]\nwest = { kind = \"router\" }\neast = { kind = \"router\" }\nfar = { kind = \"host\" }\n";
        for source in &sources {
            let _ = writeln!(text, "{source} = {{ kind = \"host\" }}");
        }
        for source in &sources {
            text += &self.access(source, [source, "west"]);
        }
        text += &self.access("far", ["east", "far"]);
        text += &self.bottleneck();
        let _ = writeln!(text, "\n[transports]\nrival = {tcp}");
        for (number, flow) in (0..).zip(self.own_flows()) {
            let host = if own_hosts == 1 { 1 } else { number + 1 };
            text += &flow_table(&flow, &format!("host{host}"), "own", 700 * number);
        }
        for number in 0..self.tcps {
            text += &flow_table(&format!("tcp{}", number + 1), "rivals", "rival", 500 + 700 * number);
        }
        let _ = write!(
            text,
            "\n[sweep.together.own]\nlabels = [\"skyhaul\", \"{}\"]\n\"transports.own\" = [\n    \
             {{ protocol = \"stp\", {buffers} }},\n    {tcp},\n]\n",
            self.kind.name()
        );
        text
    }

    /// Link of a host: ten times as fast as the bottleneck, so that it never is one.
    fn access(&self, name: &str, [from, to]: [&str; 2]) -> String {
        let way = format!(
            "{{ rate = \"{}bit/s\", delay = \"{}us\" }}",
            self.rate_bps.saturating_mul(10),
            ACCESS_RTT_NS / 4 / 1000
        );
        format!("\n[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nforward = {way}\nreverse = {way}\n")
    }

    fn bottleneck(&self) -> String {
        let delay_us = self.rtt_ns.saturating_sub(ACCESS_RTT_NS) / 2000;
        let queue = self.queue_bytes();
        let line =
            format!("rate = \"{}bit/s\", delay = \"{delay_us}us\", loss = {}", self.rate_bps, self.loss);
        let red = match self.discipline {
            Discipline::DropTail => String::new(),
            Discipline::Red => format!(
                ", red = {{ min = \"{}B\", max = \"{}B\", mean_packet = \"{PACKET_BYTES}B\" }}",
                queue / 6,
                queue / 2
            ),
        };
        format!(
            "\n[links.bottleneck]\nbetween = [\"west\", \"east\"]\nforward = {{ {line}, queue = \"{queue}B\"{red} }}\n\
             reverse = {{ {line} }}\n"
        )
    }
}

fn flow_table(name: &str, from: &str, transport: &str, start_ms: u32) -> String {
    format!(
        "\n[flows.{name}]\nfrom = \"{from}\"\nto = \"far\"\ntransport = \"{transport}\"\nstart = \"{start_ms}ms\"\n\
         workload = {{ kind = \"bulk\" }}\n"
    )
}
