//! Peers of the receiver: by the engine that honest ones have, or by hand.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use skyhaul_net::{Endpoint, EndpointOptions, Limits, Stream};
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Opening, Poll, Report, Segment, Stat};
use tokio::task::LocalSet;

use crate::field::Field;
use crate::wire::{self, blank, datagram};

/// Between two tries of a connection that was refused or ended.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Connections of an endpoint's, at most.
const MAX_CONNECTIONS: usize = 2048;

/// What a peer does with a connection once its address is proven.
pub(crate) type Talk = fn(&mut Stream) -> std::pin::Pin<Box<dyn Future<Output = io::Result<()>> + '_>>;

/// Keeps `per_endpoint` connections of each of `endpoints` addresses to the receiver, on each of which `talk`
/// is held; whoever is refused or ended comes again. Stands when each has been tried.
pub(crate) fn crowd(field: &Field<'_>, endpoints: u8, per_endpoint: u32, talk: Talk) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let limits = Limits { max_connections: MAX_CONNECTIONS, ..Limits::default() };
        let bound: io::Result<Vec<Endpoint>> = (0..endpoints)
            .map(|i| {
                let address = SocketAddr::from((Ipv4Addr::new(127, 88, 0, 1 + i), 0));
                Endpoint::bind(address, EndpointOptions { limits, ..EndpointOptions::default() })
            })
            .collect();
        let bound = bound?;
        let local = LocalSet::new();
        for endpoint in &bound {
            for _ in 0..per_endpoint {
                local.spawn_local(persist(endpoint.clone(), field.receiver, talk));
            }
        }
        local.run_until(attend(field, &bound)).await;
        drop(local);
        for endpoint in &bound {
            endpoint.close().await;
        }
        Ok(())
    })
}

/// Counts what the endpoints send, until the attack has to end.
async fn attend(field: &Field<'_>, endpoints: &[Endpoint]) {
    const STANDS_AFTER: Duration = Duration::from_secs(3);
    let (begun, mut before) = (Instant::now(), (0, 0));
    while field.goes_on() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let counters = endpoints.iter().map(Endpoint::counters);
        let now = counters.fold((0, 0), |(datagrams, octets), counters| {
            let octets_here = counters.sent_bytes + 28 * counters.sent_datagrams;
            (datagrams + counters.sent_datagrams, octets + octets_here)
        });
        field.sent(now.0 - before.0, now.1 - before.1);
        before = now;
        if begun.elapsed() > STANDS_AFTER {
            field.stand();
        }
    }
}

async fn persist(endpoint: Endpoint, receiver: SocketAddr, talk: Talk) {
    loop {
        let talked = async {
            let mut stream = endpoint.connect(receiver, wire::FILES_PORT, Config::standard()).await?;
            talk(&mut stream).await
        };
        if talked.await.is_err() {
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }
}

/// Peer that is proven, and then says what it likes.
#[derive(Debug)]
pub(crate) struct Liar {
    pub(crate) socket: UdpSocket,
    pub(crate) blank: Segment<'static>,
}

impl Liar {
    /// Opens a connection by the rules; `opening` says what it announces.
    pub(crate) fn open(field: &Field<'_>, port: u16, opening: Opening) -> io::Result<Self> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let liar = Self { socket: wire::socket([99, 0, 1])?, blank: blank(port) };
        liar.socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        let (begun, mut buffer) = (Instant::now(), vec![0; 1 << 16]);
        while field.goes_on() && begun.elapsed() < PATIENCE {
            liar.say(field, &Segment { bgn: Some(opening), ..liar.blank.clone() });
            let Ok(bytes) = liar.socket.recv(&mut buffer) else { continue };
            let Some(Segment { poll: Some(poll), .. }) = wire::segment(&buffer[..bytes]) else { continue };
            liar.say(field, &Segment { stat: Some(echo(poll)), ..liar.blank.clone() });
            return Ok(liar);
        }
        Err(io::Error::other("the receiver does not answer an opening"))
    }

    pub(crate) fn say(&self, field: &Field<'_>, segment: &Segment<'_>) {
        field.send(&self.socket, &datagram(segment));
    }

    /// Packet so many behind the first.
    pub(crate) fn packet<'a>(&self, number: u32, data: &'a [u8]) -> Segment<'a> {
        Segment { number, data: Some((data, &[])), ..self.blank.clone() }
    }
}

/// STAT by which everything has arrived that was sent until this POLL.
pub(crate) fn echo(poll: Poll) -> Stat {
    let report = Report { next: poll.next, window_bytes: 1 << 24, ..Report::default() };
    Stat { echo: poll.timestamp, report, ..Stat::default() }
}
