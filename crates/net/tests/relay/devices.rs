//! The split path on TUN devices, whose packets the kernel forwards, in a network namespace of the
//! test's own.

use std::os::fd::OwnedFd;

use skyhaul_net::tun::TunDevice;

use crate::namespace::{inside, ip, netns};
use crate::split::Split;
use crate::through::{lose_a_relay, move_a_file};

/// Devices of the near host, both relays and the far host, each with a route to the address behind it.
const SET_UP: &[&str] = &[
    "link set lo up",
    "tuntap add dev split0 mode tun",
    "tuntap add dev split1 mode tun",
    "tuntap add dev split2 mode tun",
    "tuntap add dev split3 mode tun",
];
const ROUTES: [&str; 4] = ["10.77.0.1", "10.77.0.2", "10.77.1.1", "10.77.1.2"];

/// Runs `test` with the path, if a namespace may be made.
fn on_devices<T: Future<Output = ()>>(test: impl FnOnce(Split) -> T + Send + 'static) {
    inside(SET_UP, || {
        netns::sysctl("ip_forward", "1").unwrap();
        let ends: [OwnedFd; 4] = [0, 1, 2, 3].map(|number| {
            let device = TunDevice::attach(&format!("split{number}")).unwrap();
            ip(&format!("link set split{number} up txqueuelen 5000"));
            ip(&format!("route add {}/32 dev split{number}", ROUTES[number]));
            device.into()
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { test(Split::over(ends, 0.01)).await });
    });
}

#[test]
fn a_file_crosses_two_relays_between_devices() {
    on_devices(move_a_file);
}

#[test]
fn a_relay_between_devices_that_dies_lets_no_sender_report_success() {
    on_devices(lose_a_relay);
}
