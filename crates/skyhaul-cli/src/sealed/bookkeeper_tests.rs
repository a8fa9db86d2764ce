//! Peers that change while others keep the associations busy.

use skyhaul_association::{PublicKey, Secret};
use skyhaul_core::envelope::Mode;
use skyhaul_net::EndpointOptions;
use skyhaul_store::{Entered, KnownPeer, Store};
use skyhaul_stp::Config;
use tempfile::TempDir;

use super::*;
use crate::sealed::{Keys, SealedEnd};

fn store(folder: &TempDir) -> Store {
    Store::at(folder.path().join("config"), folder.path().join("state"))
}

fn peer(name: &str, key: PublicKey) -> KnownPeer {
    KnownPeer {
        name: name.parse().unwrap(),
        key,
        psk: Secret::new([3; 32]),
        mode: Mode::Encrypted,
        callsign: None,
        address: None,
        may_send: true,
    }
}

#[tokio::test]
async fn peers_are_followed_while_one_keeps_events_coming() {
    const PORT: u16 = 2;
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ground, ship) = (store(&here), store(&there));
    let key = |store: &Store| store.machine_or_new().unwrap().identity().public();
    let ground_as_peer = peer("ground", key(&ground));
    ship.change_book(|book| book.add(ground_as_peer.clone())).unwrap();
    for (name, key) in [("ship", key(&ship)), ("moon", PublicKey([7; 32]))] {
        ground.change_book(|book| book.add(peer(name, key))).unwrap();
    }
    let Entered { associations, roster, .. } = Keys::of(ground.clone()).unwrap().waiting().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let endpoint = SealedEndpoint::bind_sealed(any, EndpointOptions::default(), associations).unwrap();
    let _listener = endpoint.listen(PORT).unwrap();
    let address = endpoint.local_addr();
    let (_bookkeeper, mut heard) = Bookkeeper::start(endpoint, ground.counters(), roster).unwrap();
    let keys = Keys::of(ship).unwrap();
    let mut opened = 0;
    let busy = async {
        loop {
            let end = SealedEnd::calling(&keys, &ground_as_peer, address, EndpointOptions::default());
            let end = end.unwrap().endpoint;
            end.connect_to(ground_as_peer.key, address, PORT, Config::standard()).await.unwrap();
            opened += 1;
            tokio::time::sleep(LOOK / 10).await;
        }
    };
    let removed = async {
        tokio::time::sleep(LOOK).await;
        ground.remove_peer(&"moon".parse().unwrap()).unwrap();
        let is_followed = heard.wait_for(|names| names.len() == 1);
        tokio::time::timeout(LOOK * 8, is_followed).await.is_ok()
    };
    let is_followed = tokio::select! {
        is_followed = removed => is_followed,
        () = busy => unreachable!("it goes on"),
    };
    assert!(is_followed && opened > 4, "after {opened} associations");
}

#[test]
fn a_flood_of_copies_takes_a_line_a_minute() {
    let mut copies = Copies::default();
    let mut lines = Vec::new();
    for second in 0..600 {
        for _ in 0..80 {
            copies.count += 1;
            lines.extend(copies.due(Instant::from_ns(second * SECOND)));
        }
    }
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("WARNING: a peer's handshake came a second time: "), "{}", lines[0]);
    assert!(
        lines[1].starts_with("WARNING: a peer's handshake (and 4799 more) came a second"),
        "{}",
        lines[1]
    );
}
