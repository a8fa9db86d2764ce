//! Our link object in the path: it loses, reorders, damages.

use skyhaul_core::MS;
use skyhaul_link::{BurstLoss, Damage, DirectionConfig, LinkConfig, QueueLimit, Reordering};
use skyhaul_net::tun::PacketLink;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{OPENINGS, Ours};
use crate::support::*;
use crate::third::{Shape, third};

fn direction() -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(50_000_000),
        delay_ns: 3 * MS,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    }
}

/// Bulk both ways over a link, in both roles. Nobody ends while data are under way: smoltcp then forgets to
/// repeat what was lost, since any acknowledgement switches its timer off in CLOSE-WAIT, CLOSING and
/// LAST-ACK.
async fn over(direction: DirectionConfig, check: fn(&skyhaul_net::LinkReport)) {
    const BYTES: usize = 300_000;
    for opening in OPENINGS {
        let ((ours, near), (far, theirs)) = (wire(), wire());
        let config = LinkConfig {
            name: "test".into(),
            forward: direction.clone(),
            reverse: direction.clone(),
            ..LinkConfig::default()
        };
        let link = PacketLink::start(config, 7, [near, far]).unwrap();
        let mut us = Ours::at(ours);
        let mut work = third(theirs, move |third| {
            let handle = opening.theirs(third, Shape::default());
            third.talk(handle, &noise(BYTES), BYTES)
        });
        let (mut reader, mut writer) = us.meet(opening).await.into_split();
        let (up, mut answer) = (noise(BYTES), vec![0; BYTES]);
        let both = async { tokio::join!(writer.write_all(&up), reader.read_exact(&mut answer)) };
        let (said, heard) = soon(both).await;
        said.unwrap();
        heard.unwrap();
        assert!(work.done().await == up && answer == up, "{opening:?}");
        check(&link.stop());
    }
}

#[tokio::test]
async fn losses_are_repaired_by_either() {
    let burst_loss = BurstLoss { good_to_bad: 0.005, bad_to_good: 0.4, loss_good: 0.005, loss_bad: 0.5 };
    over(DirectionConfig { burst_loss, ..direction() }, |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.dropped.random_loss);
        assert!(there + back > 0, "{report:?}");
    })
    .await;
}

#[tokio::test]
async fn packets_that_overtake_each_other_are_put_in_order_by_either() {
    let reordering = Reordering { probability: 0.03, extra_delay_ns: 3 * MS };
    over(DirectionConfig { reordering, ..direction() }, |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.reordered_packets);
        assert!(there + back > 0, "{report:?}");
    })
    .await;
}

#[tokio::test]
async fn damaged_packets_are_noticed_by_either() {
    let damaged = DirectionConfig { bit_error_rate: 1e-6, damage: Damage::Deliver, ..direction() };
    over(damaged, |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.damaged_packets);
        assert!(there + back > 0, "{report:?}");
    })
    .await;
}
