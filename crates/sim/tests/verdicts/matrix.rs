//! Paths on which verdicts are held against the truth: alone and beside others, clean and noisy, with short
//! and long queues, with losses in bursts.

use std::fmt::Write as _;

use skyhaul_core::NullSink;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{CAUSES, Confusion, STP, Simulation, TCP, VERDICTS};

/// Link in the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// As tables name it.
    pub(crate) name: &'static str,
    rate_mbps: u32,
    delay_ms: u32,
}

pub(crate) const PATHS: [Path; 2] =
    [Path { name: "geo", rate_mbps: 10, delay_ms: 265 }, Path { name: "leo", rate_mbps: 20, delay_ms: 20 }];

/// What the link loses beside what its queue drops: name, keys of a direction.
pub(crate) const NOISES: [(&str, &str); 5] = [
    ("clean", ""),
    ("1e-6", ", bit_error_rate = 1e-6"),
    ("1e-5", ", bit_error_rate = 1e-5"),
    ("1 %", ", loss = 0.01"),
    ("bursts", ", burst_loss = { good_to_bad = 0.001, bad_to_good = 0.1, loss_good = 0, loss_bad = 1 }"),
];

/// Others: name, controller, flows.
pub(crate) const RIVALS: [(&str, &str, u32); 5] = [
    ("alone", "cubic", 0),
    ("1 CUBIC", "cubic", 1),
    ("2 CUBIC", "cubic", 2),
    ("4 CUBIC", "cubic", 4),
    ("1 BBR", "bbr", 1),
];

/// Time in which the flow that is judged begins: before or long after the others.
pub(crate) const STARTS: [&str; 2] = ["0s", "15s"];

/// One path with all that there is beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) path: Path,
    pub(crate) noise: (&'static str, &'static str),
    pub(crate) rivals: (&'static str, &'static str, u32),
    pub(crate) queue_percent: u32,
    pub(crate) start: &'static str,
    /// More keys of the flow's transport.
    pub(crate) keys: &'static str,
}

impl Cell {
    fn text(&self, duration_s: u32) -> String {
        let Self { path, noise, rivals, queue_percent, start, keys } = self;
        let Path { rate_mbps, delay_ms, .. } = path;
        let rtt_ms = 2 * (delay_ms + 10);
        let queue_bytes = rate_mbps * 1000 / 8 * rtt_ms * queue_percent / 100;
        let (edge, slow) =
            ("rate = \"1000Mbit/s\", delay = \"5ms\"", format!("rate = \"{rate_mbps}Mbit/s\""));
        let middle = format!("{slow}, delay = \"{delay_ms}ms\", queue = \"{queue_bytes}B\"{}", noise.1);
        let mut text = format!("[run]\nduration = \"{duration_s}s\"\n[metrics]\nverdicts = true\n[nodes]\n");
        let mut links = String::new();
        for (host, router) in [("ours", "west"), ("theirs", "west"), ("sink", "east"), ("drain", "east")] {
            let _ = writeln!(text, "{host} = {{ kind = \"host\" }}");
            let _ = writeln!(links, "[links.{host}]\nbetween = [\"{host}\", \"{router}\"]");
            let _ = writeln!(links, "forward = {{ {edge} }}\nreverse = {{ {edge} }}");
        }
        let _ = writeln!(text, "west = {{ kind = \"router\" }}\neast = {{ kind = \"router\" }}\n{links}");
        let _ = writeln!(text, "[links.middle]\nbetween = [\"west\", \"east\"]");
        let _ = writeln!(text, "forward = {{ {middle} }}\nreverse = {{ {middle} }}");
        let _ = writeln!(text, "[transports.ours]\nprotocol = \"stp\"\n{keys}");
        let _ = writeln!(text, "[flows.ours]\nfrom = \"ours\"\nto = \"sink\"\ntransport = \"ours\"");
        let _ = writeln!(text, "start = \"{start}\"\nworkload = {{ kind = \"bulk\" }}");
        if rivals.2 > 0 {
            let _ = writeln!(text, "[transports.theirs]\nprotocol = \"tcp\"\ncontroller = \"{}\"", rivals.1);
            let _ =
                writeln!(text, "[flows.theirs]\nfrom = \"theirs\"\nto = \"drain\"\ntransport = \"theirs\"");
            let _ = writeln!(text, "count = {}\nstagger = \"3s\"\nstart = \"500ms\"", rivals.2);
            let _ = writeln!(text, "workload = {{ kind = \"bulk\" }}");
        }
        text
    }

    /// Packets judged lost, by cause and verdict.
    pub(crate) fn confusion(&self, seed: u64, duration_s: u32) -> Confusion {
        judged(&self.text(duration_s), seed)
    }
}

/// Packets judged lost in a run of a scenario, by cause and verdict.
pub(crate) fn judged(text: &str, seed: u64) -> Confusion {
    let file = File::parse(&Register::new(&[&STP, &TCP]), "verdicts.toml", text)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let scenario = file.first_scenario().unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
    let ended = simulation.run(&mut NullSink);
    let measured = simulation.measured(ended).unwrap_or_else(|error| panic!("{error}"));
    let of = |cause: &str, verdict: &str| measured.metrics[&format!("verdicts.{cause}.{verdict}")] as u64;
    CAUSES.map(|cause| VERDICTS.map(|verdict| of(cause, verdict)))
}

/// Sum of both.
pub(crate) fn sum(mut one: Confusion, other: &Confusion) -> Confusion {
    for (into, from) in one.iter_mut().flatten().zip(other.iter().flatten()) {
        *into += from;
    }
    one
}

/// Packets with a verdict, those of them with the right one, and those without.
pub(crate) fn score(confusion: &Confusion) -> (u64, u64, u64) {
    let judged = confusion.iter().flat_map(|row| &row[..3]).sum();
    let right = (0..3).map(|cause| confusion[cause][cause]).sum();
    (judged, right, confusion.iter().map(|row| row[3]).sum())
}
