//! Namespace with two TUN devices, for a host on each, and this machine's kernel as the router between them.

use skyhaul_link::LinkConfig;
use skyhaul_net::tun::{PacketLink, TunDevice};

use crate::namespace::{inside, ip};

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

/// Two further devices, between which a link lies, and routes by which everything from one host to the other
/// crosses it: `sky1` is at its port 0.
const AROUND: &[&str] = &[
    "tuntap add dev near mode tun",
    "link set near up txqueuelen 5000",
    "tuntap add dev far mode tun",
    "link set far up txqueuelen 5000",
    "rule add iif sky1 lookup 101",
    "route add default dev near table 101",
    "rule add iif sky0 lookup 102",
    "route add default dev far table 102",
];

/// As [`routed`], with an emulated link between the two hosts.
pub(crate) fn linked(config: LinkConfig, test: impl FnOnce(PacketLink) + Send + 'static) {
    routed(move || {
        for command in AROUND {
            ip(command);
        }
        // A packet comes out of another device than the one that leads to its sender.
        for device in ["all", "default", "near", "far", "sky0", "sky1"] {
            std::fs::write(format!("/proc/sys/net/ipv4/conf/{device}/rp_filter"), "0").unwrap();
        }
        let ends = ["near", "far"].map(|name| TunDevice::attach(name).unwrap().into());
        test(PacketLink::start(config, 7, ends).unwrap());
    });
}
