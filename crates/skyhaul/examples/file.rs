//! A file: it is sent over loopback at a declared rate, with a look at the progress, and compared.
//!
//! `cargo run -p skyhaul --example file [FILE]`

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skyhaul::errors::close_reason;
use skyhaul::{Config, Endpoint, EndpointOptions, Listener};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

/// Port of the service, within the endpoint.
const FILES: u16 = 20;
/// Rate that is declared: packets leave at that pace, and nothing has to be found out.
const RATE_BPS: u64 = 100_000_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let folder = std::env::temp_dir().join(format!("skyhaul-example-{}", std::process::id()));
    tokio::fs::create_dir_all(&folder).await?;
    let result = run(&folder).await;
    tokio::fs::remove_dir_all(&folder).await?;
    result
}

async fn run(folder: &Path) -> io::Result<()> {
    let (from, to) = (source(folder).await?, folder.join("received"));
    let ground = Endpoint::bind("127.0.0.1:0".parse().expect("an address"), EndpointOptions::default())?;
    let receiving = tokio::spawn(receive(ground.listen(FILES)?, to.clone()));

    let craft = Endpoint::client(ground.local_addr(), EndpointOptions::default())?;
    send(&craft, ground.local_addr(), &from).await.map_err(|error| {
        // What a program could do about it depends on the reason.
        io::Error::other(format!("not sent: {error} ({:?})", close_reason(&error)))
    })?;
    let bytes = receiving.await??;
    craft.wait_idle(Duration::from_secs(5)).await;
    if tokio::fs::read(&from).await? != tokio::fs::read(&to).await? {
        return Err(io::Error::other("the file is not what was sent"));
    }
    println!("{bytes} bytes are there, and the same");
    Ok(())
}

/// The file that was named, or one of 3 MB.
async fn source(folder: &Path) -> io::Result<PathBuf> {
    if let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) {
        if !tokio::fs::metadata(&path).await.map_err(|error| named(&path, &error))?.is_file() {
            return Err(io::Error::other(format!("{} is no file", path.display())));
        }
        return Ok(path);
    }
    let path = folder.join("sent");
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number.wrapping_mul(31) >> 5) as u8).collect();
    tokio::fs::write(&path, bytes).await?;
    Ok(path)
}

/// Error that says which file it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

async fn send(craft: &Endpoint, ground: std::net::SocketAddr, path: &Path) -> io::Result<()> {
    let mut config = Config::standard();
    config.controller.rate_bps = Some(RATE_BPS);
    let mut stream = craft.open(ground, FILES, config)?; // the opening goes with the first bytes
    let monitor = stream.monitor();
    let progress = tokio::spawn(async move {
        while let Some(stats) = monitor.stats() {
            println!("{} bytes are confirmed", stats.acknowledged_bytes);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let sent = tokio::io::copy(&mut File::open(path).await?, &mut stream).await;
    // Resolves when everything is confirmed, so that a file is there or the error says why not.
    let result = match sent {
        Ok(_) => stream.shutdown().await,
        Err(error) => Err(error),
    };
    progress.abort();
    result
}

/// Receives one file; its length.
async fn receive(mut listener: Listener, to: PathBuf) -> io::Result<u64> {
    let mut stream = listener.accept().await.ok_or(io::ErrorKind::NotConnected)?;
    let mut file = File::create(to).await?;
    let bytes = tokio::io::copy(&mut stream, &mut file).await?;
    file.flush().await?;
    stream.shutdown().await?;
    Ok(bytes)
}

#[test]
fn the_file_arrives() {
    main().unwrap();
}
