//! The ECN field over sockets of the loopback.

use std::future::poll_fn;
use std::net::SocketAddr;

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Ecn, NetworkFields, Transmit};

use super::bind::{bound, connected};
use super::inbox::Inbox;
use super::socket::Socket;

/// Fields with which a batch of two datagrams arrives that is sent with these, from a socket to one at
/// `local`, by the name `name` of that.
async fn arrives(local: SocketAddr, name: SocketAddr, ecn: Ecn) -> NetworkFields {
    let receiver = bound(local).unwrap();
    let peer = SocketAddr::new(name.ip(), receiver.local_addr().unwrap().port());
    let receiver = Socket::new(receiver, local, false).unwrap();
    let sender = connected(peer).unwrap();
    let from = sender.local_addr().unwrap();
    let sender = Socket::new(sender, from, true).unwrap();

    let fields = NetworkFields { ecn, ..NetworkFields::default() };
    let transmit = Transmit { peer, connection: 1, segment_bytes: 2, fields };
    poll_fn(|cx| sender.poll_send(cx, &transmit, None, b"abcd")).await.unwrap();
    let mut inbox = Inbox::new();
    let mut heard = Vec::new();
    let mut seen = None;
    while heard.len() < 4 {
        let messages = poll_fn(|cx| inbox.poll(cx, &receiver)).await.unwrap();
        for index in 0..messages {
            let (message, datagrams) = inbox.message(index);
            assert_eq!(message.peer, from);
            assert_eq!(*seen.get_or_insert(message.fields), message.fields);
            datagrams.for_each(|datagram| heard.extend_from_slice(datagram));
        }
    }
    assert_eq!(heard, b"abcd");
    seen.unwrap()
}

#[tokio::test]
async fn the_ecn_field_of_an_engine_is_that_of_the_datagrams_which_arrive() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    let (v4, v6, both) = (address("127.0.0.1:0"), address("[::1]:0"), address("[::]:0"));
    for (local, name) in [(v4, v4), (v6, v6), (both, v4), (both, v6)] {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            let fields = arrives(local, name, ecn).await;
            let expected = NetworkFields { protocol: ip_protocol::UDP, ecn, ..NetworkFields::default() };
            assert_eq!(fields, expected, "{local} by {name}");
        }
    }
}
