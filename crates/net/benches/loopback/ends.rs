//! The two ends of a transfer, whatever carries it.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use rustix::time::{ClockId, clock_gettime};
use skyhaul_core::MS;
use skyhaul_stp::Config;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const CHUNK_BYTES: usize = 256 << 10;

/// Plan of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) bytes: u64,
    pub(crate) runs: usize,
    pub(crate) mtu_bytes: u32,
}

/// Cost of a transfer.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    pub(crate) sender_cpu_s: f64,
    pub(crate) receiver_cpu_s: f64,
}

/// Parameters of our connections: those of `skyhaul send`, which writes no more ahead than leaves in a
/// moment.
pub(crate) fn config() -> Config {
    Config { unsent_limit_ns: Some(100 * MS), ..Config::standard() }
}

/// Runs a receiver, which says where it is and gives the bytes that came, and a sender, which gives
/// the seconds that it took and what else it has to tell.
pub(crate) fn transfer<R, S, T>(
    plan: Plan,
    receive: impl FnOnce(mpsc::Sender<SocketAddr>) -> R + Send + 'static,
    send: impl FnOnce(SocketAddr) -> S,
) -> (Cost, T)
where
    R: Future<Output = u64>,
    S: Future<Output = (f64, T)>,
{
    let (tell, told) = mpsc::channel();
    let receiver = thread::spawn(move || on_own_runtime(receive(tell)));
    let peer = told.recv().expect("the receiver is there");
    let (sender_cpu_s, (seconds, news)) = on_own_runtime(send(peer));
    let (receiver_cpu_s, received) = receiver.join().expect("the receiver is well");
    assert_eq!(received, plan.bytes);
    (Cost { seconds, sender_cpu_s, receiver_cpu_s }, news)
}

/// Runs `work`; CPU seconds that this thread spent on it, and the result.
fn on_own_runtime<T>(work: impl Future<Output = T>) -> (f64, T) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let before = cpu_seconds();
    let result = runtime.block_on(work);
    (cpu_seconds() - before, result)
}

/// User and system time of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Reads to the end, and ends the other direction; gives the bytes.
pub(crate) async fn drain(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> u64 {
    let (mut room, mut received) = (vec![0; CHUNK_BYTES], 0);
    loop {
        match stream.read(&mut room).await.expect("data") {
            0 => break,
            bytes => received += bytes as u64,
        }
    }
    stream.shutdown().await.expect("the end is sent");
    received
}

/// Writes so many bytes, and ends this direction.
pub(crate) async fn fill(stream: &mut (impl AsyncWrite + Unpin), bytes: u64) {
    let chunk: Vec<u8> = (0..CHUNK_BYTES).map(|place| place as u8).collect();
    let mut left = bytes;
    while left > 0 {
        let part = left.min(CHUNK_BYTES as u64);
        stream.write_all(&chunk[..part as usize]).await.expect("room");
        left -= part;
    }
    stream.shutdown().await.expect("everything is sent");
}
