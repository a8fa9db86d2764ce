//! tshark reads what went between our host and smoltcp, and finds nothing malformed.

use std::sync::{Arc, Mutex};

use super::{OPENINGS, Ours, exchange};
use crate::pcap::Pcap;
use crate::support::*;
use crate::third::{Shape, watched};
use crate::tshark::{is_missing, matching};

#[tokio::test]
async fn tshark_finds_nothing_malformed() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.pcap");
    let file = Arc::new(Mutex::new(Pcap::new(&path)));
    for opening in OPENINGS {
        let (near, far) = wire();
        let mut us = Ours::at(near);
        let inside = Arc::clone(&file);
        let watch = move |packet: &[u8]| inside.lock().unwrap().write(packet);
        let mut work = watched(far, Box::new(watch), move |third| {
            let handle = opening.theirs(third, Shape::default());
            let heard = third.exchange(handle, Some(&noise(100_000)));
            // An opening that is refused.
            let refused = third.connect(
                std::net::SocketAddr::new(opening.address(1).ip(), 99),
                50_000,
                Shape::default(),
            );
            third.until(|third| !third.get(refused).is_open());
            heard
        });
        let stream = us.meet(opening).await;
        let said = noise(100_001);
        assert!(exchange(stream, &said).await == noise(100_000));
        assert!(work.done().await == said);
    }
    drop(file);
    let path = path.to_str().unwrap();
    let bad = matching(path, "_ws.malformed or _ws.expert.severity == error");
    let wrong = matching(path, "tcp.checksum.status == 0 or ip.checksum.status == 0");
    assert!(bad.is_empty() && wrong.is_empty(), "malformed: {bad:#?}\nwrong checksums: {wrong:#?}");
    assert!(matching(path, "tcp.flags.syn == 1").len() >= 12, "the capture was read");
    assert!(matching(path, "tcp.len > 0").len() > 500, "with data");
    assert!(matching(path, "tcp.flags.reset == 1").len() >= 4, "with resets of ours");
}
