//! Streams as several test programs use them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Writes everything and ends our direction.
pub(crate) async fn send(stream: &mut (impl AsyncWriteExt + Unpin), data: &[u8]) {
    stream.write_all(data).await.unwrap();
    stream.shutdown().await.unwrap();
}

/// Reads to the end.
pub(crate) async fn receive(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut data = Vec::new();
    stream.read_to_end(&mut data).await.unwrap();
    data
}
