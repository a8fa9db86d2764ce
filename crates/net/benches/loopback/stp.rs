//! A transfer over STP.

use std::net::SocketAddr;
use std::sync::mpsc;

use skyhaul_core::Stats;
use skyhaul_net::{Clock, Counters, Endpoint, EndpointOptions};
use tokio::io::AsyncReadExt;

use crate::ends::{Cost, Plan, drain, fill};

const PORT: u16 = 7;

/// Its cost, and what the sender counted.
pub(crate) fn transfer(plan: Plan) -> (Cost, Stats, Counters) {
    let receiver = move |tell| receive(plan, tell);
    let (cost, (stats, counters)) = crate::ends::transfer(plan, receiver, |peer| send(plan, peer));
    (cost, stats, counters)
}

fn options(plan: Plan) -> EndpointOptions {
    EndpointOptions { mtu_bytes: Some(plan.mtu_bytes), ..EndpointOptions::default() }
}

async fn receive(plan: Plan, tell: mpsc::Sender<SocketAddr>) -> u64 {
    let address = "127.0.0.1:0".parse().expect("an address");
    let endpoint = Endpoint::bind(address, options(plan)).expect("a socket");
    let mut listener = endpoint.listen(PORT).expect("a listener");
    tell.send(endpoint.local_addr()).expect("the sender is there");
    drain(&mut listener.accept().await.expect("a connection")).await
}

/// Ends when the receiver has confirmed everything.
async fn send(plan: Plan, peer: SocketAddr) -> (f64, (Stats, Counters)) {
    let endpoint = Endpoint::client(peer, options(plan)).expect("a socket");
    let clock = Clock::start();
    let mut stream = endpoint.open(peer, PORT, crate::ends::config()).expect("a stream");
    fill(&mut stream, plan.bytes).await;
    let seconds = clock.now().as_secs_f64();
    assert_eq!(stream.read(&mut [0]).await.expect("the receiver's end"), 0);
    (seconds, (stream.stats(), endpoint.counters()))
}
