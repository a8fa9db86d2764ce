//! Paths with a queue of few packets, and several senders in front of it: hosts that speak STP, each on its
//! own, and others beside them.

use std::fmt::Write as _;

use skyhaul_sim::Confusion;

use crate::matrix::{judged, sum};

const SECONDS: u32 = 20;
/// Moments at which the first of ours begins: before the others, and behind them.
const STARTS_MS: [u32; 3] = [0, 4000, 7300];
/// Time between two of ours.
const STAGGER_MS: u32 = 1300;

/// One link, and who sends over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    pub(crate) rate_mbps: u32,
    pub(crate) delay: &'static str,
    pub(crate) queue_packets: u32,
    /// What the link loses beside what its queue drops: keys of a direction.
    pub(crate) noise: &'static str,
    /// Hosts that speak STP, none of which knows of another.
    pub(crate) own: u32,
    /// Others: controller and flows.
    pub(crate) rivals: (&'static str, u32),
}

impl Narrow {
    fn text(&self, start_ms: u32) -> String {
        let Self { rate_mbps, delay, queue_packets, noise, own, rivals } = self;
        let middle = format!(
            "rate = \"{rate_mbps}Mbit/s\", delay = \"{delay}\", queue = \"{queue_packets}packets\"{noise}"
        );
        let mut text = format!(
            "[run]\nduration = \"{SECONDS}s\"\n[metrics]\nverdicts = true\n[nodes]\n\
             west = {{ kind = \"router\" }}\neast = {{ kind = \"router\" }}\n"
        );
        let mut links = String::new();
        let mut flows = String::new();
        let mut host = |name: &str, router: &str| {
            let _ = writeln!(text, "{name} = {{ kind = \"host\" }}");
            let edge = "{ }";
            let _ = writeln!(links, "[links.{name}]\nbetween = [\"{name}\", \"{router}\"]");
            let _ = writeln!(links, "forward = {edge}\nreverse = {edge}");
        };
        for at in 0..*own {
            host(&format!("ours{at}"), "west");
            host(&format!("sink{at}"), "east");
            let _ = writeln!(flows, "[flows.ours{at}]\nfrom = \"ours{at}\"\nto = \"sink{at}\"");
            let start_ms = start_ms + STAGGER_MS * at;
            let _ = writeln!(flows, "transport = \"ours\"\nstart = \"{start_ms}ms\"");
            let _ = writeln!(flows, "workload = {{ kind = \"bulk\" }}");
        }
        if rivals.1 > 0 {
            host("theirs", "west");
            host("drain", "east");
            let _ = writeln!(flows, "[transports.theirs]\nprotocol = \"tcp\"\ncontroller = \"{}\"", rivals.0);
            let _ = writeln!(flows, "[flows.theirs]\nfrom = \"theirs\"\nto = \"drain\"");
            let _ = writeln!(flows, "transport = \"theirs\"\ncount = {}\nstart = \"500ms\"", rivals.1);
            let _ = writeln!(flows, "workload = {{ kind = \"bulk\" }}");
        }
        let _ = writeln!(text, "{links}[links.middle]\nbetween = [\"west\", \"east\"]");
        let _ = writeln!(text, "forward = {{ {middle} }}\nreverse = {{ {middle} }}");
        let _ = writeln!(text, "[transports.ours]\nprotocol = \"stp\"\n{flows}");
        text
    }

    /// Packets judged lost, by cause and verdict, over seeds and moments at which ours begin.
    pub(crate) fn confusion(&self, seeds: u64) -> Confusion {
        let runs = STARTS_MS.into_iter().flat_map(|start_ms| (1..=seeds).map(move |seed| (start_ms, seed)));
        let runs = runs.map(|(start_ms, seed)| judged(&self.text(start_ms), seed));
        runs.fold(Confusion::default(), |all, one| sum(all, &one))
    }
}
