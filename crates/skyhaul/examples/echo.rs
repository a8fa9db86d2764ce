//! An echo: a server that sends back what it receives, and a client that checks it, over loopback.
//!
//! `cargo run -p skyhaul --example echo`

use std::io;
use std::time::Duration;

use skyhaul::{Config, Endpoint, EndpointOptions, Listener, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Port of the service, within the endpoint.
const ECHO: u16 = 7;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let server = Endpoint::bind("127.0.0.1:0".parse().expect("an address"), EndpointOptions::default())?;
    tokio::spawn(serve(server.listen(ECHO)?));

    let client = Endpoint::client(server.local_addr(), EndpointOptions::default())?;
    let stream = client.connect(server.local_addr(), ECHO, Config::standard()).await?;
    let sent: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    let heard = ask(stream, sent.clone()).await?;
    if heard != sent {
        return Err(io::Error::other("the echo is not what was said"));
    }
    println!("{} bytes went there and back", heard.len());

    client.wait_idle(Duration::from_secs(5)).await;
    Ok(())
}

/// Answers everybody, until the endpoint is closed.
async fn serve(mut listener: Listener) {
    while let Some(stream) = listener.accept().await {
        tokio::spawn(echo(stream));
    }
}

async fn echo(stream: Stream) -> io::Result<()> {
    let (mut reader, mut writer) = stream.into_split();
    tokio::io::copy(&mut reader, &mut writer).await?;
    writer.shutdown().await // without this, dropping the stream would break it off
}

/// Says all of it and hears what comes back, both at the same time: neither end could hold it all.
async fn ask(stream: Stream, words: Vec<u8>) -> io::Result<Vec<u8>> {
    let (mut reader, mut writer) = stream.into_split();
    let said = tokio::spawn(async move {
        writer.write_all(&words).await?;
        writer.shutdown().await
    });
    let mut heard = Vec::new();
    reader.read_to_end(&mut heard).await?;
    said.await??;
    Ok(heard)
}

#[test]
fn the_echo_is_heard() {
    main().unwrap();
}
