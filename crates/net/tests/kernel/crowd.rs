//! A hundred connections at once, opened by either.

use skyhaul_tcp::Config;
use tokio::task::JoinSet;

use crate::lab::{exchange, in_a_namespace, noise, ours, read_all, send_all};
use crate::socket::{connect, listen};

const MANY: usize = 100;

#[test]
fn a_hundred_connections_of_the_kernel() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let mut listener = host.listen(ours(0).port(), 128).unwrap();
        let mut work = JoinSet::new();
        for n in 0..MANY {
            work.spawn(async move {
                let mut kernel = connect(ours(n % 2), None, |_| {}).await.unwrap();
                let said = noise(20_000 + n);
                send_all(&mut kernel, &said).await;
                assert!(read_all(&mut kernel).await == said, "connection {n}");
            });
        }
        for _ in 0..MANY {
            let mut stream = listener.accept().await.unwrap();
            work.spawn(async move {
                let heard = read_all(&mut stream).await;
                send_all(&mut stream, &heard).await;
            });
        }
        work.join_all().await;
    });
}

#[test]
fn a_hundred_connections_of_ours() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (listener, address) = listen(0, None, |_| {});
        let mut work = JoinSet::new();
        for _ in 0..MANY {
            let (stream, kernel) = tokio::join!(host.connect(address, Config::standard()), listener.accept());
            work.spawn(exchange(stream.unwrap(), kernel.unwrap().0, 50_000, 50_000));
        }
        work.join_all().await;
    });
}
