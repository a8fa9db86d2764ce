//! Ends of connections: one direction alone, resets, refusals, silence.

use std::io::ErrorKind;
use std::time::Duration;

use skyhaul_core::{CloseReason, MS};
use skyhaul_net::tun::TunHost;
use skyhaul_tcp::{Config, Keepalive, State};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::lab::{in_a_namespace, kernel_knows, ours, read_all, send_all};
use crate::socket::{connect, from_kernel, listen, to_kernel};

#[test]
fn we_end_and_the_kernel_goes_on() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (mut stream, mut kernel) = to_kernel(&host, 0, None, Config::standard()).await;
        send_all(&mut stream, b"question").await;
        assert_eq!(read_all(&mut kernel).await, b"question");
        assert_eq!(stream.state(), State::FinWait2);
        assert!(kernel_knows().contains("CLOSE-WAIT"), "{}", kernel_knows());
        let ((), answer) = tokio::join!(send_all(&mut kernel, b"a later answer"), read_all(&mut stream));
        assert_eq!(answer, b"a later answer");
        assert!(host.wait_idle(Duration::from_secs(5)).await);
        assert_eq!(stream.close_reason(), None);
    });
}

#[test]
fn the_kernel_ends_and_we_go_on() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (mut stream, mut kernel) = from_kernel(&host, 1, None).await;
        kernel.write_all(b"question").await.unwrap();
        kernel.shutdown().await.unwrap();
        assert_eq!(read_all(&mut stream).await, b"question");
        assert_eq!(stream.state(), State::CloseWait);
        assert!(kernel_knows().contains("FIN-WAIT-2"), "{}", kernel_knows());
        let ((), answer) = tokio::join!(send_all(&mut stream, b"a later answer"), read_all(&mut kernel));
        assert_eq!(answer, b"a later answer");
    });
}

#[test]
fn both_end_at_once() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        for _ in 0..20 {
            let (mut stream, mut kernel) = to_kernel(&host, 0, None, Config::standard()).await;
            let (a, b) = tokio::join!(stream.shutdown(), kernel.shutdown());
            a.unwrap();
            b.unwrap();
            assert_eq!((read_all(&mut stream).await, read_all(&mut kernel).await), (vec![], vec![]));
        }
        assert!(host.wait_idle(Duration::from_secs(5)).await);
    });
}

#[test]
fn the_kernel_resets() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (mut stream, kernel) = from_kernel(&host, 0, None).await;
        SockRef::from(&kernel).set_linger(Some(Duration::ZERO)).unwrap();
        drop(kernel);
        let error = stream.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.close_reason(), Some(CloseReason::Reset(None)));
    });
}

#[test]
fn we_reset() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (stream, mut kernel) = to_kernel(&host, 1, None, Config::standard()).await;
        drop(stream);
        let error = kernel.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_kernel_that_stops_reading_for_good_resets_us() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (mut stream, kernel) = to_kernel(&host, 0, None, Config::standard()).await;
        stream.write_all(&[1; 10_000]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(kernel); // with data unread
        let error = stream.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn either_refuses_where_nobody_listens() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        for family in [0, 1] {
            let (listener, address) = listen(family, None, |_| {});
            drop(listener);
            let error = host.connect(address, Config::standard()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            let error = connect(ours(family), None, |_| {}).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        }
    });
}

/// The kernel asks whether we are still there, and is answered; when nothing is answered any more, it gives
/// up.
#[test]
fn the_kernels_keepalive_is_answered() {
    in_a_namespace(async |lab| {
        let is_silent = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = std::sync::Arc::clone(&is_silent);
        let (host, _tap) = lab.tapped(move |from, packet, out: &mut Vec<_>| {
            if !told.load(std::sync::atomic::Ordering::Relaxed) {
                out.push((from, packet));
            }
        });
        let (stream, mut kernel) = from_kernel(&host, 0, None).await;
        let keepalive = TcpKeepalive::new()
            .with_time(Duration::from_secs(1))
            .with_interval(Duration::from_secs(1))
            .with_retries(2);
        SockRef::from(&kernel).set_tcp_keepalive(&keepalive).unwrap();
        let before = stream.stats().received_packets;
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert!(stream.stats().received_packets > before, "the kernel asked");
        assert!(kernel_knows().contains("ESTAB"), "{}", kernel_knows());
        is_silent.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(kernel.read(&mut [0; 1]).await.unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

/// We ask whether the kernel is still there; when it answers no more, we give up.
#[test]
fn our_keepalive_is_answered_by_the_kernel() {
    in_a_namespace(async |lab| {
        let is_silent = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = std::sync::Arc::clone(&is_silent);
        let (host, _tap) = lab.tapped(move |from, packet, out: &mut Vec<_>| {
            if !told.load(std::sync::atomic::Ordering::Relaxed) {
                out.push((from, packet));
            }
        });
        let keepalive = Keepalive { idle_ns: 100 * MS, interval_ns: 300 * MS, max_questions: 5 };
        let config = Config { keepalive: Some(keepalive), ..Config::standard() };
        let (mut stream, _kernel) = to_kernel(&host, 0, None, config).await;
        let (sent, received) = (stream.stats().sent_packets, stream.stats().received_packets);
        while stream.stats().received_packets < received + 10 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(stream.stats().sent_packets >= sent + 10, "each answer was to a question of ours");
        assert!(kernel_knows().contains("ESTAB"), "{}", kernel_knows());
        is_silent.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(stream.close_reason(), Some(CloseReason::Silence));
    });
}

/// Accepted by the engine, not taken by the application, and gone again.
#[test]
fn connections_that_nobody_took_are_reset_with_the_listener() {
    in_a_namespace(async |lab| {
        let host: TunHost = lab.host();
        let listener = host.listen(ours(0).port(), 4).unwrap();
        let mut kernel = connect(ours(0), None, |_| {}).await.unwrap();
        drop(listener);
        assert_eq!(kernel.read(&mut [0; 1]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}
