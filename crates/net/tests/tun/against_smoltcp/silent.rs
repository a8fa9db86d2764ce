//! Nobody says anything: questions whether the other is still there.

use std::io::ErrorKind;

use skyhaul_core::MS;
use skyhaul_tcp::{Config, Keepalive};
use smoltcp::socket::tcp::State as Theirs;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{OPENINGS, Ours, ours};
use crate::support::*;
use crate::third::{Shape, third};

#[tokio::test]
async fn questions_whether_somebody_is_there_are_answered_by_either() {
    let (near, far) = wire();
    let mut us = Ours::at(near);
    let opening = OPENINGS[0];
    let mut work = third(far, move |third| {
        let handle = opening.theirs(third, Shape::default());
        third.get(handle).set_keep_alive(Some(smoltcp::time::Duration::from_millis(50)));
        third.get(handle).set_timeout(Some(smoltcp::time::Duration::from_millis(1000)));
        third.linger(1500);
        assert_eq!(third.state(handle), Theirs::Established, "its questions were answered");
        third.exchange(handle, Some(b""));
    });
    let keepalive = Keepalive { idle_ns: 200 * MS, interval_ns: 1100 * MS, max_questions: 2 };
    // It answers once a second at most.
    let config = Config { keepalive: Some(keepalive), ..ours() };
    let mut stream = us.meet_with(opening, config).await;
    soon(stream.read(&mut [0; 1])).await.unwrap();
    assert!(stream.stats().received_packets > 15, "{:?}", stream.stats());
    stream.shutdown().await.unwrap();
    work.done().await;
}

/// One that went away without a word.
#[tokio::test]
async fn a_third_stack_that_is_gone_is_given_up() {
    let (near, far) = wire();
    let mut us = Ours::at(near);
    let opening = OPENINGS[0];
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let _work = third(far, move |third| {
        opening.theirs(third, Shape::default());
        let _ = held.recv();
    });
    let keepalive = Keepalive { idle_ns: 50 * MS, interval_ns: 50 * MS, max_questions: 2 };
    let mut stream = us.meet_with(opening, Config { keepalive: Some(keepalive), ..ours() }).await;
    assert_eq!(soon(stream.read(&mut [0; 1])).await.unwrap_err().kind(), ErrorKind::TimedOut);
    drop(hold);
}
