//! Counters for people.

use std::fmt::Write as _;

use skyhaul_core::units::show_bytes;
use skyhaul_emulator::{EmulatedLinkReport, EmulationReport, RouterReport};
use skyhaul_link::LinkCounters;
use skyhaul_net::LatenessReport;
use skyhaul_net::realtime::LATENESS_ROWS;

use super::EmulateArgs;
use super::object::EmulationObject;
use super::scene::EmulatedScene;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::wrap::wrapped;

/// Number of links that are shown though nothing passed them.
const FEW_LINKS: usize = 3;
/// Columns of the longest bar.
const BAR_COLUMNS: u64 = 40;

/// Shows what was counted: to people on standard error, to programs on standard output.
pub(super) fn show(
    args: &EmulateArgs,
    scene: &EmulatedScene,
    report: &EmulationReport,
    exit_code: Option<u8>,
    ended_by: Option<&'static str>,
) -> Result<(), Failure> {
    if let Some(warning) = report.warning() {
        note(&wrapped(&format!("WARNING: {warning}"), 0));
    }
    if args.json {
        let object = EmulationObject::new(scene, report, exit_code, ended_by);
        let text = serde_json::to_string(&object).map_err(|error| Failure::new(error.to_string()))?;
        return print(&format!("{text}\n"));
    }
    if !args.quiet {
        note(text(scene, report).trim_end());
    }
    Ok(())
}

fn text(scene: &EmulatedScene, report: &EmulationReport) -> String {
    let mut out = String::new();
    let _ =
        writeln!(out, "{}, seed {}, {:.1} s of emulation", scene.name, scene.seed, report.at.as_secs_f64());
    let few = report.links.len() <= FEW_LINKS;
    let is_used =
        |link: &&EmulatedLinkReport| few || link.directions.iter().any(|own| own.entered_packets > 0);
    let idle = report.links.len() - report.links.iter().filter(is_used).count();
    for link in report.links.iter().filter(is_used) {
        link_text(&mut out, link);
    }
    if idle > 0 {
        let _ = writeln!(out, "  {idle} of {} links carried nothing", report.links.len());
    }
    if report.unroutable_packets > 0 {
        let _ = writeln!(out, "  {} packets had no way to go", report.unroutable_packets);
    }
    for host in report.hosts.iter().filter(|host| host.gate.send_failures > 0) {
        let _ = writeln!(out, "  {} took {} packets not", host.name, host.gate.send_failures);
    }
    for RouterReport { name, sent } in &report.routers {
        let _ = writeln!(
            out,
            "  {name} told of damage {} times, of an outage {} times, of its end {} times",
            sent.corruption_experienced, sent.link_outage, sent.link_restored
        );
    }
    processor(&mut out, report);
    if report.lateness.packets > 0 {
        histogram(&mut out, &report.lateness);
    }
    out
}

/// Processor time of the links.
fn processor(out: &mut String, report: &EmulationReport) {
    let each = report.processor_us_per_packet().map(|us| format!(", {us:.1} us for each packet"));
    let share = 100.0 * report.processor_share();
    let _ = writeln!(out, "  the links took {share:.2} % of a processor{}", each.unwrap_or_default());
}

fn link_text(out: &mut String, link: &EmulatedLinkReport) {
    for (direction, counters) in ["forward", "reverse"].into_iter().zip(&link.directions) {
        let _ = writeln!(
            out,
            "  {:<28} {:>9} packets in, {:>9} out ({}){}",
            format!("{} {direction}", link.name),
            counters.entered_packets,
            counters.delivered_packets,
            show_bytes(counters.delivered_bytes),
            causes(counters)
        );
    }
}

/// Fate of packets that were not delivered.
fn causes(counters: &LinkCounters) -> String {
    let dropped = &counters.dropped;
    let all = [
        (dropped.queue_full, "lost to a full queue"),
        (dropped.early, "lost to RED"),
        (dropped.policed, "lost to a policer"),
        (dropped.random_loss, "lost at random"),
        (dropped.bit_error, "lost to bit errors"),
        (dropped.outage, "lost to outages"),
        (dropped.too_large, "too large"),
        (counters.fragmented_packets, "in fragments"),
        (counters.damaged_packets, "damaged"),
        (counters.duplicated_packets, "duplicated"),
        (counters.marked_packets, "marked"),
        (counters.reordered_packets, "overtaken"),
    ];
    let happened = all.iter().filter(|(packets, _)| *packets > 0);
    happened.fold(String::new(), |mut text, (packets, what)| {
        let _ = write!(text, ", {packets} {what}");
        text
    })
}

/// Lateness of packets: a bar for each row that is not empty.
fn histogram(out: &mut String, lateness: &LatenessReport) {
    let _ = writeln!(
        out,
        "  {} packets left at their time or later: half by {:.0} us, 99 % by {:.0} us, 99.9 % by {:.0} us, all by {:.0} us",
        lateness.packets,
        lateness.p50_ns as f64 / 1e3,
        lateness.p99_ns as f64 / 1e3,
        lateness.p999_ns as f64 / 1e3,
        lateness.max_ns as f64 / 1e3
    );
    for (row, &packets) in lateness.histogram.iter().enumerate().filter(|(_, packets)| **packets > 0) {
        let name = match LATENESS_ROWS.get(row) {
            Some(bound) => format!("up to {} us", bound / 1000),
            None => format!("above {} us", LATENESS_ROWS[row - 1] / 1000),
        };
        let bar = "#".repeat((packets * BAR_COLUMNS).div_ceil(lateness.packets) as usize);
        let share = 100.0 * packets as f64 / lateness.packets as f64;
        let _ = writeln!(out, "  {name:>15} {packets:>9} {share:>7.3} % {bar}");
    }
}
