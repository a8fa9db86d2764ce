//! Files through two relays.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_net::UtlStream;
use skyhaul_petra::relay::Record;
use skyhaul_petra::utl::UtlError;
use skyhaul_tcp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::split::{BOUNDS, Split, UTL, address, sealed};
use crate::support::{PORT, pattern, receive, send, within};

fn is_sound(record: Record) {
    assert_eq!((record.couplings, record.failed, record.refused), (1, 0, 0), "{record:?}");
    assert_eq!(record.read_bytes, record.written_bytes, "nothing is lost inside: {record:?}");
    assert!(record.most_bytes <= BOUNDS.size_bytes, "{record:?}");
}

#[tokio::test]
async fn a_file_crosses_two_relays_whole_and_an_answer_comes_back() {
    move_a_file(Split::new(0.01)).await;
}

/// Moves a file there and an answer back, and checks what the relays have counted.
pub(crate) async fn move_a_file(mut split: Split) {
    within(60, async {
        let (file, answer) = (pattern(500_000), pattern(20_000));
        let mut near = split.open();
        let sending = async {
            send(&mut near, &file).await;
            receive(&mut near).await
        };
        let receiving = async {
            let mut far = split.accept().await;
            let file = receive(&mut far).await; // half of the connection is closed by now
            send(&mut far, &answer).await;
            file
        };
        let (back, there) = tokio::join!(sending, receiving);
        assert!(there == file && back == answer, "{} there, {} back", there.len(), back.len());
        let records = [split.near_relay.kill().await, split.far_relay.kill().await];
        is_sound(records[0]);
        is_sound(records[1]);
        assert!(records[0].holds > 0, "the sender was held back: {records:?}");
        let lost = split.link.stop().forward.counters.dropped.total();
        assert!(lost > 0, "the link has lost packets");
    })
    .await;
}

#[tokio::test]
async fn a_file_is_confirmed_end_to_end_over_a_sealed_hop() {
    within(60, async {
        let (host, mut listener, relays, client, _kept) = sealed(0.01);
        let file = pattern(300_000);
        let opened = host.open(SocketAddr::new(address(0, 2), PORT), Config::petra()).unwrap();
        let mut near = UtlStream::over(opened, UTL);
        let sending = async {
            send(&mut near, &file).await;
            assert_eq!((near.unconfirmed_bytes(), receive(&mut near).await.len()), (0, 0));
        };
        let receiving = async {
            let mut far = UtlStream::over(listener.accept().await.unwrap(), UTL);
            let file = receive(&mut far).await;
            far.shutdown().await.unwrap();
            file
        };
        let ((), there) = tokio::join!(sending, receiving);
        assert!(there == file);
        assert!(client.counters().sent_datagrams > 0 && client.seal_counters().forged == 0);
        while relays.iter().any(|relay| relay.coupling_count() > 0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        is_sound(relays[0].record());
        is_sound(relays[1].record());
    })
    .await;
}

#[tokio::test]
async fn finishing_waits_until_the_far_application_has_read_everything() {
    within(60, async {
        let mut split = Split::new(0.0);
        let file = pattern(30_000);
        let mut near = split.open_utl();
        near.write_all(&file).await.unwrap();
        let mut far = split.accept_utl().await;
        let early = tokio::time::timeout(Duration::from_millis(700), near.shutdown()).await;
        assert!(early.is_err(), "nobody has read anything");
        assert_eq!(near.unconfirmed_bytes(), 30_000);
        let (finished, there) = tokio::join!(near.shutdown(), receive(&mut far));
        finished.unwrap();
        assert!(there == file && near.unconfirmed_bytes() == 0);
    })
    .await;
}

#[tokio::test]
async fn a_relay_that_dies_in_the_middle_lets_no_sender_report_success() {
    lose_a_relay(Split::new(0.01)).await;
}

/// Ends the far relay in the middle of a file, and checks what the sender is told.
pub(crate) async fn lose_a_relay(split: Split) {
    within(60, async {
        let file = pattern(2_000_000);
        let mut near = split.open_utl();
        let Split { near_relay, far_relay, mut listener, near: _near, link: _link, far: _far } = split;
        let mut read = Vec::new();
        let sending = async {
            let mut written = 0;
            while written < file.len() {
                match near.write(&file[written..]).await {
                    Ok(octets) => written += octets,
                    Err(error) => return (written, error),
                }
            }
            (written, near.shutdown().await.unwrap_err())
        };
        let receiving = async {
            let mut far = UtlStream::over(listener.accept().await.unwrap(), UTL);
            let mut room = vec![0; 10_000];
            while read.len() < 300_000 {
                let octets = far.read(&mut room).await.unwrap();
                read.extend_from_slice(&room[..octets]);
            }
            far_relay.kill().await;
            // Who has nothing to send is not told that the others are gone: it waits as long as it likes.
            let _ = tokio::time::timeout(Duration::from_secs(4), far.read_to_end(&mut read)).await;
        };
        let ((written, error), ()) = tokio::join!(sending, receiving);
        let why = error.get_ref().and_then(|error| error.downcast_ref::<UtlError>()).copied();
        let Some(UtlError::Closed { unconfirmed_bytes } | UtlError::Timeout { unconfirmed_bytes }) = why
        else {
            panic!("{error:?}");
        };
        assert!(read.len() < file.len() && file.starts_with(&read));
        let missing = (written - read.len()) as u64;
        assert!(missing > 0 && unconfirmed_bytes >= missing, "{error}: {missing} are missing");
        assert!(unconfirmed_bytes <= written as u64, "{error}: {written} were written");
        assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::TimedOut), "{error}");
        let record = near_relay.kill().await;
        assert_eq!((record.couplings, record.failed), (1, 1), "{record:?}");
    })
    .await;
}
