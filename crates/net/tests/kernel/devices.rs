//! Devices that another program has, or that are down.

use std::io::ErrorKind;
use std::time::Duration;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use skyhaul_net::tun::{TunDevice, TunHost, TunOptions};
use skyhaul_tcp::Config;

use crate::lab::{DEVICE, KERNEL, in_a_namespace, options};
use crate::namespace::ip;

#[test]
fn a_device_has_one_user_at_a_time() {
    in_a_namespace(async |lab| {
        let _host = lab.host();
        let error = TunDevice::attach(DEVICE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        let text = error.to_string();
        assert!(
            text.starts_with("the network device 'sky0' is in use by another program; end that"),
            "{text}"
        );
    });
}

/// A device that is somebody else's, to a user without rights over networks (this thread gives them up,
/// for good); one that has no owner is everybody's.
#[test]
fn a_device_of_another_user_is_refused_and_told_how_to_have_one() {
    in_a_namespace(async |_lab| {
        ip("tuntap add dev sky1 mode tun user 65534");
        ip("tuntap add dev sky2 mode tun");
        let mut rights = capabilities(None).unwrap();
        rights.effective.remove(CapabilitySet::NET_ADMIN);
        rights.permitted.remove(CapabilitySet::NET_ADMIN);
        set_capabilities(None, rights).unwrap();
        let error = TunDevice::attach("sky1").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let text = error.to_string();
        let told = "this user may not use the network device 'sky1': be root, or have root make one for you by: \
                    sudo ip tuntap add dev NAME mode tun user";
        assert!(text.starts_with(told), "another, since this one is there: {text}");
        assert_eq!(TunDevice::attach("sky2").unwrap().name(), "sky2");
    });
}

/// A device that was let go of: a process that another test has just begun may hold it until it runs its
/// program.
async fn attach_again(name: &str) -> TunDevice {
    for _ in 0..200 {
        match TunDevice::attach(name) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            attached => return attached.unwrap(),
        }
    }
    panic!("{name} stays in use")
}

#[test]
fn a_device_that_was_made_before_can_be_taken_and_must_be_up() {
    in_a_namespace(async |_lab| {
        ip("tuntap add dev sky1 mode tun");
        let device = TunDevice::attach("sky1").unwrap();
        assert_eq!((device.name(), device.mtu_bytes()), ("sky1", 1500));
        let error = device.check_up().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the network device 'sky1' is down; switch it on by: sudo ip link set sky1 up"
        );
        ip("link set sky1 up mtu 1400");
        device.check_up().unwrap();
        drop(device);
        assert_eq!(attach_again("sky1").await.mtu_bytes(), 1400);
    });
}

#[test]
fn a_device_that_vanishes_ends_the_host() {
    in_a_namespace(async |_lab| {
        ip("tuntap add dev sky1 mode tun");
        let host = TunHost::on_device(TunDevice::attach("sky1").unwrap(), options()).unwrap();
        let mut listener = host.listen(7, 1).unwrap();
        ip("link delete sky1");
        assert!(listener.accept().await.is_none());
    });
}

#[test]
fn a_device_that_is_down_loses_packets_and_nothing_else() {
    in_a_namespace(async |lab| {
        ip("link set sky0 down");
        let host = lab.host();
        let hasty = Config { max_syn_repeats: 1, initial_rto_ns: 30_000_000, ..Config::standard() };
        let error = host.connect("10.77.0.1:7".parse().unwrap(), hasty).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(host.counters().send_failures >= 2, "{:?}", host.counters());
    });
}

#[test]
fn a_device_is_made_and_goes_with_its_user() {
    in_a_namespace(async |_lab| {
        let device = TunDevice::create("sky1").unwrap();
        assert_eq!(TunDevice::create("sky1").unwrap_err().kind(), ErrorKind::AlreadyExists);
        drop(device);
        assert_eq!(TunDevice::attach("sky1").unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn an_address_that_the_kernel_has_itself_is_refused() {
    in_a_namespace(async |_lab| {
        let device = TunDevice::create("sky1").unwrap();
        let error = TunHost::on_device(device, TunOptions::new(vec![KERNEL[1]])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(
            error.to_string().starts_with("fd77::1 is an address of this machine's own kernel"),
            "{error}"
        );
    });
}
