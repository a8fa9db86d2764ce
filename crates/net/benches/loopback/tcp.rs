//! Transfer over the kernel's TCP.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;

use skyhaul_net::Clock;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::ends::{Cost, Plan, drain, fill};

/// Its cost.
pub(crate) fn transfer(plan: Plan) -> Cost {
    crate::ends::transfer(plan, receive, |peer| send(plan, peer)).0
}

async fn receive(tell: mpsc::Sender<SocketAddr>) -> u64 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a listener");
    tell.send(listener.local_addr().expect("an address")).expect("the sender is there");
    drain(&mut listener.accept().await.expect("a connection").0).await
}

/// Ends when the receiver has read everything: TCP tells of no confirmation, but of the other end.
async fn send(plan: Plan, peer: SocketAddr) -> (f64, ()) {
    let clock = Clock::start();
    let mut stream = TcpStream::connect(peer).await.expect("a connection");
    fill(&mut stream, plan.bytes).await;
    assert_eq!(stream.read(&mut [0]).await.expect("the receiver's end"), 0);
    (clock.now().as_secs_f64(), ())
}
