//! Bulk both ways at once, either side being the one that connects, by each of the kernel's congestion
//! controls.

use skyhaul_tcp::Config;

use crate::lab::{exchange, in_a_namespace, kernel_knows};
use crate::socket::{from_kernel, to_kernel};

const BYTES: usize = 4_000_000;

async fn both_roles(host: skyhaul_net::tun::TunHost, controller: &'static str) {
    for family in [0, 1] {
        let (ours, kernel) = to_kernel(&host, family, Some(controller), Config::standard()).await;
        assert!(kernel_knows().contains(controller), "{}", kernel_knows());
        exchange(ours, kernel, BYTES, BYTES).await;
        let (ours, kernel) = from_kernel(&host, family, Some(controller)).await;
        exchange(ours, kernel, BYTES, BYTES).await;
    }
    let counters = host.counters();
    assert_eq!((counters.malformed, counters.send_failures), (0, 0), "{counters:?}");
}

#[test]
fn bulk_with_a_kernel_that_has_reno() {
    in_a_namespace(async |lab| both_roles(lab.host(), "reno").await);
}

#[test]
fn bulk_with_a_kernel_that_has_cubic() {
    in_a_namespace(async |lab| both_roles(lab.host(), "cubic").await);
}

#[test]
fn bulk_with_a_kernel_that_has_bbr() {
    in_a_namespace(async |lab| both_roles(lab.host(), "bbr").await);
}
