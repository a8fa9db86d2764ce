//! The state of the links in a line, on a terminal.

use std::convert::Infallible;
use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::ProgressBar;
use skyhaul_core::units::show_rate;
use skyhaul_emulator::{EmulatedLinkReport, Emulation, EmulationReport};

const TICK: Duration = Duration::from_secs(1);

/// Draws the line anew every second, for as long as somebody waits.
pub(super) async fn show(emulation: &Emulation, is_quiet: bool) -> Infallible {
    if is_quiet || !std::io::stderr().is_terminal() {
        return std::future::pending().await;
    }
    let bar = ProgressBar::new_spinner();
    let mut before = emulation.report();
    let mut tick = tokio::time::interval(TICK);
    loop {
        tick.tick().await;
        let now = emulation.report();
        bar.set_message(line(&before, &now));
        bar.tick();
        before = now;
    }
}

fn line(before: &EmulationReport, now: &EmulationReport) -> String {
    let seconds = now.at.since(before.at) as f64 / 1e9;
    let links = now.links.iter().zip(&before.links).map(|(now, before)| link(now, before, seconds));
    let late = 100.0 * now.lateness.late_share();
    format!("{:.0} s  {}  late {late:.2} %", now.at.as_secs_f64(), links.collect::<Vec<_>>().join(" | "))
}

fn link(now: &EmulatedLinkReport, before: &EmulatedLinkReport, seconds: f64) -> String {
    let state = if now.is_up { "up" } else { "DOWN" };
    let rate = |port: usize| {
        let [now, before] = [now, before].map(|report| report.directions[port].delivered_bytes);
        show_rate((now - before) as f64 * 8.0 / seconds.max(1e-9))
    };
    let lost: u64 = now.directions.iter().map(|counters| counters.dropped.total()).sum();
    let queued = now.directions.map(|counters| counters.queue_bytes / 1000);
    format!(
        "{} {state}: there {}, {} kB queued; back {}, {} kB queued; {lost} lost",
        now.name,
        rate(0),
        queued[0],
        rate(1),
        queued[1]
    )
}
