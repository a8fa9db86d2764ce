//! Two hosts and nothing in between.

use std::io::ErrorKind;
use std::time::Duration;

use skyhaul_core::CloseReason;
use skyhaul_net::tun::{TcpStream, TunHost, TunOptions};
use skyhaul_tcp::{Config, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::*;

/// A connection from host 1 to host 2.
async fn connected(a: &TunHost, b: &TunHost) -> (TcpStream, TcpStream) {
    let mut listener = b.listen(PORT, 8).unwrap();
    let (up, down) = tokio::join!(a.connect(at(address(2)), Config::standard()), listener.accept());
    (up.unwrap(), down.unwrap())
}

#[tokio::test]
async fn bytes_go_both_ways_over_both_families() {
    let (a, b) = two_hosts();
    let mut listener = b.listen(PORT, 8).unwrap();
    for peer in [at(address(2)), at(address6(2))] {
        let (up, down) = tokio::join!(a.connect(peer, Config::standard()), listener.accept());
        let ((mut up_read, mut up_write), (mut down_read, mut down_write)) =
            (up.unwrap().into_split(), down.unwrap().into_split());
        let (there, back) = (noise(3_000_000), noise(2_000_001));
        let ((), (), got, answer) = soon(async {
            tokio::join!(
                send_all(&mut up_write, &there),
                send_all(&mut down_write, &back),
                read_all(&mut down_read),
                read_all(&mut up_read)
            )
        })
        .await;
        assert!(got == there && answer == back, "{peer}");
    }
    assert!(soon(a.wait_idle(Duration::from_secs(10))).await, "nothing is left to do");
}

#[tokio::test]
async fn one_direction_ends_and_the_other_goes_on() {
    let (a, b) = two_hosts();
    let (mut up, mut down) = connected(&a, &b).await;
    send_all(&mut up, b"question").await;
    assert_eq!(read_all(&mut down).await, b"question");
    assert_eq!((up.state(), down.state()), (State::FinWait2, State::CloseWait));
    let ((), answer) = tokio::join!(send_all(&mut down, b"answer"), read_all(&mut up));
    assert_eq!(answer, b"answer");
    assert_eq!(up.close_reason(), None);
}

#[tokio::test]
async fn a_dropped_stream_resets_the_connection() {
    let (a, b) = two_hosts();
    let (up, mut down) = connected(&a, &b).await;
    drop(up);
    let error = soon(down.read(&mut [0; 9])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(down.close_reason(), Some(CloseReason::Reset(None)));
    let error = down.write(b"too late").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn where_nobody_listens_connecting_is_refused() {
    let (a, _b) = two_hosts();
    let error = soon(a.connect(at(address(2)), Config::standard())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn who_does_not_answer_is_given_up_in_time() {
    let (a, _b) = two_hosts();
    let patience = Duration::from_millis(50);
    let error = soon(a.connect_within(at(address(9)), Config::standard(), patience)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::TimedOut, "10.7.0.9:7 did not answer within 0.05 s")
    );
    let hasty = Config { max_syn_repeats: 0, initial_rto_ns: 20_000_000, ..Config::standard() };
    let error = soon(a.connect(at(address(9)), hasty)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(a.connection_count(), 0, "nothing is left of the attempts");
}

#[tokio::test]
async fn a_listener_holds_no_more_than_its_backlog() {
    let (a, b) = two_hosts();
    let mut listener = b.listen(PORT, 3).unwrap();
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(soon(a.connect(at(address(2)), Config::standard())).await.unwrap());
    }
    let mut resets = 0;
    for stream in &mut streams {
        let read = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut [0; 1])).await;
        resets += usize::from(matches!(read, Ok(Err(e)) if e.kind() == ErrorKind::ConnectionReset));
    }
    assert_eq!(resets, 2);
    for _ in 0..3 {
        assert!(soon(listener.accept()).await.is_some());
    }
    let error = b.listen(PORT, 3).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::AddrInUse, "the endpoint listens on this port already")
    );
    assert!(b.listen(PORT + 1, 3).is_ok(), "other ports are free");
}

#[tokio::test]
async fn a_hundred_connections_at_once() {
    let (a, b) = two_hosts();
    let mut listener = b.listen(PORT, 128).unwrap();
    let echo = tokio::spawn(async move {
        for _ in 0..100 {
            let (mut read, mut write) = listener.accept().await.unwrap().into_split();
            tokio::spawn(async move {
                let heard = read_all(&mut read).await;
                send_all(&mut write, &heard).await;
            });
        }
        listener
    });
    let clients = (0..100).map(|n| {
        let a = a.clone();
        tokio::spawn(async move {
            let said = noise(10_000 + n);
            let mut stream = a.connect(at(address(2)), Config::standard()).await.unwrap();
            send_all(&mut stream, &said).await;
            assert!(read_all(&mut stream).await == said);
        })
    });
    for client in clients.collect::<Vec<_>>() {
        soon(client).await.unwrap();
    }
    let _listener = soon(echo).await.unwrap();
}

#[tokio::test]
async fn a_host_that_closes_tells_its_peers() {
    let (a, b) = two_hosts();
    let (mut up, mut down) = connected(&a, &b).await;
    soon(a.close()).await;
    assert_eq!(soon(down.read(&mut [0; 1])).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(up.write(b"x").await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
    let error = a.connect(at(address(2)), Config::standard()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConnected);
}

#[tokio::test]
async fn a_wire_that_is_cut_ends_the_host() {
    let (near, far) = wire();
    let host = TunHost::over(near, options(1)).unwrap();
    let mut listener = host.listen(PORT, 1).unwrap();
    drop(far);
    assert!(soon(listener.accept()).await.is_none());
}

#[tokio::test]
async fn addresses_that_make_no_sense_are_refused_with_advice() {
    let (near, _far) = wire();
    let error = TunHost::over(near, TunOptions::new(Vec::new())).unwrap_err();
    assert_eq!(error.to_string(), "the host has no address: give it at least one");
    let (near, _far) = wire();
    let host = TunHost::over(near, TunOptions::new(vec![address(1)])).unwrap();
    let connect = async |ip| host.connect(at(ip), Config::standard()).await.unwrap_err();
    assert_eq!(
        connect(address6(2)).await.to_string(),
        "this host has no IPv6 address to reach fd00::2 from: give it one"
    );
    for ip in [address(1), [0, 0, 0, 0].into(), [224, 0, 0, 1].into()] {
        let error = connect(ip).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), format!("{ip} is no address of another host"));
    }
}
