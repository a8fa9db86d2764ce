//! Transfers over paths that a token bucket polices, with lines of another rate before and behind it.

#[path = "../common/longest.rs"]
mod longest;

use std::fmt::Write as _;

use skyhaul_core::{EventSink, Limit, LimitTimes, MS, NullSink};
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{Flows, STP, Simulation, Source, TCP};

use longest::longest;

/// Time that nobody needs for what is sent here.
const SECONDS: u32 = 120;
/// Keys of a transport that finds out its rate, as `send` has it.
pub(crate) const OURS: &str = "protocol = \"stp\"";

/// A path, who sends over it, and what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policed {
    /// Rate of the policer in kbit/s, and its depth in bytes.
    pub(crate) rate_kbps: u32,
    pub(crate) depth_bytes: u32,
    /// Rate of the lines before and behind it, in kbit/s.
    pub(crate) line_kbps: u32,
    /// Round trip of the empty path, in ms.
    pub(crate) rtt_ms: u32,
    /// Part of the packets that the path loses by chance, in hundredths of a percent.
    pub(crate) loss_bp: u32,
    /// Hosts that send `bytes` each, half a second one after the other.
    pub(crate) hosts: u32,
    pub(crate) bytes: u32,
    /// Keys of their transport.
    pub(crate) transport: &'static str,
    /// Controller of a flow of TCP in the same bucket, without an end.
    pub(crate) rival: Option<&'static str>,
}

/// Usual path: 10 of 100 Mbit/s, 64 kB, 60 ms.
pub(crate) const USUAL: Policed = Policed {
    rate_kbps: 10_000,
    depth_bytes: 64_000,
    line_kbps: 100_000,
    rtt_ms: 60,
    loss_bp: 0,
    hosts: 1,
    bytes: 8_000_000,
    transport: OURS,
    rival: None,
};

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Payload over the policer's rate in the time that it took, of all hosts together.
    pub(crate) share: f64,
    /// IP bytes sent over payload.
    pub(crate) sent: f64,
    /// Jain's index of the hosts.
    pub(crate) jain: f64,
    /// Goodput of the rival over the policer's rate.
    pub(crate) rival: f64,
    /// What held the first host back.
    pub(crate) limits: LimitTimes,
}

impl Run {
    /// As [`longest`] has it.
    pub(crate) fn first(&self) -> Limit {
        longest(&self.limits)
    }

    /// Time under a limit, in ms.
    pub(crate) fn spent_ms(&self, limit: Limit) -> u64 {
        self.limits.spent_ns(limit) / MS
    }
}

impl Policed {
    pub(crate) fn text(&self) -> String {
        let Self { rate_kbps, depth_bytes, line_kbps, rtt_ms, loss_bp, hosts, bytes, transport, rival } =
            self;
        let line = format!("rate = \"{line_kbps}kbit/s\", queue = \"200packets\"");
        let mut nodes = String::from("west = { kind = \"router\" }\neast = { kind = \"router\" }\n");
        let (mut links, mut flows) = (String::new(), format!("[transports.ours]\n{transport}\n"));
        let mut flow = |name: &str, transport: &str, at_ms: u32, size: &str| {
            for (host, router) in [(format!("{name}-a"), "west"), (format!("{name}-b"), "east")] {
                let _ = writeln!(nodes, "{host} = {{ kind = \"host\" }}");
                let _ = writeln!(links, "[links.{host}]\nbetween = [\"{host}\", \"{router}\"]");
                let _ = writeln!(links, "forward = {{ {line} }}\nreverse = {{ {line} }}");
            }
            let _ = writeln!(flows, "[flows.{name}]\nfrom = \"{name}-a\"\nto = \"{name}-b\"");
            let _ = writeln!(flows, "transport = \"{transport}\"\nstart = \"{at_ms}ms\"");
            let _ = writeln!(flows, "workload = {{ kind = \"bulk\"{size} }}");
        };
        for host in 0..*hosts {
            flow(&format!("ours{host}"), "ours", 1000 + 500 * host, &format!(", size = \"{bytes}B\""));
        }
        if let Some(controller) = rival {
            flow("rival", "rival", 0, "");
            let _ = writeln!(flows, "[transports.rival]\nprotocol = \"tcp\"\ncontroller = \"{controller}\"");
        }
        let delay = format!("delay = \"{}us\"", 500 * rtt_ms);
        let loss = f64::from(*loss_bp) / 1e4;
        let policer = format!("policer = {{ rate = \"{rate_kbps}kbit/s\", depth = \"{depth_bytes}B\" }}");
        format!(
            "[run]\nduration = \"{SECONDS}s\"\ngoal = \"done\"\n[nodes]\n{nodes}{links}[links.middle]\n\
             between = [\"west\", \"east\"]\nforward = {{ {line}, {delay}, loss = {loss:?}, {policer} }}\n\
             reverse = {{ {line}, {delay}, loss = {loss:?} }}\n{flows}"
        )
    }

    pub(crate) fn run(&self, seed: u64) -> Run {
        self.run_into(seed, &mut NullSink)
    }

    /// One run whose events somebody wants.
    pub(crate) fn run_into(&self, seed: u64, sink: &mut dyn EventSink<Source>) -> Run {
        let text = self.text();
        let file = File::parse(&Register::new(&[&STP, &TCP]), "policed.toml", &text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scenario = file.first_scenario().unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
        let ended = simulation.run(sink);
        let measured = simulation.measured(ended).unwrap_or_else(|error| panic!("{error}"));
        let of = |metric: &str| measured.metrics.get(metric).copied().unwrap_or(f64::NAN);
        let is_one = self.hosts == 1 && self.rival.is_none();
        let ours = |host: u32, metric: &str| {
            if is_one { of(metric) } else { of(&format!("flows.ours{host}.{metric}")) }
        };
        let all = |metric: &str| (0..self.hosts).map(|host| ours(host, metric)).collect::<Vec<_>>();
        let payload: f64 = all("payload_bytes").iter().sum();
        let goodputs = all("goodput_bps");
        let sum: f64 = goodputs.iter().sum();
        let squares: f64 = goodputs.iter().map(|bps| bps * bps).sum();
        let last_s = all("elapsed_s")
            .iter()
            .enumerate()
            .fold(0.0, |last: f64, (host, s)| last.max(s + 0.5 * host as f64));
        let hosts = simulation.network().hosts();
        let limits = hosts.flat_map(|(_, host)| {
            let flows = host.app.as_any().downcast_ref::<Flows>().into_iter();
            let ends: Vec<_> = flows.flat_map(|flows| flows.records(&host.engines)).collect();
            ends.into_iter().filter(|end| end.0 == 0 && end.1).filter_map(|end| end.3.limits)
        });
        Run {
            share: payload * 8.0 / last_s / (1e3 * f64::from(self.rate_kbps)),
            sent: all("forward.bytes").iter().sum::<f64>() / payload,
            jain: sum * sum / (goodputs.len() as f64 * squares),
            rival: of("flows.rival.goodput_bps") / (1e3 * f64::from(self.rate_kbps)),
            limits: limits.last().unwrap_or_default(),
        }
    }
}
