//! Endpoints whose machine's wall time jumps: new keys first.

use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_core::SECOND;
use skyhaul_core::envelope::Mode;
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::association::{Associations, Identity, PeerSettings, Secret, Token};
use crate::jump::AHEAD_NS;
use crate::{EndpointOptions, SealedEndpoint, machine_config};

const PORT: u16 = 7;
const BYTES: usize = 200_000;

fn associations(end: u8, of: u8) -> Associations {
    let identity = |end| Identity::new(Secret::new([end; 32]));
    let seed = skyhaul_store::random_secret().unwrap();
    let mut associations = Associations::new(machine_config(), identity(end), seed);
    let (key, psk) = (identity(of).public(), Secret::new([3; 32]));
    let peer = PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 };
    associations.add_peer(peer).unwrap();
    associations
}

/// Both ends are in this thread, so both see the jump.
#[tokio::test]
async fn new_keys_come_first_when_wall_time_jumps_and_streams_go_on() {
    let loopback: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let options = EndpointOptions::default;
    let server = SealedEndpoint::bind_sealed(loopback, options(), associations(2, 1)).unwrap();
    let mut listener = server.listen(PORT).unwrap();
    let to = server.local_addr();
    let client = SealedEndpoint::client_sealed(to, options(), associations(1, 2)).unwrap();
    let key = Identity::new(Secret::new([2; 32])).public();
    let mut sending = client.open_to(key, to, PORT, Config::standard()).unwrap();
    sending.write_all(&vec![1; BYTES]).await.unwrap();
    let mut receiving = listener.accept().await.unwrap();
    let mut room = vec![0; BYTES];
    receiving.read_exact(&mut room).await.unwrap();
    let computed = server.seal_counters().computed + client.seal_counters().computed;
    for round in 1..=2 {
        AHEAD_NS.set(AHEAD_NS.get() + 3600 * SECOND);
        sending.write_all(&vec![2; BYTES]).await.unwrap();
        let all = tokio::time::timeout(Duration::from_secs(20), receiving.read_exact(&mut room));
        all.await.expect("the stream goes on").unwrap();
        assert_eq!([&server, &client].map(|end| end.seal_counters().renewals), [round; 2]);
    }
    let after = server.seal_counters().computed + client.seal_counters().computed;
    assert!(after >= computed + 2, "{computed} handshakes before, {after} after");
}
