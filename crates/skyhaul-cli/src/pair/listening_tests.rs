//! Codes that nobody types.

use std::net::UdpSocket;

use clap::Parser as _;
use skyhaul_store::Store;

use super::*;
use crate::args::{Args, Command};

#[test]
fn a_code_lives_for_ten_minutes() {
    assert_eq!(CODE_LIFE, Duration::from_secs(600));
}

#[tokio::test]
async fn a_code_that_nobody_typed_in_time_ends_the_pairing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("config"), folder.path().join("state"));
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let words = ["skyhaul", "pair", "--listen", &free.to_string()];
    let Command::Pair(args) = Args::try_parse_from(words).unwrap().command else {
        unreachable!("it is `pair`")
    };
    let scene = Scene::new(&store, &args).unwrap();
    let failure = run_for(&scene, free, Duration::from_millis(200)).await.unwrap_err();
    assert_eq!(failure.result().code, "pairing-failed");
    assert!(failure.to_string().contains("nobody typed the code"), "{failure}");
    assert!(store.book().unwrap().peers().is_empty());
}
