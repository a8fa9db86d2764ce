//! The two ends of a transfer in real time, whatever carries it: each on a thread and a runtime of its own.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skyhaul_core::{Instant, MS, Stats};
use skyhaul_net::{Clock, Protocol, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Barrier;

use crate::processor::watch_stalls;

pub(crate) const PORT: u16 = 7;
/// Bytes that the application writes at a time: so many that no segment is small for want of data.
const CHUNK_BYTES: usize = 256 << 10;
/// Between two writes. Far faster than any link here; but all at once would take the processor from everybody
/// for long.
const BREATH: Duration = Duration::from_millis(1);
const READ_BYTES: usize = 16 << 10;
/// An end that has failed is not waited for.
const PARTING: Duration = Duration::from_secs(2);
/// Timers of the runtime are coarse: for the last moment before the start the whole thread sleeps.
const LAST_MOMENT_NS: u64 = 3 * MS / 2;

/// Task that both ends of a transfer know.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) clock: Clock,
    pub(crate) payload_bytes: u64,
    /// It takes no longer.
    pub(crate) patience: Duration,
    /// Nobody leaves while the other one still works.
    pub(crate) parting: Arc<Barrier>,
}

/// Result of an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// When it first wrote, or had read the last byte.
    pub(crate) at: Instant,
    pub(crate) stats: Stats,
    /// Its thread was ready and did not run so long at most.
    pub(crate) stall_ns: u64,
}

impl Task {
    /// Does `work` on this thread, and watches the thread meanwhile.
    pub(crate) fn run(&self, work: impl Future<Output = io::Result<Done>>) -> io::Result<Done> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut stall_ns = 0;
            let done = tokio::select! {
                biased;
                done = tokio::time::timeout(self.patience, work) => done??,
                never = watch_stalls(&mut stall_ns) => match never {},
            };
            Ok(Done { stall_ns, ..done })
        })
    }

    /// Opens a stream at `start` and writes the payload.
    pub(crate) async fn send<P: Protocol>(
        &self,
        start: Instant,
        open: impl FnOnce() -> io::Result<Stream<P>>,
    ) -> io::Result<Done> {
        self.sleep_until(start).await;
        let at = self.clock.now();
        let mut stream = open()?;
        let chunk = vec![b'x'; CHUNK_BYTES];
        let mut left = self.payload_bytes;
        while left > 0 {
            let part = left.min(CHUNK_BYTES as u64);
            stream.write_all(&chunk[..part as usize]).await?;
            left -= part;
            tokio::time::sleep(BREATH).await;
        }
        stream.shutdown().await?;
        while stream.read(&mut [0; 64]).await? > 0 {}
        let stats = stream.stats();
        self.part().await;
        Ok(Done { at, stats, stall_ns: 0 })
    }

    /// Reads the payload and the end.
    pub(crate) async fn receive<P: Protocol>(&self, mut stream: Stream<P>) -> io::Result<Done> {
        let mut room = vec![0; READ_BYTES];
        let (mut received, mut at) = (0, Instant::ZERO);
        loop {
            match stream.read(&mut room).await? {
                0 => break,
                bytes => received += bytes as u64,
            }
            at = self.clock.now();
        }
        if received != self.payload_bytes {
            return Err(io::Error::other(format!("{received} of {} bytes arrived", self.payload_bytes)));
        }
        stream.shutdown().await?;
        let stats = stream.stats();
        self.part().await;
        Ok(Done { at, stats, stall_ns: 0 })
    }

    async fn sleep_until(&self, start: Instant) {
        let rest_ns = start.before(LAST_MOMENT_NS).since(self.clock.now());
        tokio::time::sleep(Duration::from_nanos(rest_ns)).await;
        let moment_ns = start.since(self.clock.now());
        let moment = rustix::time::Timespec { tv_sec: 0, tv_nsec: moment_ns.min(LAST_MOMENT_NS) as i64 };
        let _ = rustix::thread::nanosleep(&moment);
    }

    async fn part(&self) {
        let _ = tokio::time::timeout(PARTING, self.parting.wait()).await;
    }
}

/// A thread for an end.
pub(crate) fn spawn(
    name: &str,
    work: impl FnOnce() -> io::Result<Done> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<Done>>> {
    thread::Builder::new().name(name.into()).spawn(work)
}

/// Result of an end.
pub(crate) fn joined(name: &str, thread: JoinHandle<io::Result<Done>>) -> io::Result<Done> {
    let done = thread.join().unwrap_or_else(|_| Err(io::Error::other("it has panicked")));
    done.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
}
