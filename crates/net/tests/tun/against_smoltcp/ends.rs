//! Half closes, resets, refusals.

use std::io::ErrorKind;
use std::time::Duration;

use skyhaul_core::CloseReason;
use skyhaul_net::tun::TunHost;
use skyhaul_tcp::State;
use smoltcp::socket::tcp::State as Theirs;
use tokio::io::AsyncReadExt;

use super::{ELSEWHERE, OPENINGS, Ours, ours};
use crate::support::*;
use crate::third::{Shape, THIRD, third};

#[tokio::test]
async fn either_ends_one_direction_and_hears_the_other() {
    for opening in OPENINGS {
        let (near, far) = wire();
        let mut us = Ours::at(near);
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, Shape::default());
            assert_eq!(third.read(handle), b"question");
            assert_eq!(third.state(handle), Theirs::CloseWait);
            third.exchange(handle, Some(b"a later answer"));
            third.until(|third| third.state(handle) == Theirs::Closed);
        });
        let mut stream = us.meet(opening).await;
        send_all(&mut stream, b"question").await;
        assert_eq!(soon(read_all(&mut stream)).await, b"a later answer");
        assert_eq!(stream.close_reason(), None);
        work.done().await;

        let (near, far) = wire();
        let mut us = Ours::at(near);
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, Shape::default());
            let answer = third.exchange(handle, Some(b"question"));
            assert_eq!(third.state(handle), Theirs::TimeWait);
            answer
        });
        let mut stream = us.meet(opening).await;
        assert_eq!(soon(read_all(&mut stream)).await, b"question");
        assert_eq!(stream.state(), State::CloseWait);
        send_all(&mut stream, b"a later answer").await;
        let answer = work.done().await;
        assert_eq!(answer, b"a later answer");
        assert!(soon(us.host.wait_idle(Duration::from_secs(5))).await);
    }
}

#[tokio::test]
async fn either_resets() {
    for opening in OPENINGS {
        let (near, far) = wire();
        let mut us = Ours::at(near);
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, Shape::default());
            third.get(handle).abort();
            third.linger(50);
        });
        let mut stream = us.meet(opening).await;
        let error = soon(stream.read(&mut [0; 1])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.close_reason(), Some(CloseReason::Reset(None)));
        work.done().await;

        let (near, far) = wire();
        let mut us = Ours::at(near);
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, Shape::default());
            third.get(handle).send_slice(b"!").unwrap();
            third.until(|third| third.state(handle) == Theirs::Closed);
        });
        let mut stream = us.meet(opening).await;
        soon(stream.read_exact(&mut [0; 1])).await.unwrap();
        drop(stream);
        work.done().await;
        assert_eq!(us.host.connection_count(), 0);
    }
}

#[tokio::test]
async fn either_refuses_where_nobody_listens() {
    for opening in OPENINGS {
        let (near, far) = wire();
        let host = TunHost::over(near, options(1)).unwrap();
        let mut work = third(far, move |third| {
            if opening.by_us {
                third.linger(100);
            } else {
                let handle = third.connect(opening.address(1), ELSEWHERE, Shape::default());
                third.until(|third| third.state(handle) == Theirs::Closed);
            }
        });
        if opening.by_us {
            let error = soon(host.connect(opening.address(THIRD), ours())).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        }
        work.done().await;
        assert_eq!(host.stats().unknown, u64::from(!opening.by_us), "{:?}", host.stats());
    }
}
