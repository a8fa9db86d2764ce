//! Small exchanges: a request one way, a response the other.

use std::io;

use skyhaul_sim::{fill_pattern, wrong_in_pattern};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::task::JoinSet;

use super::dial::{Dial, Listen};
use super::now_ns;
use super::report::EndReport;
use super::stream::Stream;
use crate::race::plan::{Plan, REQUEST_BYTES, RESPONSE_BYTES};

/// Keys the bytes.
const REQUEST_KEY: u64 = 0x0a5c;
/// The same.
const RESPONSE_KEY: u64 = 0xa257;

/// Asks as often as the plan says.
pub(super) async fn ask(dial: &Dial, plan: &Plan, keep: bool, report: &mut EndReport) -> io::Result<()> {
    report.started_at_ns = Some(now_ns());
    if keep {
        return ask_on_one(dial, plan, report).await;
    }
    for _ in 0..plan.requests {
        let begun_at_ns = now_ns();
        let (mut reader, mut writer) = tokio::io::split(dial.connect().await?.0);
        // With STP the end of a stream is confirmed, which takes as long as the response.
        let asking = async {
            write(&mut writer, REQUEST_KEY, REQUEST_BYTES).await?;
            writer.shutdown().await
        };
        let hearing = async {
            hear(&mut reader, begun_at_ns, report).await?;
            end(&mut reader).await
        };
        tokio::try_join!(asking, hearing)?;
    }
    Ok(())
}

async fn ask_on_one(dial: &Dial, plan: &Plan, report: &mut EndReport) -> io::Result<()> {
    let mut begun_at_ns = now_ns();
    let (mut reader, mut writer) = tokio::io::split(dial.connect().await?.0);
    for _ in 0..plan.requests {
        write(&mut writer, REQUEST_KEY, REQUEST_BYTES).await?;
        hear(&mut reader, begun_at_ns, report).await?;
        begun_at_ns = now_ns();
    }
    writer.shutdown().await?;
    end(&mut reader).await
}

async fn hear(reader: &mut ReadHalf<Stream>, begun_at_ns: u64, report: &mut EndReport) -> io::Result<()> {
    let wrong = read(reader, RESPONSE_KEY, RESPONSE_BYTES).await?;
    report.wrong_bytes += wrong.ok_or(io::ErrorKind::UnexpectedEof)?;
    report.exchanges_ms.push((now_ns() - begun_at_ns) as f64 / 1e6);
    Ok(())
}

/// Answers until as many connections as the plan says have come to their ends.
pub(super) async fn answer(
    listen: &mut Listen,
    plan: &Plan,
    keep: bool,
    report: &mut EndReport,
) -> io::Result<()> {
    let mut connections = JoinSet::new();
    for _ in 0..if keep { 1 } else { plan.requests } {
        connections.spawn(serve(listen.accept().await?));
    }
    while let Some(done) = connections.join_next().await {
        report.wrong_bytes += done.map_err(io::Error::other)??;
    }
    Ok(())
}

/// Answers until the client ends the stream; how many bytes of its requests were wrong.
async fn serve(stream: Stream) -> io::Result<u64> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut wrong = 0;
    while let Some(bytes) = read(&mut reader, REQUEST_KEY, REQUEST_BYTES).await? {
        wrong += bytes;
        write(&mut writer, RESPONSE_KEY, RESPONSE_BYTES).await?;
    }
    writer.shutdown().await?;
    Ok(wrong)
}

async fn write(writer: &mut WriteHalf<Stream>, key: u64, bytes: u64) -> io::Result<()> {
    let mut message = vec![0; bytes as usize]; // small
    fill_pattern(key, 0, &mut message);
    writer.write_all(&message).await
}

/// Reads a message; how many of its bytes are wrong. `None`: the stream has ended.
async fn read(reader: &mut ReadHalf<Stream>, key: u64, bytes: u64) -> io::Result<Option<u64>> {
    let mut message = vec![0; bytes as usize];
    let first = reader.read(&mut message).await?;
    if first == 0 {
        return Ok(None);
    }
    reader.read_exact(&mut message[first..]).await?;
    Ok(Some(wrong_in_pattern(key, 0, &message)))
}

async fn end(reader: &mut ReadHalf<Stream>) -> io::Result<()> {
    while reader.read(&mut [0; 64]).await? > 0 {}
    Ok(())
}
