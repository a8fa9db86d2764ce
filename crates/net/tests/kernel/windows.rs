//! Readers that do not read: the window closes, is asked about, and opens again.

use std::time::Duration;

use skyhaul_net::tun::TunOptions;
use skyhaul_tcp::Config;
use tokio::io::AsyncWriteExt;

use crate::lab::{in_a_namespace, noise, options, read_all, send_all};
use crate::socket::{connect, from_kernel, listen};

/// Long enough for a question or two about a window that stays closed.
const PAUSE: Duration = Duration::from_millis(1500);

#[test]
fn a_kernel_that_does_not_read_stops_us() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (listener, address) = listen(0, None, |socket| socket.set_recv_buffer_size(8192).unwrap());
        let (stream, kernel) = tokio::join!(host.connect(address, Config::standard()), listener.accept());
        let (mut stream, mut kernel) = (stream.unwrap(), kernel.unwrap().0);
        let data = noise(300_000);
        stream.write_all(&data).await.unwrap();
        tokio::time::sleep(PAUSE).await;
        let stats = stream.stats();
        assert!(stats.acknowledged_bytes < 100_000, "the window was never closed: {stats:?}");
        assert!(stats.window_probes > 0, "nobody asked: {stats:?}");
        let (read, ended) = tokio::join!(read_all(&mut kernel), stream.shutdown());
        ended.unwrap();
        assert!(read == data);
    });
}

#[test]
fn we_do_not_read_and_stop_the_kernel() {
    in_a_namespace(async |lab| {
        let accept = Config { receive_limit_bytes: 20_000, ..Config::standard() };
        let host = lab.host_with(TunOptions { accept, ..options() });
        let (mut stream, mut kernel) = from_kernel(&host, 0, None).await;
        let data = noise(300_000);
        let sent = data.clone();
        let writer = tokio::spawn(async move { send_all(&mut kernel, &sent).await });
        tokio::time::sleep(PAUSE).await;
        let stats = stream.stats();
        assert!(stats.delivered_bytes <= 20_000, "{stats:?}");
        assert!(read_all(&mut stream).await == data);
        writer.await.unwrap();
    });
}

/// One byte at a time: neither side falls into the silly window.
#[test]
fn a_slow_reader_gets_everything() {
    in_a_namespace(async |lab| {
        let accept = Config { receive_limit_bytes: 5000, ..Config::standard() };
        let host = lab.host_with(TunOptions { accept, ..options() });
        let mut listener = host.listen(crate::lab::PORT, 1).unwrap();
        let (stream, kernel) = tokio::join!(listener.accept(), connect(crate::lab::ours(1), None, |_| {}));
        let (mut stream, mut kernel) = (stream.unwrap(), kernel.unwrap());
        let data = noise(40_000);
        let sent = data.clone();
        let writer = tokio::spawn(async move { send_all(&mut kernel, &sent).await });
        let mut read = Vec::new();
        let mut room = [0; 7];
        loop {
            match tokio::io::AsyncReadExt::read(&mut stream, &mut room).await.unwrap() {
                0 => break,
                count => read.extend_from_slice(&room[..count]),
            }
        }
        assert!(read == data);
        let stats = stream.stats();
        assert!(stats.received_packets < 2000, "{stats:?}");
        writer.await.unwrap();
    });
}
