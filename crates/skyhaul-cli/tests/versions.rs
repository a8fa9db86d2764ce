//! Peers of every version of the file protocol, and what the last one is for: a refusal in the middle of a
//! queue of files.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::net::{Ipv4Addr, SocketAddr};

use common::{Kept, Receiver, Said, file, noise, run, skyhaul};
use skyhaul_files::codec::{OPENING_BYTES, SessionOpening};
use skyhaul_files::{Destination, ReceiveOptions, Source, Version, receive, send_as, silent};
use skyhaul_net::{Endpoint, EndpointOptions};
use skyhaul_stp::Config;
use tokio::io::AsyncReadExt as _;

/// Ports at which receivers of these versions wait, besides those of all earlier ones.
const PORTS: [(u16, Version); 3] = [(4, Version::Three), (2, Version::Two), (1, Version::One)];

fn endpoint() -> Endpoint {
    Endpoint::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), EndpointOptions::default()).unwrap()
}

/// Runs `work` in a runtime of its own.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn a_receiver_of_any_version_is_met_in_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let contents = noise(600_000);
    let path = file(folder.path(), "data", &contents);
    for (at, (_, version)) in PORTS.into_iter().enumerate() {
        let inbox = tempfile::tempdir().unwrap();
        let said: Said = block_on(async {
            let endpoint = endpoint();
            let mut listeners: Vec<_> =
                PORTS[at..].iter().map(|(port, _)| endpoint.listen(*port).unwrap()).collect();
            let address = endpoint.local_addr().to_string();
            let sender =
                Kept::new(skyhaul(&["send", "--json", path.to_str().unwrap(), &address]).spawn().unwrap());
            let (mut reader, mut writer) = listeners[0].accept().await.unwrap().into_split();
            let mut opening = [0; OPENING_BYTES];
            reader.read_exact(&mut opening).await.unwrap();
            assert_eq!(SessionOpening::decode(&opening).unwrap().version, version);
            let (destination, options) =
                (Destination::open(inbox.path()).unwrap(), ReceiveOptions::default());
            let stream = (&opening[..]).chain(&mut reader);
            receive(stream, &mut writer, &destination, &options, silent).await.unwrap();
            tokio::task::spawn_blocking(move || sender.wait_with_output()).await.unwrap().into()
        });
        assert_eq!(said.code, Some(0), "{version:?}: {said:?}");
        assert!(std::fs::read(inbox.path().join("data")).unwrap() == contents, "{version:?}");
    }
}

#[test]
fn a_sender_of_any_version_is_heard() {
    let contents = noise(600_000);
    for (port, version) in PORTS {
        let receiver = Receiver::start(&["--once"]);
        let sent = block_on(async {
            let (endpoint, address) = (endpoint(), receiver.address.parse().unwrap());
            let stream = endpoint.connect(address, port, Config::standard()).await.unwrap();
            let (mut reader, mut writer) = stream.into_split();
            let sources = vec![Source::from_bytes("data", contents.clone()).unwrap()];
            send_as(version, &mut reader, &mut writer, sources, silent).await.unwrap()
        });
        let (received, folder) = receiver.wait();
        assert!(sent.all_delivered() && received.code == Some(0), "{version:?}: {received:?}");
        assert!(std::fs::read(folder.path().join("data")).unwrap() == contents, "{version:?}");
    }
}

/// At 1 Mbit/s the chunk that is under way takes 2 s.
#[test]
fn a_refusal_in_the_middle_of_a_queue_does_not_cost_the_chunk_under_way() {
    let receiver = Receiver::start(&[]);
    file(receiver.path(), "taken", b"precious");
    let folder = tempfile::tempdir().unwrap();
    let files = [("first", 100_000), ("taken", 3_000_000), ("last", 100_000)];
    let paths = files.map(|(name, bytes)| file(folder.path(), name, &noise(bytes)));
    let [first, taken, last] = paths.each_ref().map(|path| path.to_str().unwrap());
    let sent = run(&["send", "--json", "--rate", "1M", first, taken, last, &receiver.address]);
    assert_eq!((sent.code, sent.json()["error"]["code"].as_str()), (Some(1), Some("exists")), "{sent:?}");
    for name in ["first", "last"] {
        assert!(std::fs::read(receiver.path().join(name)).unwrap() == noise(100_000), "{name}");
    }
    assert_eq!(std::fs::read(receiver.path().join("taken")).unwrap(), b"precious");
    let bytes = sent.json()["forward"]["bytes"].as_u64().unwrap();
    // The send buffer has 128 KiB beside them; a chunk would be 256.
    assert!(bytes < 400_000, "{bytes} bytes for two files of 100000 and the beginning of one");
}
