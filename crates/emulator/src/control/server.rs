//! Answering.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};

use super::{ControlAnswer, ControlRequest, ControlSocket, apply};
use crate::Emulation;

/// Longest request.
const MAX_REQUEST_BYTES: u64 = 64 << 10;
/// Time that a client may take for a request and its answer. Others wait meanwhile.
const PATIENCE: Duration = Duration::from_millis(200);
/// After the system refused a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests at `place`, one after the other, for as long as somebody waits. `status` makes the answer
/// to [`ControlRequest::Status`].
pub async fn serve(
    place: &ControlSocket,
    emulation: &Emulation,
    status: impl Fn() -> Value,
) -> io::Result<Infallible> {
    let listener = UnixListener::from_std(place.listener()?)?;
    loop {
        match listener.accept().await {
            // A client that goes, or takes too long, has no answer.
            Ok((stream, _)) => drop(timeout(PATIENCE, answer(stream, emulation, &status)).await),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn answer(
    mut stream: UnixStream,
    emulation: &Emulation,
    status: &impl Fn() -> Value,
) -> io::Result<()> {
    let mut line = String::new();
    let (reader, mut writer) = stream.split();
    BufReader::new(reader.take(MAX_REQUEST_BYTES)).read_line(&mut line).await?;
    let answer = match serde_json::from_str(&line) {
        Ok(ControlRequest::Status) => ControlAnswer::Status(status()),
        Ok(ControlRequest::Change(changes)) => {
            apply(emulation, &changes).map_or_else(ControlAnswer::Refused, |()| ControlAnswer::Done)
        }
        Err(error) => ControlAnswer::Refused(format!("this is no request: {error}")),
    };
    let mut text = serde_json::to_string(&answer)?;
    text.push('\n');
    writer.write_all(text.as_bytes()).await
}
