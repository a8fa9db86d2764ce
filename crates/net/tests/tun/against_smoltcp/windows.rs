//! Windows: their scale, and what happens when they are closed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use etherparse::{PacketHeaders, TcpHeader, TcpOptionElement, TransportHeader};
use skyhaul_tcp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{OPENINGS, Ours, exchange, ours};
use crate::support::*;
use crate::third::{Shape, third, watched};

fn tcp(packet: &[u8]) -> Option<TcpHeader> {
    match PacketHeaders::from_ip_slice(packet).ok()?.transport? {
        TransportHeader::Tcp(header) => Some(header),
        _ => None,
    }
}

/// The window scale and whether there are timestamps.
fn offered(header: &TcpHeader) -> (Option<u8>, bool) {
    let elements: Vec<_> = header.options_iterator().map(Result::unwrap).collect();
    let scale = elements.iter().find_map(|element| match element {
        TcpOptionElement::WindowScale(shift) => Some(*shift),
        _ => None,
    });
    (scale, elements.iter().any(|element| matches!(element, TcpOptionElement::Timestamp(..))))
}

/// Over a path on which 64 KiB would not fill the pipe, windows are scaled, and more than that is under way.
#[tokio::test]
async fn windows_are_scaled_and_timestamps_used_as_far_as_both_want() {
    for (opening, timestamps) in OPENINGS.into_iter().zip([true, false, false, true]) {
        let syns = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&syns);
        let (near, far) = wire();
        let mut us = Ours::at(near);
        let shape = Shape { timestamps, ..Shape::default() };
        let watch = move |packet: &[u8]| {
            if let Some(header) = tcp(packet).filter(|header| header.syn) {
                seen.lock().unwrap().push((header.ack, offered(&header)));
            }
        };
        let mut work = watched(far, Box::new(watch), move |third| {
            let handle = opening.theirs(third, shape);
            // Everything is under way or waits before anything is read.
            third.until(|third| third.get(handle).recv_queue() > 200_000);
            third.exchange(handle, Some(b"done")).len()
        });
        let stream = us.meet(opening).await;
        assert_eq!(exchange(stream, &noise(400_000)).await, b"done");
        let heard = work.done().await;
        assert_eq!(heard, 400_000);
        let mut syns = syns.lock().unwrap().clone();
        syns.dedup(); // a busy machine repeats one
        let [(false, first), (true, second)] = syns[..] else { panic!("{opening:?}: {syns:?}") };
        assert!(first.0.is_some() && second.0.is_some(), "{opening:?}: {syns:?}");
        let ours_may_offer_alone = opening.by_us;
        assert_eq!((first.1, second.1), (timestamps || ours_may_offer_alone, timestamps), "{opening:?}");
    }
}

#[tokio::test]
async fn a_third_stack_that_does_not_read_stops_us() {
    for opening in OPENINGS {
        let (near, far) = wire();
        let mut us = Ours::at(near);
        let data = noise(100_000);
        let shape = Shape { buffer_bytes: 8192, ..Shape::default() };
        let (told, tell) = std::sync::mpsc::channel();
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, shape);
            third.until(|_| tell.try_recv().is_ok());
            third.exchange(handle, Some(b""))
        });
        let mut stream = us.meet(opening).await;
        stream.write_all(&data).await.unwrap();
        let asked = async {
            while stream.stats().window_probes < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        soon(asked).await;
        assert!(stream.stats().acknowledged_bytes < 10_000, "{:?}", stream.stats());
        told.send(()).unwrap();
        soon(stream.shutdown()).await.unwrap();
        let heard = work.done().await;
        assert!(heard == data, "{opening:?}");
    }
}

#[tokio::test]
async fn we_do_not_read_and_stop_a_third_stack() {
    for opening in OPENINGS {
        let (near, far) = wire();
        let config = Config { receive_limit_bytes: 20_000, ..ours() };
        let mut us = Ours::with(near, config.clone());
        let data = noise(100_000);
        let say = data.clone();
        let mut work = third(far, move |third| {
            let handle = opening.theirs(third, Shape::default());
            third.exchange(handle, Some(&say))
        });
        let mut stream = us.meet_with(opening, config).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(stream.stats().delivered_bytes <= 20_000, "{:?}", stream.stats());
        stream.shutdown().await.unwrap();
        let mut read = Vec::new();
        let mut room = [0; 777];
        while let length @ 1.. = soon(stream.read(&mut room)).await.unwrap() {
            read.extend_from_slice(&room[..length]);
        }
        assert!(read == data, "{opening:?}");
        work.done().await;
    }
}
