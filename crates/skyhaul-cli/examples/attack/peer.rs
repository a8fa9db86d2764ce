//! Peers of the receiver: by the engine that honest ones have, or by hand.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use skyhaul_association::PublicKey;
use skyhaul_net::{Endpoint, EndpointOptions, Limits, SealedEndpoint};
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Opening, Poll, Report, Segment, Stat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::LocalSet;

use crate::field::Field;
use crate::wire::{self, blank, datagram};

/// Between two tries of a connection that was refused or ended.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Connections of an endpoint's, at most.
const MAX_CONNECTIONS: usize = 2048;

/// A connection to the receiver, plain or sealed.
pub(crate) trait Connected: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Connected for T {}

/// What a peer does with a connection once its address is proven.
pub(crate) type Talk = fn(&mut dyn Connected) -> std::pin::Pin<Box<dyn Future<Output = io::Result<()>> + '_>>;

/// Endpoint of the attacker's.
#[derive(Clone)]
enum Caller {
    Plain(Endpoint),
    /// Of a peer of the receiver's, which has this key.
    Sealed(SealedEndpoint, PublicKey),
}

impl Caller {
    /// One at the `i`-th address: sealed, if the scene is.
    fn at(field: &Field<'_>, i: u8) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::new(127, 88, 0, 1 + i), 0));
        let limits = Limits { max_connections: MAX_CONNECTIONS, ..Limits::default() };
        let options = EndpointOptions { limits, ..EndpointOptions::default() };
        let Ok(machines) = field.machines() else {
            return Endpoint::bind(address, options).map(Self::Plain);
        };
        let key = machines.ground.key();
        let endpoint = SealedEndpoint::bind_sealed(address, options, machines.rogue.calling(key)?)?;
        Ok(Self::Sealed(endpoint, key))
    }

    async fn connect(&self, receiver: SocketAddr) -> io::Result<Box<dyn Connected>> {
        let config = Config::standard();
        Ok(match self {
            Self::Plain(endpoint) => Box::new(endpoint.connect(receiver, wire::FILES_PORT, config).await?),
            Self::Sealed(endpoint, key) => {
                Box::new(endpoint.connect_to(*key, receiver, wire::FILES_PORT, config).await?)
            }
        })
    }

    /// Datagrams and IP octets that it sent.
    fn sent(&self) -> (u64, u64) {
        let counters = match self {
            Self::Plain(endpoint) => endpoint.counters(),
            Self::Sealed(endpoint, _) => endpoint.counters(),
        };
        (counters.sent_datagrams, counters.sent_bytes + 28 * counters.sent_datagrams)
    }

    async fn close(&self) {
        match self {
            Self::Plain(endpoint) => endpoint.close().await,
            Self::Sealed(endpoint, _) => endpoint.close().await,
        }
    }
}

/// Keeps `per_endpoint` connections of each of `endpoints` addresses to the receiver, on each of which `talk`
/// is held; whoever is refused or ended comes again. Stands when each has been tried.
pub(crate) fn crowd(field: &Field<'_>, endpoints: u8, per_endpoint: u32, talk: Talk) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let callers: io::Result<Vec<Caller>> = (0..endpoints).map(|i| Caller::at(field, i)).collect();
        let callers = callers?;
        let local = LocalSet::new();
        for caller in &callers {
            for _ in 0..per_endpoint {
                local.spawn_local(persist(caller.clone(), field.receiver, talk));
            }
        }
        local.run_until(attend(field, &callers)).await;
        drop(local);
        for caller in &callers {
            caller.close().await;
        }
        Ok(())
    })
}

/// Counts what the endpoints send, until the attack has to end.
async fn attend(field: &Field<'_>, callers: &[Caller]) {
    const STANDS_AFTER: Duration = Duration::from_secs(3);
    let (begun, mut before) = (Instant::now(), (0, 0));
    while field.goes_on() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let sent = callers.iter().map(Caller::sent);
        let now = sent.fold((0, 0), |all, here| (all.0 + here.0, all.1 + here.1));
        field.sent(now.0 - before.0, now.1 - before.1);
        before = now;
        if begun.elapsed() > STANDS_AFTER {
            field.stand();
        }
    }
}

async fn persist(caller: Caller, receiver: SocketAddr, talk: Talk) {
    loop {
        let talked = async { talk(&mut *caller.connect(receiver).await?).await };
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
        Self::open_from(field, ([99, 0, 1], port), opening, None)
    }

    /// A connection from this host of loopback, opened with early data if there is any.
    pub(crate) fn open_from(
        field: &Field<'_>,
        (host, port): ([u8; 3], u16),
        opening: Opening,
        early: Option<&[u8]>,
    ) -> io::Result<Self> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let liar = Self { socket: wire::socket(host)?, blank: blank(port) };
        liar.socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        let (begun, mut buffer) = (Instant::now(), vec![0; 1 << 16]);
        let data: Option<(&[u8], &[u8])> = early.map(|early| (early, &[][..]));
        while field.goes_on() && begun.elapsed() < PATIENCE {
            liar.say(field, &Segment { bgn: Some(opening), data, ..liar.blank.clone() });
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
