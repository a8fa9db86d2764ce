//! The link of `scenarios/geo.toml` between honest senders and the receiver: `skyhaul emulate` with UDP
//! ports.

use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;

use crate::process::{Process, skyhaul};

/// An emulated link that ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Geo {
    _process: Process,
    /// Port that senders send to.
    pub(crate) address: SocketAddr,
}

impl Geo {
    /// One to the receiver at this address.
    pub(crate) fn start(binary: &Path, receiver: SocketAddr) -> io::Result<Self> {
        let far = format!("receiver=127.0.0.1:0={receiver}");
        let words = ["emulate", "geo", "--udp", "sender=127.0.0.1:0", "--udp", &far];
        let mut process = Process::start(&mut skyhaul(binary, &words))?;
        let said = process.child()?.stderr.take().ok_or_else(|| io::Error::other("it says nothing"))?;
        let mut said = BufReader::new(said);
        let mut line = String::new();
        while said.read_line(&mut line)? > 0 {
            let address = line.split_once("udp ").and_then(|(_, rest)| rest.split_once(','));
            if let Some(Ok(address)) = address.map(|(address, _)| address.parse()) {
                // What it says later is of no interest, but must not block it.
                std::thread::spawn(move || io::copy(&mut said, &mut io::sink()));
                return Ok(Self { _process: process, address });
            }
            line.clear();
        }
        Err(io::Error::other("`skyhaul emulate geo` names no port"))
    }
}
