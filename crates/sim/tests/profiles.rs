//! Two hosts with different profiles: nothing that is switched is negotiated, so each pair must work.

use skyhaul_core::{NullSink, SECOND};
use skyhaul_link::{LinkConfig, preset};
use skyhaul_sim::{Outcome, Transfer};
use skyhaul_stp::Config;

const BYTES: u64 = 300_000;

/// Loses packets both ways, data, reports and openings alike.
fn lossy(name: &str) -> LinkConfig {
    let mut link = preset(name).expect("a built-in link");
    (link.forward.loss, link.reverse.loss) = (0.05, 0.05);
    link
}

/// The simulated reader holds every byte against the one that was written.
fn cross(sender: Config, receiver: Config, link: LinkConfig, seed: u64) -> Outcome {
    let transfer = Transfer { sender, receiver, max_ns: 3600 * SECOND, ..Transfer::new(link, seed, BYTES) };
    let outcome = transfer.run(&mut NullSink).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    assert_eq!((outcome.bytes, outcome.sender.acknowledged_bytes), (BYTES, BYTES), "seed {seed}");
    outcome
}

#[test]
fn two_hosts_with_different_profiles_move_every_byte_over_lossy_links() {
    let rate_bps = Some(2_000_000);
    let declared = || Config { rate_bps, ..Config::standard() };
    let mut again = [0; 3];
    for link in ["geo", "leo-handoff"] {
        for seed in 1..=3 {
            let outcomes = [
                cross(Config::paper(), Config::standard(), lossy(link), seed),
                cross(Config::standard(), Config::paper(), lossy(link), seed),
                cross(declared(), Config::paper(), lossy(link), seed),
            ];
            for (sum, outcome) in again.iter_mut().zip(&outcomes) {
                *sum += outcome.sender.retransmitted_packets;
            }
        }
    }
    assert!(again.iter().all(|&packets| packets > 50), "packets were lost and sent again: {again:?}");
}
