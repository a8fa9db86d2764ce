//! The two ends: a sender of datagrams at a steady rate, and who counts them.

use std::error::Error;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Words that start the ends.
pub(crate) const SEND: &str = "send";
pub(crate) const RECEIVE: &str = "receive";

/// IP packets have 1400 bytes: 20 for IP, 8 for UDP, the rest is ours.
pub(crate) const PACKET_BYTES: u64 = 1400;
const PAYLOAD_BYTES: usize = PACKET_BYTES as usize - 28;
const PORT: u16 = 7000;
/// Between two looks at what is due.
const NAP: Duration = Duration::from_micros(200);
/// Nothing comes for so long: it is over.
const SILENCE: Duration = Duration::from_secs(2);
const RECEIVE_BUFFER_BYTES: usize = 32 << 20;

/// Sends at a steady rate, a few packets together.
pub(crate) fn send(to: &str, mbps: &str, seconds: &str) -> Result<(), Box<dyn Error>> {
    let (mbps, seconds): (u64, u64) = (mbps.parse()?, seconds.parse()?);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((to, PORT))?;
    let packet = [7; PAYLOAD_BYTES];
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        let due = start.elapsed().as_nanos() as u64 * mbps / (8000 * PACKET_BYTES);
        while sent < due {
            // What the device does not take shows in what arrives.
            let _ = socket.send(&packet);
            sent += 1;
        }
        std::thread::sleep(NAP);
    }
    println!("{sent}");
    Ok(())
}

/// Counts until nothing more comes.
pub(crate) fn receive() -> Result<(), Box<dyn Error>> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES);
    let mut room = [0; 2048];
    let mut received = 0u64;
    while socket.recv(&mut room).is_ok() {
        received += 1;
        if received == 1 {
            socket.set_read_timeout(Some(SILENCE))?;
        }
    }
    println!("{received}");
    Ok(())
}
