//! Data in both directions, over one connection and over many.

use std::time::Duration;

use skyhaul_core::Weight;
use skyhaul_net::{Endpoint, EndpointOptions, Stream};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PORT, client, connected, loopback, pattern, receive, send, server, within};

/// Sends back what comes in, until its end.
async fn echo(stream: Stream) {
    let (mut read, mut write) = stream.into_split();
    tokio::io::copy(&mut read, &mut write).await.unwrap();
    write.shutdown().await.unwrap();
}

async fn echoed(stream: Stream, data: &[u8]) -> Vec<u8> {
    let (mut read, mut write) = stream.into_split();
    let ((), back) = tokio::join!(send(&mut write, data), receive(&mut read));
    back
}

async fn echo_once(bytes: usize) {
    let (server, mut listener) = server(EndpointOptions::default());
    let client = client(&server);
    let stream = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
    let data = pattern(1, bytes);
    let (back, ()) = tokio::join!(echoed(stream, &data), async {
        echo(listener.accept().await.unwrap()).await;
    });
    assert!(back == data, "{} of {bytes} bytes came back", back.len());
}

#[tokio::test]
async fn an_echo_on_one_thread() {
    within(30, echo_once(3_000_000)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_echo_on_several_threads() {
    within(30, echo_once(3_000_000)).await;
}

#[tokio::test]
async fn an_empty_stream_and_a_single_byte() {
    within(30, echo_once(0)).await;
    within(30, echo_once(1)).await;
}

#[tokio::test]
async fn a_question_and_its_answer_take_turns() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, mut near, mut far) = connected(&server, &mut listener).await;
        for round in 0..50u32 {
            near.write_u32(round).await.unwrap();
            assert_eq!(far.read_u32().await.unwrap(), round);
            far.write_u32(round + 1000).await.unwrap();
            assert_eq!(near.read_u32().await.unwrap(), round + 1000);
        }
    })
    .await;
}

#[tokio::test]
async fn an_opening_that_is_held_goes_with_the_first_data() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = client(&server);
        let mut near = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(server.counters().received_datagrams, 0);
        near.write_all(b"first words").await.unwrap();
        let mut far = listener.accept().await.unwrap();
        let mut words = [0; 11];
        far.read_exact(&mut words).await.unwrap();
        assert_eq!(&words, b"first words");
        assert_eq!(far.peer_addr().port(), client.local_addr().port());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_connections_share_two_sockets() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = client(&server);
        let serving = tokio::spawn(async move {
            while let Some(stream) = listener.accept().await {
                tokio::spawn(echo(stream));
            }
        });
        let mut clients = tokio::task::JoinSet::new();
        for key in 0..50 {
            let stream = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
            clients.spawn(async move {
                let data = pattern(key, 100_000 + key as usize);
                assert!(echoed(stream, &data).await == data, "connection {key}");
            });
        }
        while let Some(done) = clients.join_next().await {
            done.unwrap();
        }
        assert!(client.wait_idle(Duration::from_secs(10)).await);
        assert!(server.wait_idle(Duration::from_secs(10)).await);
        assert_eq!((client.connection_count(), server.connection_count()), (0, 0));
        server.close().await;
        serving.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_reader_that_does_not_read_stops_the_writer() {
    within(60, async {
        let limit = 1 << 20;
        let config = || Config { send_limit_bytes: limit, receive_limit_bytes: limit, ..Config::standard() };
        let (server, mut listener) = server(EndpointOptions { accept: config(), ..Default::default() });
        let client = client(&server);
        let mut near = client.connect(server.local_addr(), PORT, config()).await.unwrap();
        let mut far = listener.accept().await.unwrap();

        let data = pattern(9, 8 << 20);
        let mut written = 0;
        let patience = Duration::from_millis(500);
        while let Ok(taken) = tokio::time::timeout(patience, near.write(&data[written..])).await {
            written += taken.unwrap();
            assert!(written < data.len(), "nothing stopped the writer");
        }
        assert!(written as u64 <= 2 * limit + (1 << 18), "{written} bytes are held somewhere");

        let ((), received) = tokio::join!(send(&mut near, &data[written..]), receive(&mut far));
        assert!(received == data);
    })
    .await;
}

#[tokio::test]
async fn a_declared_rate_is_kept() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = client(&server);
        let rate_bps = 20_000_000;
        let config = Config { rate_bps: Some(rate_bps), ..Config::standard() };
        let mut near = client.open(server.local_addr(), PORT, config).unwrap();
        let data = pattern(4, 1_000_000);
        let clock = client.clock();
        let start = clock.now();
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        let seconds = clock.now().as_secs_f64() - start.as_secs_f64();
        assert!(received == data);
        let fastest = data.len() as f64 * 8.0 / rate_bps as f64;
        assert!(seconds > 0.9 * fastest, "{seconds} s for what takes {fastest} s");
        let sent_bits = near.stats().sent_bytes as f64 * 8.0;
        assert!(sent_bits <= rate_bps as f64 * (seconds + 0.02), "{sent_bits} bits in {seconds} s");
    })
    .await;
}

#[tokio::test]
async fn tiny_writes_and_tiny_reads() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, mut near, mut far) = connected(&server, &mut listener).await;
        let data = pattern(5, 20_000);
        let writing = async {
            for byte in &data {
                near.write_all(std::slice::from_ref(byte)).await.unwrap();
            }
            near.shutdown().await.unwrap();
        };
        let reading = async {
            let mut received = Vec::new();
            let mut some = [0; 3];
            loop {
                match far.read(&mut some).await.unwrap() {
                    0 => return received,
                    n => received.extend_from_slice(&some[..n]),
                }
            }
        };
        let ((), received) = tokio::join!(writing, reading);
        assert!(received == data);
    })
    .await;
}

#[test]
fn an_endpoint_outside_of_a_runtime_is_an_error() {
    let error = Endpoint::bind(loopback(), EndpointOptions::default()).unwrap_err();
    assert!(error.to_string().contains("runtime"), "{error}");
}

#[tokio::test]
async fn a_monitor_looks_on_while_the_stream_is_in_use_and_keeps_nothing_alive() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (_client, near, mut far) = connected(&server, &mut listener).await;
        let (read, mut write) = near.into_split();
        let monitor = write.monitor();
        let data = pattern(2, 300_000);
        let sending = tokio::spawn(async move {
            send(&mut write, &data).await;
            write
        });
        assert_eq!(receive(&mut far).await.len(), 300_000);
        let write = sending.await.unwrap();
        assert_eq!(monitor.stats().unwrap().acknowledged_bytes, 300_000);
        assert!(monitor.state().is_some());
        drop((read, write));
        assert!(monitor.stats().is_none() && monitor.state().is_none());
    })
    .await;
}

/// Both send as much at the same declared rate; when the heavier has arrived, a third of the lighter is
/// there.
#[tokio::test]
async fn a_stream_of_more_weight_gets_more_of_the_path() {
    within(30, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = client(&server);
        let config = Config { rate_bps: Some(8_000_000), ..Config::standard() };
        let open = || client.open(server.local_addr(), PORT, config.clone()).unwrap();
        let [mut light, mut heavy] = [open(), open()];
        heavy.set_weight(Weight::new(3).unwrap());
        let bytes = 400_000;
        let (of_light, of_heavy) = (vec![1; bytes], vec![3; bytes]);
        let senders = async { tokio::join!(send(&mut light, &of_light), send(&mut heavy, &of_heavy)) };
        let receivers = async {
            let mut far = [listener.accept().await.unwrap(), listener.accept().await.unwrap()];
            if far[0].read_u8().await.unwrap() == 3 {
                far.swap(0, 1);
            } else {
                far[1].read_u8().await.unwrap();
            }
            let [mut light, mut heavy] = far;
            receive(&mut heavy).await;
            let mut there = vec![0; bytes];
            let there = light.read(&mut there).await.unwrap();
            receive(&mut light).await;
            there
        };
        let (_, there) = tokio::join!(senders, receivers);
        assert!(there < bytes * 6 / 10, "{there} of {bytes} bytes");
    })
    .await;
}
