//! How connections and endpoints end.

use std::io::ErrorKind;
use std::time::Duration;

use skyhaul_core::{CloseReason, ResetReason};
use skyhaul_net::{Endpoint, EndpointOptions};
use skyhaul_stp::{Config, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PORT, client, connected, pattern, receive, send, server, within};

#[tokio::test]
async fn one_direction_ends_and_the_other_goes_on() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, mut near, mut far) = connected(&server, &mut listener).await;
        let ((), question) = tokio::join!(send(&mut near, b"the end of mine"), receive(&mut far));
        assert_eq!(question, b"the end of mine");
        let error = near.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
        let answer = pattern(2, 500_000);
        let ((), heard) = tokio::join!(send(&mut far, &answer), receive(&mut near));
        assert!(heard == answer);
        assert_eq!((near.close_reason(), far.close_reason()), (None, None));
    })
    .await;
}

#[tokio::test]
async fn shutdown_can_be_asked_again() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, mut near, mut far) = connected(&server, &mut listener).await;
        let first = tokio::time::timeout(Duration::from_micros(1), near.shutdown()).await;
        drop(first); // dropped half-way, or done
        near.shutdown().await.unwrap();
        near.shutdown().await.unwrap();
        assert_eq!(receive(&mut far).await, b"");
    })
    .await;
}

#[tokio::test]
async fn a_dropped_stream_is_a_reset_for_the_peer() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, mut near, mut far) = connected(&server, &mut listener).await;
        near.write_all(b"unfinished").await.unwrap();
        let mut text = [0; 10];
        far.read_exact(&mut text).await.unwrap();
        drop(near);
        let error = far.read(&mut text).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        let reason = error.get_ref().and_then(|inner| inner.downcast_ref::<CloseReason>());
        assert_eq!(reason, Some(&CloseReason::Reset(Some(ResetReason::Aborted))));
        assert_eq!(far.close_reason(), reason.copied());
        assert!(far.write_all(b"x").await.is_err());
        assert!(far.shutdown().await.is_err());
        assert!(client.wait_idle(Duration::from_secs(5)).await);
        assert_eq!(client.connection_count(), 0);
    })
    .await;
}

#[tokio::test]
async fn halves_let_go_when_both_are_dropped() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, near, mut far) = connected(&server, &mut listener).await;
        let (read, mut write) = near.into_split();
        drop(read);
        write.write_all(b"still here").await.unwrap();
        let mut text = [0; 10];
        far.read_exact(&mut text).await.unwrap();
        drop(write);
        assert_eq!(far.read(&mut text).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    })
    .await;
}

#[tokio::test]
async fn what_was_shut_down_finishes_without_its_stream() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, mut near, mut far) = connected(&server, &mut listener).await;
        let data = pattern(3, 2_000_000);
        near.write_all(&data).await.unwrap();
        let begun = tokio::time::timeout(Duration::from_micros(1), near.shutdown()).await;
        drop((begun, near));
        assert!(receive(&mut far).await == data);
        far.shutdown().await.unwrap();
        drop(far);
        assert!(client.wait_idle(Duration::from_secs(10)).await);
        assert!(server.wait_idle(Duration::from_secs(10)).await);
        assert_eq!((client.connection_count(), server.connection_count()), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_without_users_finishes_what_was_shut_down() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, mut near, mut far) = connected(&server, &mut listener).await;
        let data = pattern(3, 2_000_000);
        near.write_all(&data).await.unwrap();
        let begun = tokio::time::timeout(Duration::from_micros(1), near.shutdown()).await;
        drop((begun, near, client));
        assert!(receive(&mut far).await == data);
        far.shutdown().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn closing_an_endpoint_tells_every_peer() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, mut near, mut far) = connected(&server, &mut listener).await;
        let mut second = client.connect(server.local_addr(), PORT, Config::standard()).await.unwrap();
        let address = server.local_addr();
        let waiting = tokio::spawn(async move {
            let first = listener.accept().await;
            (first.is_some(), listener.accept().await.is_none())
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        server.close().await;
        let mut byte = [0];
        for stream in [&mut near, &mut second] {
            assert_eq!(stream.read(&mut byte).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
        assert_eq!(far.read(&mut byte).await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        assert_eq!(waiting.await.unwrap(), (true, true), "the listener has ended");
        let error = server.open(address, PORT, Config::standard()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotConnected, "{error}");
        Endpoint::bind(address, EndpointOptions::default()).expect("the port is free again");
        server.close().await;
        assert!(server.wait_idle(Duration::from_secs(1)).await);
    })
    .await;
}

#[tokio::test]
async fn waiting_for_idleness_is_bounded() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        assert!(server.wait_idle(Duration::from_secs(5)).await, "nothing was there");
        let (client, near, _far) = connected(&server, &mut listener).await;
        assert!(!client.wait_idle(Duration::from_millis(50)).await);
        drop(near);
        assert!(client.wait_idle(Duration::from_secs(5)).await);
    })
    .await;
}

#[test]
fn streams_outlive_their_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (gone, here) = (runtime(), runtime());
    let (server, mut listener) = {
        let _inside = here.enter();
        server(EndpointOptions::default())
    };
    let client = {
        let _inside = gone.enter();
        client(&server)
    };
    let mut near = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
    drop(gone);
    let error = here.block_on(within(5, near.write_all(b"x"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted, "{error}");
    assert!(client.open(server.local_addr(), PORT, Config::standard()).is_err());
    drop(near);
    here.block_on(async {
        assert!(tokio::time::timeout(Duration::from_millis(50), listener.accept()).await.is_err());
    });
}

#[tokio::test]
async fn who_ends_last_has_nothing_left_to_do_once_that_is_confirmed() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, mut near, mut far) = connected(&server, &mut listener).await;
        let ((), heard) = tokio::join!(send(&mut far, b"all of it"), receive(&mut near));
        assert_eq!(heard, b"all of it");
        near.shutdown().await.unwrap();
        assert_eq!(near.state(), State::Closed, "it does not linger");
        assert!(server.wait_ended(Duration::from_secs(5)).await);
        assert!(matches!(far.state(), State::Linger | State::Closed), "{:?}", far.state());
        drop(near);
        assert!(client.wait_idle(Duration::from_secs(5)).await);
        assert_eq!(client.connection_count(), 0);
    })
    .await;
}

#[tokio::test]
async fn waiting_for_the_end_is_bounded() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (client, near, _far) = connected(&server, &mut listener).await;
        assert!(!client.wait_ended(Duration::from_millis(50)).await, "it is open");
        drop(near);
        assert!(client.wait_ended(Duration::from_secs(5)).await);
    })
    .await;
}
