//! Cost of a window with thousands of losses: a transfer of 40 MB over 100 Mbit/s and 600 ms of round trip
//! that loses every fiftieth packet, in virtual time.
//!
//! `cargo bench -p skyhaul-tcp --bench recovery` prints the time that it took on this machine;
//! `valgrind --tool=callgrind PROGRAM` counts its instructions.
#![allow(missing_docs, clippy::disallowed_methods, reason = "a program that measures")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use common::pair::{content, transfer};
use skyhaul_congestion::Counting;
use skyhaul_core::{MS, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_tcp::{Config, LossEvidence, LossJudge};

const BYTES: usize = 40_000_000;

#[derive(Debug)]
struct Corrupt;

impl LossJudge for Corrupt {
    fn judge(&self, _: &LossEvidence) -> Verdict {
        Verdict::Corruption
    }
}

fn main() {
    let direction = DirectionConfig {
        rate_bps: Some(100_000_000),
        delay_ns: 300 * MS,
        queue: QueueLimit::Packets(20_000),
        ..DirectionConfig::default()
    };
    let forward = DirectionConfig { loss: 0.02, ..direction.clone() };
    let link = LinkConfig { name: "bench".into(), forward, reverse: direction, ..LinkConfig::default() };
    // Losses leave the window large: what is measured is the bookkeeping of many holes.
    let config = Config {
        initial_window_packets: Some(5000),
        counting: Counting::Bytes,
        send_limit_bytes: 16 << 20,
        receive_limit_bytes: 16 << 20,
        loss_judge: Some(Arc::new(Corrupt)),
        ..Config::standard()
    };
    let data = content(BYTES);
    let begin = Instant::now();
    let outcome = transfer(&config, link, 1, &data, 3600);
    let elapsed = begin.elapsed();
    assert!(outcome.ended && outcome.received == data, "{:?}", outcome.sender);
    let sender = outcome.sender;
    if std::env::args().any(|argument| argument == "--counters") {
        println!("{sender:?}");
    }
    let segments = sender.data_packets + sender.retransmitted_packets;
    println!(
        "{segments} segments of data, {} of them repeated in {} recoveries and {} timeouts: {elapsed:.2?}, \
         {:.2} us a segment",
        sender.retransmitted_packets,
        sender.recoveries,
        sender.timeouts,
        elapsed.as_secs_f64() * 1e6 / segments as f64,
    );
}
