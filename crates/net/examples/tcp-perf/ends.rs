//! The two ends of a transfer, each on a thread and a runtime of its own.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use skyhaul_net::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;

use crate::stacks::{self, Host, Look, PORT, Stream, Tcp};
use crate::usage::Cpu;

const CHUNK_BYTES: usize = 256 << 10;
/// A connection takes no longer than this.
const CONNECTING: Duration = Duration::from_secs(20);
/// The sender needs no longer than this to look at what came of it.
const LOOKING: Duration = Duration::from_secs(5);
/// Between two looks at whether this thread is given the processor: often enough to see what matters.
const NAP: Duration = Duration::from_millis(10);
/// Between two lines of the log.
const LOG_INTERVAL: Duration = Duration::from_millis(100);

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    /// So much, however long it takes; but no longer than this.
    Bytes(u64, Duration),
    /// All that arrives in this time.
    Time(Duration),
}

/// Transfer: who sends what to whom.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) sender: Tcp,
    pub(crate) receiver: Tcp,
    pub(crate) controller: &'static str,
    pub(crate) mtu_bytes: u32,
    pub(crate) amount: Amount,
    pub(crate) log: Option<PathBuf>,
}

/// How a descriptor gets to where it is used: a kernel's end makes a device and gives its other end away, an
/// end of ours is given one.
pub(crate) enum Gate {
    Gives(Sender<OwnedFd>),
    Takes(Receiver<OwnedFd>),
}

impl Gate {
    fn open(self, end: usize, mtu_bytes: u32) -> io::Result<Host> {
        let address = stacks::address(end);
        match self {
            Self::Gives(to) => {
                to.send(stacks::kernel(address, mtu_bytes)?).map_err(|_| other_failed())?;
                Ok(Host::Kernel)
            }
            Self::Takes(from) => stacks::ours(from.recv().map_err(|_| other_failed())?, address, mtu_bytes),
        }
    }
}

/// Report of the sender.
pub(crate) struct Sent {
    pub(crate) cpu: Cpu,
    pub(crate) retransmitted: Option<u64>,
    /// Its thread stood still so long at most: other work had the processor.
    pub(crate) stall_ns: u64,
}

/// Report of the receiver.
pub(crate) struct Received {
    pub(crate) cpu: Cpu,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
}

/// Sends as soon as `go` says so, until `over`. Dropping `_seen` tells the receiver that nobody needs it any
/// more.
pub(crate) fn send(
    transfer: &Transfer,
    gate: Gate,
    go: &Receiver<()>,
    over: oneshot::Receiver<()>,
    _seen: Sender<()>,
) -> io::Result<Sent> {
    on_a_runtime(async {
        let host = gate.open(0, transfer.mtu_bytes)?;
        go.recv().map_err(|_| other_failed())?;
        let before = Cpu::of_this_thread();
        let connect = host.connect(receiver(), transfer.controller);
        let (mut stream, look) = tokio::time::timeout(CONNECTING, connect).await??;
        let (mut log, mut stall_ns) = (String::new(), 0);
        tokio::select! {
            biased; // What makes the sender fail comes after the end of the run.
            _ = over => {}
            done = fill(&mut *stream, transfer.amount) => done?,
            () = keep_log(&look, transfer.log.is_some(), &mut log) => {}
            () = watch_stalls(&mut stall_ns) => {}
        }
        let cpu = Cpu::of_this_thread() - before;
        // Only now: a disk may be slow.
        transfer.log.as_ref().map_or(Ok(()), |path| std::fs::write(path, log))?;
        Ok(Sent { cpu, retransmitted: look.retransmitted(), stall_ns })
    })
}

/// Receives; says so when it is `over`, and keeps the connection until the sender has looked at it.
pub(crate) fn receive(
    transfer: &Transfer,
    gate: Gate,
    ready: &Sender<()>,
    over: oneshot::Sender<()>,
    seen: &Receiver<()>,
) -> io::Result<Received> {
    on_a_runtime(async {
        let host = gate.open(1, transfer.mtu_bytes)?;
        let before = Cpu::of_this_thread();
        let accept = host.accept(receiver(), || {
            let _ = ready.send(());
        });
        let mut stream = tokio::time::timeout(CONNECTING, accept).await??;
        let (clock, mut bytes) = (Clock::start(), 0);
        let reading = drain(&mut *stream, &mut bytes);
        match transfer.amount {
            Amount::Bytes(_, patience) => tokio::time::timeout(patience, reading).await??,
            // That it ends before its time is what must not happen.
            Amount::Time(time) => tokio::time::timeout(time, reading).await.map_or(Ok(()), |done| {
                done.and(Err(io::Error::other("the sender has come to an end before its time")))
            })?,
        }
        let received =
            Received { cpu: Cpu::of_this_thread() - before, bytes, seconds: clock.now().as_secs_f64() };
        let _ = over.send(());
        let _ = seen.recv_timeout(LOOKING);
        Ok(received)
    })
}

fn receiver() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(stacks::address(1)), PORT)
}

fn on_a_runtime<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

fn other_failed() -> io::Error {
    io::Error::other("the other end has failed")
}

/// Writes what is to be written, then waits for the end of the other direction.
async fn fill(stream: &mut dyn Stream, amount: Amount) -> io::Result<()> {
    let chunk: Vec<u8> = (0..CHUNK_BYTES).map(|place| place as u8).collect();
    let mut left = if let Amount::Bytes(bytes, _) = amount { bytes } else { u64::MAX };
    while left > 0 {
        let part = left.min(CHUNK_BYTES as u64);
        stream.write_all(&chunk[..part as usize]).await?;
        left -= part;
    }
    stream.shutdown().await?;
    drain(stream, &mut 0).await
}

async fn drain(stream: &mut dyn Stream, bytes: &mut u64) -> io::Result<()> {
    let mut room = vec![0; CHUNK_BYTES];
    loop {
        match stream.read(&mut room).await? {
            0 => return Ok(()),
            some => *bytes += some as u64,
        }
    }
}

/// Adds a line now and then. Never ends by itself.
async fn keep_log(look: &Look, is_wanted: bool, text: &mut String) {
    if !is_wanted {
        return std::future::pending().await;
    }
    let clock = Clock::start();
    loop {
        let _ = writeln!(text, "{:.3} {}", clock.now().as_secs_f64(), look.line());
        tokio::time::sleep(LOG_INTERVAL).await;
    }
}

/// Notes how long this thread stood still at most, as the processor was taken from it. Never ends by itself.
async fn watch_stalls(longest_ns: &mut u64) {
    let clock = Clock::start();
    loop {
        let before = clock.now();
        tokio::time::sleep(NAP).await;
        *longest_ns = clock.now().since(before).saturating_sub(NAP.as_nanos() as u64).max(*longest_ns);
    }
}
