//! A transfer over STP under a seal.

use std::net::SocketAddr;
use std::sync::mpsc;

use skyhaul_core::Stats;
use skyhaul_core::envelope::Mode;
use skyhaul_net::association::{
    Associations, Config as AssociationConfig, Identity, Offer, PeerSettings, Secret, Token,
};
use skyhaul_net::{Clock, Counters, EndpointOptions, SealedEndpoint};
use tokio::io::AsyncReadExt;

use crate::ends::{Cost, Plan, drain, fill};

const PORT: u16 = 7;
/// Secrets of sender and receiver.
const ENDS: [u8; 2] = [1, 2];

/// Its cost, and what the sender counted. `aes`: by AES-128-GCM, else by ChaCha20-Poly1305.
pub(crate) fn transfer(plan: Plan, aes: bool) -> (Cost, Stats, Counters) {
    let receiver = move |tell| receive(plan, aes, tell);
    let (cost, (stats, counters)) = crate::ends::transfer(plan, receiver, |peer| send(plan, aes, peer));
    (cost, stats, counters)
}

fn options(plan: Plan) -> EndpointOptions {
    EndpointOptions { mtu_bytes: Some(plan.mtu_bytes), ..EndpointOptions::default() }
}

fn identity(end: u8) -> Identity {
    Identity::new(Secret::new([end; 32]))
}

fn associations(end: u8, of: u8, aes: bool) -> Associations {
    let config = AssociationConfig { offer: Offer { aes }, ..AssociationConfig::default() };
    let seed = skyhaul_store::random_secret().expect("the system has randomness");
    let mut associations = Associations::new(config, identity(end), seed);
    let (key, psk) = (identity(of).public(), Secret::new([3; 32]));
    let peer = PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 };
    associations.add_peer(peer).expect("there is room");
    associations
}

async fn receive(plan: Plan, aes: bool, tell: mpsc::Sender<SocketAddr>) -> u64 {
    let address = "127.0.0.1:0".parse().expect("an address");
    let [sender, own] = ENDS;
    let endpoint = SealedEndpoint::bind_sealed(address, options(plan), associations(own, sender, aes))
        .expect("a socket");
    let mut listener = endpoint.listen(PORT).expect("a listener");
    tell.send(endpoint.local_addr()).expect("the sender is there");
    drain(&mut listener.accept().await.expect("a connection")).await
}

/// Ends when the receiver has confirmed everything.
async fn send(plan: Plan, aes: bool, peer: SocketAddr) -> (f64, (Stats, Counters)) {
    let [own, receiver] = ENDS;
    let endpoint = SealedEndpoint::client_sealed(peer, options(plan), associations(own, receiver, aes))
        .expect("a socket");
    let clock = Clock::start();
    let key = identity(receiver).public();
    let mut stream = endpoint.open_to(key, peer, PORT, crate::ends::config()).expect("a stream");
    fill(&mut stream, plan.bytes).await;
    let seconds = clock.now().as_secs_f64();
    assert_eq!(stream.read(&mut [0]).await.expect("the receiver's end"), 0);
    (seconds, (stream.stats(), endpoint.counters()))
}
