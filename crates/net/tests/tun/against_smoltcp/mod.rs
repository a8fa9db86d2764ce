//! Our host and smoltcp at the two ends of a wire.

mod capture;
mod data;
mod ends;
mod silent;
mod troubled;
mod windows;

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use skyhaul_net::tun::{TcpListener, TcpStream, TunHost, TunOptions};
use skyhaul_tcp::Config;
use smoltcp::iface::SocketHandle;

use crate::support::*;
use crate::third::{Shape, THIRD, Third};

/// smoltcp adds its timestamps to segments that fill the MTU already, and then cannot send them: the largest
/// payload that leaves room for them over IPv6.
const MSS_BYTES: u16 = 1500 - 40 - 20 - 12;
/// A port of smoltcp's.
const ELSEWHERE: u16 = 49_152;

/// Opener of the connection, and its carrier.
#[derive(Clone, Copy, Debug)]
struct Opening {
    by_us: bool,
    is_v6: bool,
}

const OPENINGS: [Opening; 4] = [
    Opening { by_us: true, is_v6: false },
    Opening { by_us: false, is_v6: false },
    Opening { by_us: true, is_v6: true },
    Opening { by_us: false, is_v6: true },
];

fn ours() -> Config {
    Config { mss_bytes: MSS_BYTES, ..Config::standard() }
}

impl Opening {
    fn address(self, number: u8) -> SocketAddr {
        at(if self.is_v6 { address6(number.into()) } else { address(number) })
    }

    /// smoltcp's end.
    fn theirs(self, third: &mut Third, shape: Shape) -> SocketHandle {
        let handle =
            if self.by_us { third.listen(shape) } else { third.connect(self.address(1), ELSEWHERE, shape) };
        third.established(handle);
        handle
    }
}

/// Our host, and its door, which is open before anybody can knock.
struct Ours {
    host: TunHost,
    door: TcpListener,
}

impl Ours {
    fn at(end: OwnedFd) -> Self {
        Self::with(end, ours())
    }

    /// Those that come in have this.
    fn with(end: OwnedFd, accept: Config) -> Self {
        let host = TunHost::over(end, TunOptions { accept, ..options(1) }).unwrap();
        let door = host.listen(PORT, 64).unwrap();
        Self { host, door }
    }

    async fn meet(&mut self, opening: Opening) -> TcpStream {
        self.meet_with(opening, ours()).await
    }

    async fn meet_with(&mut self, opening: Opening, config: Config) -> TcpStream {
        if opening.by_us {
            soon(self.host.connect(opening.address(THIRD), config)).await.unwrap()
        } else {
            soon(self.door.accept()).await.unwrap()
        }
    }
}

/// Says this, ends our direction, and hears what the peer says until its end.
async fn exchange(stream: TcpStream, say: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = stream.into_split();
    soon(async { tokio::join!(send_all(&mut writer, say), read_all(&mut reader)).1 }).await
}
