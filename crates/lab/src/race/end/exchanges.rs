//! Small exchanges: a request one way, a response the other.

use std::io;

use skyhaul_sim::{fill_pattern, wrong_in_pattern};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::task::JoinSet;

use super::dial::{Dial, Listen};
use super::report::{EndReport, now_ns};
use super::stream::ByteStream;
use crate::race::plan::{REQUEST_BYTES, RESPONSE_BYTES, RacePlan};

/// Key of a request's bytes.
const REQUEST_KEY: u64 = 0x0a5c;
/// Key of a response's bytes.
const RESPONSE_KEY: u64 = 0xa257;

/// Asks as often as the plan says.
pub(super) async fn ask(dial: &Dial, plan: &RacePlan, keep: bool, report: &mut EndReport) -> io::Result<()> {
    report.start();
    if keep {
        return ask_on_one(dial, plan, report).await;
    }
    for _ in 0..plan.requests {
        let begun_at_ns = now_ns();
        let (mut reader, writer) = tokio::io::split(dial.connect().await?.0);
        tokio::spawn(last_word(writer));
        hear(&mut reader, begun_at_ns, report).await?;
        tokio::spawn(end(reader));
    }
    Ok(())
}

/// A request after which nothing more comes. With STP the end of a stream is confirmed, which nobody waits
/// for: where it fails, the response does not come either.
async fn last_word(mut writer: WriteHalf<ByteStream>) -> io::Result<()> {
    write(&mut writer, REQUEST_KEY, REQUEST_BYTES).await?;
    writer.shutdown().await
}

async fn ask_on_one(dial: &Dial, plan: &RacePlan, report: &mut EndReport) -> io::Result<()> {
    let mut begun_at_ns = now_ns();
    let (mut reader, mut writer) = tokio::io::split(dial.connect().await?.0);
    for _ in 0..plan.requests {
        write(&mut writer, REQUEST_KEY, REQUEST_BYTES).await?;
        hear(&mut reader, begun_at_ns, report).await?;
        begun_at_ns = now_ns();
    }
    tokio::spawn(async move { writer.shutdown().await });
    tokio::spawn(end(reader));
    Ok(())
}

async fn hear(reader: &mut ReadHalf<ByteStream>, begun_at_ns: u64, report: &mut EndReport) -> io::Result<()> {
    let wrong = read(reader, RESPONSE_KEY, RESPONSE_BYTES).await?;
    report.add_wrong(wrong.ok_or(io::ErrorKind::UnexpectedEof)?);
    report.exchanges_ms.push((now_ns() - begun_at_ns) as f64 / 1e6);
    Ok(())
}

/// Answers whatever comes, and notes what of it is wrong. Never ends by itself: who asks knows when all is
/// said.
pub(super) async fn answer(listen: &mut Listen, report: &mut EndReport) -> io::Result<()> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            stream = listen.accept() => drop(connections.spawn(serve(stream?))),
            // Of one that broke off tells who asked.
            Some(done) = connections.join_next() => {
                report.add_wrong(done.map_err(io::Error::other)?.unwrap_or(0));
            }
        }
    }
}

/// Answers until the client ends the stream; how many bytes of its requests were wrong.
async fn serve(stream: ByteStream) -> io::Result<u64> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut wrong = 0;
    while let Some(bytes) = read(&mut reader, REQUEST_KEY, REQUEST_BYTES).await? {
        wrong += bytes;
        write(&mut writer, RESPONSE_KEY, RESPONSE_BYTES).await?;
    }
    writer.shutdown().await?;
    Ok(wrong)
}

async fn write(writer: &mut WriteHalf<ByteStream>, key: u64, bytes: u64) -> io::Result<()> {
    let mut message = vec![0; bytes as usize]; // small
    fill_pattern(key, 0, &mut message);
    writer.write_all(&message).await
}

/// Reads a message; how many of its bytes are wrong. `None`: the stream has ended.
async fn read(reader: &mut ReadHalf<ByteStream>, key: u64, bytes: u64) -> io::Result<Option<u64>> {
    let mut message = vec![0; bytes as usize];
    let first = reader.read(&mut message).await?;
    if first == 0 {
        return Ok(None);
    }
    reader.read_exact(&mut message[first..]).await?;
    Ok(Some(wrong_in_pattern(key, 0, &message)))
}

async fn end(mut reader: ReadHalf<ByteStream>) -> io::Result<()> {
    while reader.read(&mut [0; 64]).await? > 0 {}
    Ok(())
}
