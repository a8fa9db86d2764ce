//! Data both ways, on one connection and on many.

use std::os::fd::OwnedFd;

use skyhaul_net::tun::TcpStream;

use super::{ELSEWHERE, OPENINGS, Opening, Ours, exchange, ours};
use crate::support::*;
use crate::third::{Shape, THIRD, third};

/// Bulk both ways at once.
async fn bulk(mut us: Ours, far: OwnedFd, opening: Opening, shape: Shape, bytes: usize) {
    let (up, down) = (noise(bytes), noise(bytes + 1));
    let say = down.clone();
    let mut work = third(far, move |third| {
        let handle = opening.theirs(third, shape);
        third.exchange(handle, Some(&say))
    });
    let stream = us.meet(opening).await;
    let answer = exchange(stream, &up).await;
    let heard = work.done().await;
    assert!(heard == up && answer == down, "{opening:?}: {} and {}", heard.len(), answer.len());
}

#[tokio::test]
async fn bulk_both_ways_in_either_role_over_both_families() {
    for opening in OPENINGS {
        for shape in [Shape::default(), Shape { buffer_bytes: 20_000, timestamps: false }] {
            let (near, far) = wire();
            bulk(Ours::at(near), far, opening, shape, 1_000_000).await;
        }
    }
}

#[tokio::test]
async fn forty_connections_at_once_opened_by_either() {
    const MANY: u16 = 20;
    let (near, far) = wire();
    let mut us = Ours::at(near);
    let shape = Shape { buffer_bytes: 20_000, ..Shape::default() };
    let mut work = third(far, move |third| {
        let mut handles: Vec<_> = (0..MANY).map(|_| third.listen(shape)).collect();
        for n in 0..MANY {
            let to = OPENINGS[usize::from(n) % 4].address(1);
            handles.push(third.connect(to, ELSEWHERE + n, shape));
        }
        third.echo(&handles);
    });
    let mut talks = tokio::task::JoinSet::new();
    let talk = async |stream: TcpStream, n: usize| {
        let said = noise(60_000 + n);
        assert!(exchange(stream, &said).await == said, "connection {n}");
    };
    for n in 0..MANY {
        let to = OPENINGS[usize::from(n) % 4].address(THIRD);
        let stream = soon(us.host.connect(to, ours())).await.unwrap();
        talks.spawn(talk(stream, n.into()));
        let stream = soon(us.door.accept()).await.unwrap();
        talks.spawn(talk(stream, usize::from(n + MANY)));
    }
    soon(talks.join_all()).await;
    work.done().await;
}
