//! Metrics against what can be known by other means.

#![allow(clippy::float_cmp)] // counts are exact

use skyhaul_core::SECOND;
use skyhaul_link::preset;
use skyhaul_stp::Config;

use crate::{Transfer, simulate};

fn handoff() -> Transfer {
    Transfer::new(preset("leo-handoff").expect("a built-in link"), 2, 10_000_000).with_rate(10_000_000)
}

#[test]
fn a_scenario_measures_what_the_transfer_does() {
    let transfer = handoff();
    let outcome = transfer.run(&mut skyhaul_core::NullSink).expect("it arrives");
    let measured = simulate(&transfer.scenario(), transfer.seed).expect("it arrives");
    let metric = |name: &str| measured.metrics[name];
    assert!((metric("goodput_bps") - outcome.goodput_bps()).abs() < 1.0);
    assert!((metric("share") - outcome.share().expect("the link has a rate")).abs() < 1e-9);
    assert_eq!(metric("forward.bytes"), outcome.sender.sent_bytes as f64);
    assert_eq!(metric("reverse.bytes"), outcome.receiver.sent_bytes as f64);
    let kinds = ["data", "retransmission", "forward_control", "reverse_control"];
    let sum: f64 = kinds.iter().map(|kind| metric(&format!("bytes.{kind}"))).sum();
    assert_eq!(sum, metric("forward.bytes") + metric("reverse.bytes"));
    assert!(metric("bytes.retransmission") > 0.0 && metric("bytes.forward_control") > 0.0);
    let overhead = 100.0 * (sum - 1e7) / 1e7;
    assert!((metric("overhead_percent") - overhead).abs() < 1e-9);
    // Over UDP each packet has 29 octets of the network's, and each with data 12 of the segment's.
    let packets = (outcome.sender.sent_packets + outcome.receiver.sent_packets) as f64;
    let first = (outcome.sender.data_packets + outcome.receiver.data_packets) as f64;
    let extra = 100.0 * (sum - 29.0 * packets - 12.0 * first - 1e7) / 1e7;
    assert!((metric("overhead_percent.repeats_and_control") - extra).abs() < 1e-9);
    assert!(0.0 < extra && extra < overhead, "{extra} {overhead}");
}

#[test]
fn losses_in_an_outage_are_called_that_and_every_loss_is_in_the_table() {
    let transfer = handoff();
    let mut scenario = transfer.scenario();
    scenario.metrics.verdicts = true;
    let measured = simulate(&scenario, transfer.seed).expect("it arrives");
    let metric = |name: &str| measured.metrics[name];
    assert_eq!(metric("verdicts.right.outage"), 1.0);
    let all =
        crate::CAUSES.iter().flat_map(|t| crate::VERDICTS.iter().map(move |v| format!("verdicts.{t}.{v}")));
    let judged: f64 = all.map(|name| metric(&name)).sum();
    let told: f64 = crate::VERDICTS.iter().map(|v| metric(&format!("losses.{v}"))).sum();
    assert!(judged > 0.0);
    // Early timeouts come within about a round trip and two POLL intervals of the first loss.
    let (least, most) = (metric("probing.alarm_rtts.min"), metric("probing.alarm_rtts.max"));
    assert!(0.2 < least && least <= most && most < 2.5, "{least} {most}");
    assert_eq!(judged, told);
}

#[test]
fn congestion_losses_are_told_from_damage_by_the_links_drops() {
    let mut transfer = Transfer::new(preset("geo").expect("a built-in link"), 1, 4_000_000);
    transfer.sender = Config { initial_window_packets: 2000, ..Config::standard() };
    let mut scenario = transfer.scenario();
    scenario.metrics.verdicts = true;
    let measured = simulate(&scenario, transfer.seed).expect("it arrives");
    let row: f64 =
        crate::VERDICTS.iter().map(|v| measured.metrics[&format!("verdicts.congestion.{v}")]).sum();
    assert!(row > 0.0, "the first burst is larger than the queue");
    assert_eq!(measured.metrics["verdicts.corruption.corruption"], 0.0);
}

#[test]
fn samples_add_up_to_the_payload_and_come_as_often_as_asked() {
    let transfer = handoff();
    let mut scenario = transfer.scenario();
    scenario.metrics.series_ns = Some(SECOND / 4);
    let measured = simulate(&scenario, transfer.seed).expect("it arrives");
    let samples = &measured.series;
    assert!(samples.windows(2).all(|pair| (pair[1].at_s - pair[0].at_s - 0.25).abs() < 1e-9));
    let bytes: f64 = samples.iter().map(|s| s.values["flows.transfer.goodput_bps"] / 8.0 * 0.25).sum();
    assert!(bytes <= 1e7 && bytes > 9.5e6, "{bytes}");
    assert!(samples.iter().any(|s| s.values["links.leo-handoff.forward.queue_bytes"] > 0.0));
}
