//! The transfer: known bytes, checked one by one.

use std::io;

use skyhaul_sim::{fill_pattern, wrong_in_pattern};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::dial::{Dial, Listen};
use super::report::{EndReport, now_ns};
use super::stream::{ByteStream, CounterSource};
use crate::race::plan::{CHUNK_BYTES, RacePlan};

/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;
/// Key of the bytes.
const KEY: u64 = 0x5ac3;

/// Sends all of it and waits until it is confirmed.
pub(super) async fn send(dial: &Dial, plan: &RacePlan, report: &mut EndReport) -> io::Result<()> {
    report.start();
    let (mut stream, look) = dial.connect().await?;
    let counting = CountingAtEnd { look, report };
    write(&mut stream, plan.payload_bytes).await?;
    stream.shutdown().await?;
    while stream.read(&mut [0; 64]).await? > 0 {}
    counting.report.confirmed_at_ns = Some(now_ns());
    Ok(())
}

/// Reads the counters when the work ends, however it does.
struct CountingAtEnd<'a> {
    look: CounterSource,
    report: &'a mut EndReport,
}

impl Drop for CountingAtEnd<'_> {
    fn drop(&mut self) {
        self.report.counted = self.look.counted();
    }
}

async fn write(stream: &mut ByteStream, bytes: u64) -> io::Result<()> {
    let (mut chunk, mut at) = (vec![0; CHUNK_BYTES as usize], 0);
    while at < bytes {
        let length = CHUNK_BYTES.min(bytes - at) as usize;
        fill_pattern(KEY, at, &mut chunk[..length]);
        stream.write_all(&chunk[..length]).await?;
        at += length as u64;
    }
    Ok(())
}

/// Receives one stream to its end, and checks it.
pub(super) async fn receive(listen: &mut Listen, plan: &RacePlan, report: &mut EndReport) -> io::Result<()> {
    let mut stream = listen.accept().await?;
    let mut room = vec![0; READ_BYTES];
    loop {
        let read = stream.read(&mut room).await?;
        if read == 0 {
            break;
        }
        report.last_byte_at_ns = Some(now_ns());
        report.add_wrong(wrong_in_pattern(KEY, report.received_bytes, &room[..read]));
        report.received_bytes += read as u64;
    }
    if report.received_bytes != plan.payload_bytes {
        let (there, all) = (report.received_bytes, plan.payload_bytes);
        return Err(io::Error::other(format!("the stream ended after {there} of {all} bytes")));
    }
    stream.shutdown().await
}
