//! Namespace with two TUN devices, for a host on each, and this machine's kernel as the router between them.

use crate::namespace::inside;

/// Place of the receiver, on `sky0`.
pub(crate) const RECEIVER: &str = "10.77.0.2:4700";
const SET_UP: &[&str] = &[
    "link set lo up",
    "tuntap add dev sky0 mode tun",
    "address add 10.77.0.1/24 dev sky0",
    "address add fd77::1/64 dev sky0 nodad",
    "link set sky0 up txqueuelen 5000",
    "tuntap add dev sky1 mode tun",
    "address add 10.78.0.1/24 dev sky1",
    "address add fd78::1/64 dev sky1 nodad",
    "link set sky1 up txqueuelen 5000",
];

pub(crate) fn routed(test: impl FnOnce() + Send + 'static) {
    inside(SET_UP, || {
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
        test();
    });
}
