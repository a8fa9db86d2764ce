//! Two hosts at the ends of an emulated link.

use std::time::Duration;

use skyhaul_core::MS;
use skyhaul_link::{BurstLoss, DirectionConfig, LinkConfig, QueueLimit, Reordering};
use skyhaul_tcp::Config;

use crate::support::*;

fn direction() -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(50_000_000),
        delay_ns: 5 * MS,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    }
}

/// Sends a million bytes up and gives what the link says of it.
async fn transfer(direction: DirectionConfig) -> (skyhaul_core::Stats, skyhaul_net::LinkReport) {
    let config = LinkConfig {
        name: "test".into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    };
    let (a, link, b) = linked_hosts(config);
    let mut listener = b.listen(PORT, 8).unwrap();
    let (up, down) = tokio::join!(a.connect(at(address(2)), Config::standard()), listener.accept());
    let (mut up, mut down) = (up.unwrap(), down.unwrap());
    let data = noise(1_000_000);
    let ((), got) = soon(async { tokio::join!(send_all(&mut up, &data), read_all(&mut down)) }).await;
    assert!(got == data);
    (up.stats(), link.stop())
}

#[tokio::test]
async fn a_link_delays_what_passes_and_counts_it() {
    let (stats, report) = transfer(direction()).await;
    assert!(stats.rtt_min_ns >= Some(10 * MS), "{stats:?}");
    assert!(report.forward.counters.delivered_bytes > 1_000_000, "{report:?}");
    assert_eq!(report.forward.send_failures + report.reverse.send_failures, 0);
}

#[tokio::test]
async fn losses_are_repaired() {
    let burst_loss = BurstLoss { good_to_bad: 0.01, bad_to_good: 0.3, loss_good: 0.01, loss_bad: 0.5 };
    let (stats, report) = transfer(DirectionConfig { burst_loss, ..direction() }).await;
    assert!(report.forward.counters.dropped.random_loss > 0, "{report:?}");
    assert!(stats.retransmitted_packets > 0, "{stats:?}");
}

#[tokio::test]
async fn packets_that_overtake_each_other_are_put_in_order() {
    let reordering = Reordering { probability: 0.05, extra_delay_ns: 4 * MS };
    let (_, report) = transfer(DirectionConfig { reordering, ..direction() }).await;
    assert!(report.forward.counters.reordered_packets > 0, "{report:?}");
}

#[tokio::test]
async fn damaged_packets_are_noticed() {
    let damage = skyhaul_link::Damage::Deliver;
    let (_, report) = transfer(DirectionConfig { bit_error_rate: 2e-6, damage, ..direction() }).await;
    assert!(report.forward.counters.damaged_packets > 0, "{report:?}");
}

#[tokio::test]
async fn a_link_without_peers_does_nothing() {
    let ((a, near), (far, b)) = (wire(), wire());
    let link = skyhaul_net::tun::PacketLink::start(LinkConfig::default(), 1, [near, far]).unwrap();
    drop((a, b));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(link.stop().forward.counters.entered_packets, 0);
}
