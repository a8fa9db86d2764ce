//! Transfers over paths that a token bucket polices: what of its rate they get, what they send for it, and
//! what they say held them back. `cargo run -p skyhaul-sim --example policed -- [--seeds N] [--only TEXT]
//! [--set usual|grid|noise|beside] [--with ours|cubic|bbr] [--trace]`
#![allow(dead_code)]

#[path = "../tests/policed/paths.rs"]
mod paths;
#[path = "../benches/support/mod.rs"]
mod support;

use paths::{OURS, Policed, Run, USUAL};
use skyhaul_core::{Event, EventSink, Instant, Limit, SECOND};
use skyhaul_sim::Source;
use support::{argument, flag, median, text};

/// Prints rates and losses as they come.
struct Trace;

impl EventSink<Source> for Trace {
    fn wants(&self) -> bool {
        true
    }

    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        let at = now.as_ns() as f64 / SECOND as f64;
        match event {
            Event::Rate { rate_bps } => {
                println!("{at:9.4} {source} rate {:.3} Mbit/s", rate_bps as f64 / 1e6);
            }
            Event::ProbeStarted { alarm, .. } => println!("{at:9.4} {source} asks {alarm:?}"),
            Event::ProbeEnded { verdict, .. } => println!("{at:9.4} {source} found {verdict:?}"),
            Event::Lost { first, end, verdict } => {
                println!("{at:9.4} {source} lost {} as {verdict:?}", end - first);
            }
            _ => {}
        }
    }
}

fn row(name: &str, path: &Policed, seeds: u64) {
    if flag("--trace") {
        path.run_into(1, &mut Trace);
    }
    let runs: Vec<Run> = (1..=seeds).map(|seed| path.run(seed)).collect();
    let of = |figure: &dyn Fn(&Run) -> f64| median(runs.iter().map(figure).collect());
    let most = runs.iter().map(|run| run.sent).fold(0.0, f64::max);
    let firsts: Vec<String> = runs.iter().map(|run| format!("{:?}", run.first())).collect();
    let named = firsts.iter().filter(|first| **first == firsts[0]).count();
    println!(
        "{name:<44} share {:.3}  sent {:.2} (most {most:.2})  jain {:.3}  rival {:.3}  neighbour {:>5.1} s  {} {named}/{seeds}",
        of(&|run| run.share),
        of(&|run| run.sent),
        of(&|run| run.jain),
        of(&|run| run.rival),
        of(&|run| run.spent_ms(Limit::Neighbour) as f64 / 1e3),
        firsts[0],
    );
}

fn paths() -> Vec<(String, Policed)> {
    let set = text("--set").unwrap_or_else(|| "usual".to_string());
    let mut paths = Vec::new();
    match set.as_str() {
        "grid" => {
            for depth_kb in [16, 64, 256] {
                for rtt_ms in [20, 60, 600] {
                    for times in [2, 5, 10] {
                        let (line_kbps, depth_bytes) = (10_000 * times, 1000 * depth_kb);
                        let path = Policed { depth_bytes, line_kbps, rtt_ms, ..USUAL };
                        paths.push((format!("{depth_kb} kB, {rtt_ms} ms, line x{times}"), path));
                    }
                }
            }
        }
        "noise" => {
            for rtt_ms in [20, 60, 600] {
                for loss_bp in [1000, 3000, 4500, 6000] {
                    let line = Policed { line_kbps: 10_000, depth_bytes: 10_000_000, rtt_ms, ..USUAL };
                    paths.push((
                        format!("no policer, {rtt_ms} ms, {} % lost", loss_bp / 100),
                        Policed { loss_bp, ..line },
                    ));
                }
            }
        }
        "beside" => {
            for (rate_kbps, rtt_ms, depth_bytes) in
                [(10_000, 60, 64_000), (10_000, 60, 500_000), (5_000, 300, 64_000)]
            {
                let path = Policed { rate_kbps, depth_bytes, rtt_ms, ..USUAL };
                for hosts in [2, 3] {
                    paths.push((
                        format!("{rate_kbps}k {depth_bytes} {rtt_ms}ms {hosts} hosts"),
                        Policed { hosts, ..path },
                    ));
                }
                for rival in ["cubic", "bbr"] {
                    let beside = Policed { rival: Some(rival), ..path };
                    paths.push((format!("{rate_kbps}k {depth_bytes} {rtt_ms}ms beside {rival}"), beside));
                }
            }
        }
        _ => {
            let usual = [
                ("usual", USUAL),
                ("16 kB", Policed { depth_bytes: 16_000, ..USUAL }),
                ("250 kB", Policed { depth_bytes: 250_000, ..USUAL }),
                ("1 MB", Policed { depth_bytes: 1_000_000, ..USUAL }),
                ("20 ms", Policed { rtt_ms: 20, ..USUAL }),
                ("300 ms", Policed { rtt_ms: 300, ..USUAL }),
                ("600 ms", Policed { rtt_ms: 600, ..USUAL }),
                ("line 20 Mbit/s", Policed { line_kbps: 20_000, ..USUAL }),
                ("line 1 Gbit/s", Policed { line_kbps: 1_000_000, ..USUAL }),
                ("1 Mbit/s, 1 MB", Policed { rate_kbps: 1_000, bytes: 1_000_000, ..USUAL }),
                ("2 of 100 Mbit/s, 2 MB", Policed { rate_kbps: 2_000, bytes: 2_000_000, ..USUAL }),
                ("50 of 100 Mbit/s, 40 MB", Policed { rate_kbps: 50_000, bytes: 40_000_000, ..USUAL }),
                (
                    "50 of 1000 Mbit/s, 40 MB",
                    Policed { rate_kbps: 50_000, line_kbps: 1_000_000, bytes: 40_000_000, ..USUAL },
                ),
                ("0.1 % lost", Policed { loss_bp: 10, ..USUAL }),
                ("1 % lost", Policed { loss_bp: 100, ..USUAL }),
                ("40 MB", Policed { bytes: 40_000_000, ..USUAL }),
                ("three hosts", Policed { hosts: 3, ..USUAL }),
                ("beside cubic", Policed { rival: Some("cubic"), ..USUAL }),
                ("beside bbr", Policed { rival: Some("bbr"), ..USUAL }),
            ];
            paths.extend(usual.map(|(name, path)| (name.to_string(), path)));
        }
    }
    paths
}

fn main() {
    let seeds = argument("--seeds").unwrap_or(5);
    let only = text("--only").unwrap_or_default();
    let transport = match text("--with").as_deref() {
        Some("cubic") => "protocol = \"tcp\"\ncontroller = \"cubic\"",
        Some("bbr") => "protocol = \"tcp\"\ncontroller = \"bbr\"",
        _ => OURS,
    };
    for (name, path) in paths().into_iter().filter(|(name, _)| name.contains(&only)) {
        row(&name, &Policed { transport, ..path }, seeds);
    }
}
